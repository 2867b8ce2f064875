"""The page of a submission in formgrader: the graded notebook, with fields from the gradebook."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.grading.gradebook.notebook_facts import Fields
from autograder.grading.pages.budget import Budget
from autograder.grading.pages.notebook import (
    NotebookCell,
    read_whole_cells,
    requests_among,
    verdict_of,
)
from autograder.grading.pages.render import Renderer
from autograder.grading.pages.sanitizer import left_out
from autograder.grading.pages.template import code
from autograder.grading.pages.text import Html
from autograder.grading.submission.restore import WHY_EMPTY
from autograder.lessons.written_questions import BEGIN_SCHEME, END_SCHEME
from autograder.sandbox.confined import Unfinished, confined

MOST_HTML, MOST_PICTURES = 4_000_000, 2_000_000  # bytes; an instructor sees more than a learner
NOT_SHOWN = "This can't be shown here. The live notebook has it: see the link at the top."
NOT_THERE = "it is not there, or can't be read; grade the submission again"
SCHEME_BEGINS = re.compile(rf"^.*{BEGIN_SCHEME}.*$", re.MULTILINE)
SCHEME_ENDS = re.compile(rf"^.*{END_SCHEME}.*\n?", re.MULTILINE)
NO_RESULT = "The check has no result"
UNREADABLE = "The graded notebook can't be shown: {}. You can still enter points and comments."


@dataclass(frozen=True)
class PageCell:
    """A cell of the notebook, or one that only the gradebook knows.

    name: nbgrader's, if the gradebook has the cell.
    most: its points; None if it gets none.
    is_missing: whether the notebook lacks this cell.
    """

    name: str = ""
    most: float | None = None
    takes_comment: bool = False
    is_answer: bool = False
    is_code: bool = False
    is_missing: bool = False
    source: Html = field(default_factory=Html)
    outputs: Html = field(default_factory=Html)


def page_parts(data: bytes | None, fields: Fields) -> tuple[list[PageCell], str]:
    """Make the parts of a page, and a sentence about what can't be shown; "" if everything can.

    A confined process reads the notebook; the fields for points are made here.

    data: the graded notebook; None if there is none.
    """
    cells, trouble = [], ""
    if data is None:
        trouble = UNREADABLE.format(NOT_THERE)
    else:
        try:
            [told] = confined(lambda ask: [json.dumps(shown_cells(data, fields.names)).encode()])
            cells = json.loads(told)
        except Unfinished as error:
            trouble = UNREADABLE.format(error)
    parts = list(_parts(cells, fields))
    shown = {part.name for part in parts}
    missing = (PageCell(name=name, is_missing=True) for name in fields.names if name not in shown)
    return [*parts, *(_with_fields(part, fields) for part in missing)], trouble


def shown_cells(data: bytes, named: Collection[str]) -> list[dict[str, Any]]:
    """Read a notebook and render its cells. Raises ValueError.

    named: the names of the cells that get points or comments; they have room before the rest.
    """
    cells = read_whole_cells(data)
    renderer = Renderer(Budget(MOST_HTML, MOST_PICTURES))
    reasons, requests = _reasons(cells), _requests(cells)
    shown = {}
    for place, cell in sorted(enumerate(cells), key=lambda one: one[1].name not in named):
        shown[place] = {
            "name": cell.name or "",
            "is_code": cell.kind == "code",
            "is_answer": cell.is_a("solution"),
            "source": _shown(renderer.source, _with_plain_scheme(cell)),
            "outputs": requests.get(cell.number, Html())
            + (reasons.get(cell.number) or _shown(renderer.outputs, cell)),
        }
    return [shown[place] for place in range(len(cells))]


def _with_plain_scheme(cell: NotebookCell) -> NotebookCell:
    """Return a question's cell with a title, instead of marks, around its mark scheme."""
    if not cell.is_given or cell.kind != "markdown":
        return cell
    titled = SCHEME_BEGINS.sub("**Mark scheme**\n", cell.source)
    return replace(cell, source=SCHEME_ENDS.sub("", titled))


def _reasons(cells: Sequence[NotebookCell]) -> dict[int, Html]:
    """Say why each check judged nothing, by its number; after the first, only that it didn't.

    Its card would say 0 points, but the gradebook has no points for it at all.
    """
    is_empty = any(WHY_EMPTY in cell.metadata for cell in cells)  # this cell says why
    reasons, told = {}, []
    for cell in cells:
        verdict = verdict_of(cell)
        if verdict and not verdict["graded"]:
            why = [(problem["kind"], problem["detail"]) for problem in verdict["problems"]]
            is_told = is_empty or why in told
            said = f"{NO_RESULT}." if is_told else f"{NO_RESULT}: {verdict['sentence']}"
            reasons[cell.number] = Html("<p>{}</p>").format(code(said))
            told.append(why)
    return reasons


def _requests(cells: Sequence[NotebookCell]) -> dict[int, Html]:
    """Say, above the card of a check, that the learner asks for another look, by its number."""
    why, said = requests_among(cells), {}
    for cell in cells:
        verdict = verdict_of(cell)
        if verdict and (name := verdict["exercise"]) in why:
            reason = why[name] or "no reason is given"
            said[cell.number] = Html("<p><b>Another look, please:</b> {}</p>").format(reason)
    return said


def _parts(cells: Iterable[dict[str, Any]], fields: Fields) -> Iterator[PageCell]:
    """Yield the parts; if several cells have the same name, the first gets the fields."""
    taken = {""}
    for cell in cells:
        name = cell["name"] if cell["name"] in fields.names else ""
        part = PageCell(
            name="" if name in taken else name,
            is_code=bool(cell["is_code"]),
            is_answer=bool(cell["is_answer"]),
            source=Html(cell["source"]),
            outputs=Html(cell["outputs"]),
        )
        taken.add(name)
        yield _with_fields(part, fields)


def _with_fields(part: PageCell, fields: Fields) -> PageCell:
    takes_comment = part.name in fields.commented
    return replace(part, most=fields.points.get(part.name), takes_comment=takes_comment)


def _shown(render: Callable[[NotebookCell], Html], cell: NotebookCell) -> Html:
    """Render a part of a cell; if that fails, say so in its place."""
    try:
        return render(cell)
    except Exception:  # whatever goes wrong here, the rest of the page is shown
        return Html(f"<p>{left_out(NOT_SHOWN)}</p>")
