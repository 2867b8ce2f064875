"""The page of a submission in formgrader: the graded notebook, with fields from the gradebook."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from autograder.grading.feedback.budget import Budget
from autograder.grading.feedback.notebook import Cell, parse_notebook
from autograder.grading.feedback.render import Renderer
from autograder.grading.feedback.sanitizer import left_out

MOST_HTML, MOST_PICTURES = 4_000_000, 2_000_000  # bytes; an instructor sees more than a learner
NOT_SHOWN = "This can't be shown here. The live notebook has it: see the link at the top."
UNREADABLE = "The graded notebook can't be shown: {}. You can still enter points and comments."


@dataclass(frozen=True)
class Part:
    """A cell of the notebook, or one that only the gradebook knows.

    name: nbgrader's, if the gradebook has the cell. most: its points; None if it takes none.
    is_missing: whether the notebook has no such cell.
    """

    name: str = ""
    most: float | None = None
    takes_comment: bool = False
    is_answer: bool = False
    is_code: bool = False
    is_missing: bool = False
    source: Markup = field(default_factory=Markup)
    outputs: Markup = field(default_factory=Markup)


def page_parts(
    data: bytes | None, points: Mapping[str, float], commented: Collection[str]
) -> tuple[list[Part], str]:
    """Make the parts of a page, and the sentence that says what can't be shown, if anything.

    data: the graded notebook; None if there is none. points: the highest, by the cell's name.
    commented: the names of the cells that take a comment.
    """
    parts, trouble = [], ""
    try:
        parts = _parts(data, points, commented)
    except Exception as error:  # whatever is wrong with it, points can be entered
        trouble = UNREADABLE.format(str(error)[:200] or type(error).__name__)
    shown = {part.name for part in parts}
    missing = [name for name in dict.fromkeys([*points, *commented]) if name not in shown]
    return [*parts, *(_fields(name, points, commented, True) for name in missing)], trouble


def _parts(
    data: bytes | None, points: Mapping[str, float], commented: Collection[str]
) -> list[Part]:
    if data is None:
        raise ValueError("it is not there, or can't be read; grade the submission again")
    parts = list(_named(parse_notebook(data).cells, points, commented))
    renderer = Renderer(Budget(MOST_HTML, MOST_PICTURES))
    html = {}
    # What gets points has room on the page before the rest.
    for number, (cell, part) in sorted(enumerate(parts), key=lambda one: not one[1][1].name):
        html[number] = replace(
            part, source=_shown(renderer.source, cell), outputs=_shown(renderer.outputs, cell)
        )
    return [html[number] for number in range(len(parts))]


def _shown(render: Callable[[Cell], Markup], cell: Cell) -> Markup:
    """Render a part of a cell; if that fails, say so in its place."""
    try:
        return render(cell)
    except Exception:  # whatever it stumbles over, the rest of the page is shown
        return Markup(f"<p>{left_out(NOT_SHOWN)}</p>")


def _named(
    cells: Sequence[Cell], points: Mapping[str, float], commented: Collection[str]
) -> Iterator[tuple[Cell, Part]]:
    """Yield the cells, each with the fields of the gradebook if it is the first of its name."""
    taken = set()
    for cell in cells:
        part = Part(is_code=cell.kind == "code")
        if cell.name and cell.name not in taken and (cell.name in points or cell.name in commented):
            taken.add(cell.name)
            fields = _fields(cell.name, points, commented)
            part = replace(fields, is_code=part.is_code, is_answer=cell.is_a("solution"))
        yield cell, part


def _fields(
    name: str, points: Mapping[str, float], commented: Collection[str], is_missing: bool = False
) -> Part:
    return Part(
        name=name,
        most=points.get(name),
        takes_comment=name in commented,
        is_missing=is_missing,
    )
