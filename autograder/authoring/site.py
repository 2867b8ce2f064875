"""Pages of the course's site: lessons with their figures, exercises as stubs, and folded hints."""

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.atomic_writes import write_whole
from autograder.authoring.stated import leave_out_contracts
from autograder.judging.prediction import Prediction
from autograder.lessons import ROOT
from autograder.lessons.cells import exercise_checked, prediction_asked
from autograder.lessons.lesson import Lesson
from autograder.notebook.cards import choices_html

PAGES = ROOT / "docs" / "site" / "lessons"


def write_page(lesson: Lesson) -> None:
    """Write the page of a lesson, for Sphinx to read."""
    PAGES.mkdir(exist_ok=True)
    write_whole(PAGES / f"{lesson.name}.ipynb", nbformat.writes(page(lesson)).encode())


def page(lesson: Lesson) -> NotebookNode:
    """Return the executed notebook without solutions, and with hints and answers folded."""
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    released = nbformat.read(lesson.released_path, as_version=4)
    stubs = {cell.id: cell.source for cell in released.cells}
    cells = []
    for cell in notebook.cells:
        if name := prediction_asked(cell.source):
            cells.append(_prediction(lesson.predictions[name]))
            continue
        if cell.cell_type == "code":
            cell.source = leave_out_contracts(stubs[cell.id])
        if cell.metadata.pop("jupyter", None):
            cells.append(new_markdown_cell(folded("Imports and settings", _as_code(cell.source))))
            continue
        cells.append(cell)
        if name := exercise_checked(cell.source):
            cell.outputs = []
            cells.append(new_markdown_cell(_folded_hints(lesson.asked[name].hints)))
    notebook.cells = cells
    return notebook


def _prediction(prediction: Prediction) -> NotebookNode:
    return new_markdown_cell(choices_html(prediction))


def _folded_hints(hints: list[str]) -> str:
    return "".join(folded(f"Hint {number}", hint) for number, hint in enumerate(hints, start=1))


def _as_code(source: str) -> str:
    return f"```python\n{source}\n```"


def folded(title: str, text: str) -> str:
    """Return Markdown that shows a title, and the text once it is opened."""
    return f"\n\n<details><summary>{title}</summary>\n\n{text}\n\n</details>"
