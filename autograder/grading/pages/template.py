"""Load the templates of pages: HTML that includes its style, with every value escaped.

The filters say how text and numbers are written on the pages for instructors and learners.
"""

import re
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from autograder.grading.pages.untrusted import LONGEST_NAME, visible
from autograder.grading.term.dates import in_course_zone
from autograder.judging.code_marks import as_html, count, number, points_of

BASE = Path(__file__).parent / "base.css"  # the look that all these pages share
WORD_END = re.compile(r"(?<=_)|(?<=[a-z])(?=[A-Z])")
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))  # seconds


@cache
def load_templates(folder: Path) -> dict[str, Template]:
    """Load a folder's templates by name; their `style` is `base.css` and the folder's `page.css`.

    Compiling them takes longer than filling them. Before a process forks, load them there.
    """
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {make.__name__: make for make in FILTERS}
    style = "".join(path.read_text(encoding="utf-8") for path in (BASE, folder / "page.css"))
    environment.globals["style"] = Markup(style)
    names = environment.list_templates(extensions=["jinja"])
    return {name: environment.get_template(name) for name in names}


def code(text: str) -> Markup:
    """Render text with code in `backticks`."""
    return Markup(as_html(text))


def name(text: str) -> str:
    """Make a learner's name safe to show, because file names may contain anything."""
    return visible(text, LONGEST_NAME)


def percent(value: float) -> str:
    """ "83%"; nothing short of all is 100%."""
    return f"{99 if 99 < value < 100 else round(value)}%"


def breakable(text: str) -> Markup:
    """Allow line breaks in a name, after its underscores and before its capitals."""
    return Markup("<wbr>").join(WORD_END.split(text))


def when(moment: datetime) -> str:
    """ "3 September 2026, 14:05 CEST", in the course's time zone."""
    here = in_course_zone(moment)
    return f"{here.day} {here:%B %Y, %H:%M %Z}"


def duration(seconds: float) -> str:
    """ "1 day 3 hours": the two largest units."""
    parts, left = [], int(seconds)
    for unit, size in UNITS:
        amount, left = divmod(left, size)
        if amount:
            parts.append(count(amount, unit))
    return " ".join(parts[:2]) or "less than a minute"


FILTERS = (breakable, code, count, duration, name, number, percent, points_of, when)
