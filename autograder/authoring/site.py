"""Pages of the course's site: lessons with their figures, exercises as stubs, and folded hints."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import chain

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.atomic_writes import write_whole
from autograder.authoring.published import Published, published
from autograder.authoring.stated import leave_out_contracts
from autograder.judging.prediction import Prediction
from autograder.lessons.cells import exercise_checked, prediction_asked
from autograder.lessons.lesson import Lesson
from autograder.notebook.cards import choices_html
from autograder.places import ROOT

PAGES = ROOT / "docs" / "site" / "lessons"
DRAWS = re.compile(r"(plot|draw|view)_\w+\(")
NOTEBOOK = "path:../../../notebooks/{name}/{name}.ipynb"  # as seen from a page
LINKS = """{title}

<div class="elsewhere">

Do it in Jupyter: {links}

</div>
"""


def write_page(lesson: Lesson) -> None:
    """Write the page of a lesson, for Sphinx to read."""
    PAGES.mkdir(exist_ok=True)
    write_whole(PAGES / f"{lesson.name}.ipynb", nbformat.writes(page(lesson)).encode())


def page(lesson: Lesson, where: Published | None = None) -> NotebookNode:
    """Return the executed notebook without solutions, and with hints, answers and plumbing folded.

    where: the addresses to link to; None for those in pyproject.toml.
    """
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    released = nbformat.read(lesson.released_path, as_version=4)
    stubs = {cell.id: leave_out_contracts(cell.source) for cell in released.cells}
    for cell in notebook.cells:
        cell.source = stubs[cell.id]
    opening, *cells = notebook.cells
    opening.source = _linked(opening.source, lesson.name, where or published())
    plumbing = [cell for cell in cells if cell.metadata.pop("jupyter", None)]
    read = (on_page(cell, lesson) for cell in cells if cell not in plumbing)
    notebook.cells = [opening, _imports(plumbing), *chain.from_iterable(read)]
    return notebook


def _linked(opening: str, name: str, where: Published) -> str:
    """Say below a lesson's title where its notebook is."""
    title, below = opening.split("\n", 1)
    places = {
        "Download the notebook": NOTEBOOK.format(name=name),
        "Set up the course": "#start",
        "Open in Colab": where.in_colab(name),
        "See it in the repository": where.notebook(name),
    }
    links = " ".join(f"[{text}]({place})" for text, place in places.items() if place)
    return LINKS.format(title=title, links=links) + below


def _imports(cells: Sequence[NotebookNode]) -> NotebookNode:
    source = "\n\n".join(cell.source for cell in cells)
    return new_markdown_cell(folded("Imports and settings", _as_code(source)))


def on_page(cell: NotebookNode, lesson: Lesson) -> Iterator[NotebookNode]:
    """Yield what a page has in place of a notebook's cell."""
    if name := prediction_asked(cell.source):
        yield _prediction(lesson.predictions[name])
    elif name := exercise_checked(cell.source):
        cell.outputs = []
        yield cell
        yield new_markdown_cell(_folded_hints(lesson.asked[name].hints))
    elif cell.cell_type == "code":
        yield from _with_drawing_folded(cell)
    else:
        yield cell


def _with_drawing_folded(cell: NotebookNode) -> Iterator[NotebookNode]:
    """Yield the code above a call that draws, the figure, and below it the call, folded.

    So a reader sees the figure's caption once. Nothing of `progress()`, which is the author's.
    """
    above, last = _parted(cell.source)
    if last == "progress()":
        return
    if not DRAWS.match(last):
        yield cell
        return
    printed = [output for output in cell.outputs if output.output_type == "stream"]
    figures = [output for output in cell.outputs if output.output_type != "stream"]
    if above:
        yield new_code_cell(above, outputs=printed)
    yield new_code_cell(last, outputs=figures, metadata={"tags": ["remove-input"]})
    yield new_markdown_cell(folded("Code of the figure", _as_code(last)))


def _parted(source: str) -> tuple[str, str]:
    """Return the source of a cell before its last statement, and that statement."""
    *_, last = ast.parse(source).body
    lines = source.splitlines()
    return "\n".join(lines[: last.lineno - 1]).rstrip(), "\n".join(lines[last.lineno - 1 :])


def _prediction(prediction: Prediction) -> NotebookNode:
    return new_markdown_cell(choices_html(prediction))


def _folded_hints(hints: list[str]) -> str:
    return "".join(folded(f"Hint {number}", hint) for number, hint in enumerate(hints, start=1))


def _as_code(source: str) -> str:
    return f"```python\n{source}\n```"


def folded(title: str, text: str) -> str:
    """Return Markdown that shows a title, and the text once it is opened."""
    return f"\n\n<details><summary>{title}</summary>\n\n{text}\n\n</details>"
