"""Make a feedback page in a confined process, because what a learner wrote is read for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.grading.feedback.feedback_page import (
    GradedNotebook,
    get_ready,
    render_page,
    why_not_graded,
)
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.pages.notebook import Outline, read_cells
from autograder.sandbox.confined import Ask, Unfinished, confined


def make_page(
    notebook: bytes, run: Mapping[str, Any], facts: NotebookFacts, outline: Outline
) -> str:
    """Make the page on a graded notebook.

    If the confined process does not finish, the page has everything but the notebook.

    run: what was recorded about the run that graded it; {} if nothing was.
    """
    unread = GradedNotebook((), facts, outline, why_not_graded(run))

    def render(ask: Ask) -> list[bytes]:
        page = render_page(replace(unread, cells=read_cells(notebook)))
        return [page.encode(errors="replace")]

    get_ready()
    try:
        return confined(render)[0].decode()
    except Unfinished as error:
        return render_page(replace(unread, unshown=str(error)))
