"""Render a report as one self-contained HTML page: no network, no other files."""

import base64
import hashlib
import os
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from autograder.grading.report.classroom import Report, Row
from autograder.grading.report.histogram import histogram
from autograder.grading.report.template import fill_template

HERE = Path(__file__).parent
SHOWN_MISTAKES = 12


def render_page(report: Report, folder: Path, feedback: Path) -> str:
    """Render the page, with links relative to `folder`.

    feedback: the folder with nbgrader's feedback for each learner.
    """
    script = (HERE / "page.js").read_text(encoding="utf-8")
    return fill_template(
        HERE,
        report=report,
        histogram=histogram(report.marks, report.most, report.mean, report.median),
        links={row.learner: _link(row, report.lesson, folder, feedback) for row in report.rows},
        shown_mistakes=SHOWN_MISTAKES,
        script=Markup(script),
        script_hash=_hash(script),
    )


def _link(row: Row, lesson: str, folder: Path, feedback: Path) -> str:
    """Return a link to a learner's feedback page; "" if there is none."""
    page = feedback / row.learner / lesson / f"{lesson}.html"
    return _relative(page, folder) if page.is_file() else ""


def _relative(path: Path, folder: Path) -> str:
    # From bytes, because file names need not be valid text.
    return quote(os.fsencode(os.path.relpath(path, folder)))


def _hash(script: str) -> str:
    """Return the hash that allows only this script in the page."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
