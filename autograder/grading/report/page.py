"""A report as one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
import os
import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.grading.report.classroom import Report, Row
from autograder.grading.report.histogram import histogram
from autograder.grading.report.untrusted import LONGEST_NAME, visible
from autograder.judging.code_marks import as_html

HERE = Path(__file__).parent
SHOWN_MISTAKES = 12
WORD_END = re.compile(r"(?<=_)|(?<=[a-z])(?=[A-Z])")


def render_page(report: Report, folder: Path, feedback: Path) -> str:
    """The page, with links that hold when it lies in `folder`.

    feedback: where nbgrader's feedback lies, learner by learner.
    """
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"code": code, "name": name, "number": number, "breakable": breakable}
    script = (HERE / "page.js").read_text(encoding="utf-8")
    return environment.get_template("page.html.jinja").render(
        report=report,
        histogram=histogram(report.marks, report.most, report.mean, report.median),
        links={row.learner: _links(row, report.lesson, folder, feedback) for row in report.rows},
        shown_mistakes=SHOWN_MISTAKES,
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=_hash(script),
    )


def code(text: str) -> Markup:
    """Text in which `backticks` mark code."""
    return Markup(as_html(text))


def name(text: str) -> str:
    """A learner's name as it can be shown: file names may hold anything."""
    return visible(text, LONGEST_NAME)


def number(value: float) -> str:
    return f"{round(value, 2):g}"


def breakable(text: str) -> Markup:
    """A name that may be broken after its underscores and before its capitals."""
    return Markup("<wbr>").join(WORD_END.split(text))


def _links(row: Row, lesson: str, folder: Path, feedback: Path) -> dict[str, str]:
    """Where to see what a learner handed in, by what there is."""
    page = feedback / row.learner / lesson / f"{lesson}.html"
    there = {"notebook": row.path, "feedback": page}
    return {what: _relative(path, folder) for what, path in there.items() if path.is_file()}


def _relative(path: Path, folder: Path) -> str:
    # From bytes, for file names that are no text.
    return quote(os.fsencode(os.path.relpath(path, folder)))


def _hash(script: str) -> str:
    """What allows this script in the page, and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
