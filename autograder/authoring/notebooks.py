"""Build source notebooks from lesson texts.

A source notebook has nbgrader's metadata, derived from the text, and cell ids derived from the
headings, so that building the same text twice gives the same file.
"""

import re
import textwrap
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from jupytext.config import load_jupytext_config
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from autograder.authoring.published import published
from autograder.authoring.stated import (
    fold_plumbing,
    leave_out_contracts,
    leave_out_points,
    settle_points,
    state_contracts,
    state_points,
)
from autograder.errors import AuthoringError
from autograder.lessons.cells import (
    BEGINNING,
    KERNEL,
    LANGUAGE,
    STUB,
    exercise_checked,
    exercise_defined,
    grade_id_of,
    nbgrader_metadata,
)
from autograder.lessons.lesson import Lesson
from autograder.lessons.minutes import minutes_needed
from autograder.lessons.written_questions import ANSWER_STUB, asked_in, written_questions
from autograder.references.store import PUBLIC, load

CELL_SECONDS = 300
INDENT = " " * 4
HEADING = re.compile(r"#+ (?!BEGIN SOLUTION)(.+)")


def build_notebook(lesson: Lesson) -> NotebookNode:
    """Build a lesson's source notebook without executing it. Raises AuthoringError, CourseError."""
    cells = [_with_nbgrader(cell, lesson) for cell in lesson.notebook.cells]
    _add_questions(cells)
    points = {exercise.name: exercise.points for exercise in lesson.exercises}
    state_points(cells, points, minutes_needed(lesson.notebook.cells))
    state_contracts(cells, lesson.name, _contracts(lesson), published())
    fold_plumbing(cells)
    for cell, cell_id in zip(cells, _cell_ids(cells), strict=True):
        cell.id = cell_id
    metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run the notebook from top to bottom in `folder`, without timestamps."""
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR", "--HistoryManager.hist_file=:memory:"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise AuthoringError(f"a cell fails\n{error}") from error
    notebook.metadata.language_info = dict(LANGUAGE)
    return notebook


def require_no_errors(notebook: NotebookNode) -> None:
    """Raise AuthoringError if a cell shows an error: a learner's may, for want of a real model."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if output.output_type == "error":
            raise AuthoringError(f"a cell fails\n{output.ename}: {output.evalue}")


def write(notebook: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def write_text(notebook: Path, text: Path) -> None:
    """Write a lesson's text from its source notebook: the way back from `build_notebook`.

    Raises AuthoringError.
    """
    edited = jupytext.read(notebook)
    settle_points(edited.cells)
    for cell in edited.cells:
        is_prose = cell.cell_type == "markdown"
        cell.source = (leave_out_points if is_prose else leave_out_contracts)(cell.source)
    config = load_jupytext_config(str(text))
    jupytext.write(edited, text, fmt="py:percent", config=config)


def answered_cells(path: Path) -> list[str]:
    """List the exercises and questions that somebody has worked on in a released notebook."""
    if not path.exists():
        return []
    cells = nbformat.read(path, as_version=4).cells
    answers = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]
    return [cell.metadata.nbgrader.grade_id for cell in answers if _begun(cell) not in cell.source]


def _begun(cell: NotebookNode) -> str:
    """Return what an answer cell holds at first."""
    if cell.cell_type == "markdown":
        return ANSWER_STUB
    return textwrap.indent(cell.metadata.get(BEGINNING, STUB), INDENT)


def _with_nbgrader(cell: NotebookNode, lesson: Lesson) -> NotebookNode:
    """Copy the cell and add the nbgrader metadata that its source calls for."""
    cell = nbformat.from_dict(cell)
    if cell.cell_type != "code":
        return cell
    if defined := exercise_defined(cell.source):
        cell.metadata.nbgrader = nbgrader_metadata(defined, solution=True)
        if lesson.asked[defined].begins_with:
            cell.metadata[BEGINNING] = lesson.beginning(lesson.asked[defined])
    elif checked := exercise_checked(cell.source):
        exercise = lesson.asked.get(checked)
        if exercise is None:
            raise AuthoringError(f"check({checked}) checks no exercise of this lesson")
        if not exercise.challenge:
            cell.metadata.nbgrader = nbgrader_metadata(f"check_{checked}", points=exercise.points)
    return cell


def _add_questions(cells: list[NotebookNode]) -> None:
    """Add the nbgrader metadata of questions: a read-only cell and a manually graded one."""
    for number, question in written_questions(cells).items():
        asks = nbgrader_metadata(asked_in(question.name), points=question.points, grade=False)
        answer = nbgrader_metadata(question.name, points=question.points, solution=True)
        cells[number].metadata.nbgrader, cells[number + 1].metadata.nbgrader = asks, answer
    names = Counter(filter(None, map(grade_id_of, cells)))
    if taken := [name for name, count in names.items() if count > 1]:
        raise AuthoringError(f"two cells are named {taken[0]}: rename the question")


def _contracts(lesson: Lesson) -> list[str]:
    """Return the reference's digests of what the exercises ask for. Raises CourseError."""
    questions = load(PUBLIC / f"{lesson.name}.safetensors").questions
    return [question.contract for question in questions.values()]


def _cell_ids(cells: list[NotebookNode]) -> list[str]:
    """Make an id for each cell: its exercise, or the nearest heading above, and a number."""
    ids: list[str] = []
    heading, seen = "start", Counter[str]()
    for cell in cells:
        if cell.cell_type == "markdown" and (match := HEADING.match(cell.source)):
            heading = _slug(match[1])
        base = grade_id_of(cell) or heading
        seen[base] += 1
        ids.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return ids


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:56]
