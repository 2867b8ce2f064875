"""A picture that comes to life wherever scripts run."""

import json
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.utils import palette
from autograder.utils.plots.picture import Diagram, Picture, Shown
from autograder.utils.plots.theme import figure_html

COLORS = {
    "blue": palette.BLUE,
    "orange": palette.ORANGE,
    "red": palette.RED,
    "frame": palette.FRAME,
    "hidden": palette.HIDDEN,
    "seen": palette.SEEN,
    "weights": palette.WEIGHT_STOPS,
}
# One page may have a view twice, so each script takes the first that is still a picture.
PAGE = """{figure}<script>(() => {{
const root = document.querySelector('[data-view="{name}"]:not([id])');
root.id = "view-" + Math.random().toString(36).slice(2);
root.replaceChildren();
const palette = {colors};
{script}
show({data});
}})();</script>"""


@dataclass(frozen=True)
class View(Shown):
    """A still picture, and the script that replaces it.

    script: the name of a file beside this one; it defines `show`, which gets `data`.
    data: numbers and words that JSON can hold.
    """

    still: Picture | Diagram
    script: str
    data: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return str(self.still)

    def _html(self) -> str:
        caption = self.still.caption
        name = f"{self.script}-{sha256(caption.encode()).hexdigest()[:12]}"
        view = f'<div class="attention-view" data-view="{name}">{self.still.image()}</div>'
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return PAGE.format(
            figure=figure_html(view, caption),
            name=name,
            colors=json.dumps(COLORS),
            script=_code("base") + _code(self.script),
            data=data.replace("</", "<\\/"),  # a word must not end the script
        )


@cache
def _code(name: str) -> str:
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
