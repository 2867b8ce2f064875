"""Render reports as self-contained HTML pages: no network, no other files."""

import base64
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.grading.pages.template import load_templates
from autograder.grading.pages.text import Html
from autograder.grading.report.histogram import histogram
from autograder.grading.report.make_report import Report
from autograder.grading.report.term_report import TermReport

HERE = Path(__file__).parent
SHOWN_MISTAKES = 12
SHOWN_LEARNERS = 100  # of those who made a mistake again


def render_lesson_page(report: Report, folder: Path, feedback: Path) -> str:
    """Render the page on a lesson, with links relative to `folder`.

    feedback: the folder with nbgrader's feedback for each learner.
    """
    return _rendered(
        "page.html.jinja",
        report=report,
        histogram=histogram(report.grades, report.most, report.mean, report.median),
        links=_feedback_links(report, folder, feedback),
        shown_mistakes=SHOWN_MISTAKES,
    )


def render_term_page(
    report: TermReport, folder: Path, feedback: Path, pages: Mapping[str, Path]
) -> str:
    """Render the page on a term, with links relative to `folder`.

    pages: the pages on the lessons.
    """
    return _rendered(
        "term.html.jinja",
        report=report,
        links={},
        pages={lesson: _relative(page, folder) for lesson, page in pages.items()},
        feedback={one.lesson: _feedback_links(one, folder, feedback) for one in report.lessons},
        shown_learners=SHOWN_LEARNERS,
    )


def _rendered(template: str, **values: Any) -> str:
    script = (HERE / "page.js").read_text(encoding="utf-8")
    filled = {"script": Html(script), "script_hash": _hash(script), **values}
    return load_templates(HERE)[template].render(filled)


def _feedback_links(report: Report, folder: Path, feedback: Path) -> dict[str, str]:
    """Return links to the learners' feedback pages on a lesson; "" for learners without one."""
    return {
        row.learner: next(
            (
                _relative(page, folder)
                for name in report.notebooks
                if (page := feedback / row.learner / report.lesson / f"{name}.html").is_file()
            ),
            "",
        )
        for row in report.rows
    }


def _relative(path: Path, folder: Path) -> str:
    # From bytes, because file names need not be valid text.
    return quote(os.fsencode(os.path.relpath(path, folder)))


def _hash(script: str) -> str:
    """Return the hash that allows only this script in the page."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
