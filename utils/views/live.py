"""A picture that comes to life wherever scripts run."""

import html
import json
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.utils import palette
from autograder.utils.plots.picture import FIGURE_STYLE, Diagram, Picture, Shown

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
PAGE = """<figure style="{style}">
<div class="attention-view" data-view="{name}">{still}</div>
<figcaption style="color:#222">{caption}</figcaption></figure><script>(() => {{
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
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return PAGE.format(
            style=FIGURE_STYLE,
            name=f"{self.script}-{sha256(caption.encode()).hexdigest()[:12]}",
            still=self.still.image(),
            caption=html.escape(caption),
            colors=json.dumps(COLORS),
            script=_code("base") + _code(self.script),
            data=data.replace("</", "<\\/"),  # a word must not end the script
        )


@cache
def _code(name: str) -> str:
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
