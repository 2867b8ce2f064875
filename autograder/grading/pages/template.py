"""Fill the template of a page: HTML with its style in it, where everything put in is escaped."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.grading.pages.filters import breakable, code, duration, name, number, when

FILTERS = (breakable, code, duration, name, number, when)


def fill_template(
    folder: Path,
    filters: Collection[Callable[..., str]] = (),
    template: str = "page.html.jinja",
    **values: Any,
) -> str:
    """Fill a template in a folder, with `style` from its `page.css`.

    filters: those of this page alone, beside the common ones, each under its function's name.
    """
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {make.__name__: make for make in (*FILTERS, *filters)}
    style = Markup((folder / "page.css").read_text(encoding="utf-8"))
    return environment.get_template(template).render(style=style, **values)
