"""Build source notebooks from lesson texts.

A source notebook has nbgrader's metadata, derived from the text, and cell ids derived from the
headings, so that building the same text twice gives the same file.
"""

import re
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from jupytext.config import load_jupytext_config
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from autograder.authoring.stated_points import leave_out_points, state_points
from autograder.lessons.errors import AuthoringError
from autograder.lessons.lesson import KERNEL, STUB, Lesson, exercise_checked, exercise_defined
from autograder.lessons.nbgrader_metadata import grade_id_of, nbgrader_metadata

CELL_SECONDS = 300


def build_notebook(lesson: Lesson) -> NotebookNode:
    """Build a lesson's source notebook without executing it. Raises AuthoringError."""
    cells = [_with_nbgrader(cell, lesson) for cell in lesson.notebook.cells]
    state_points(cells, {exercise.name: exercise.points for exercise in lesson.exercises})
    for cell, cell_id in zip(cells, _cell_ids(cells), strict=True):
        cell.id = cell_id
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def execute(notebook: NotebookNode, folder: Path, allow_errors: bool = False) -> NotebookNode:
    """Run the notebook from top to bottom in `folder`, without timestamps."""
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR", "--HistoryManager.hist_file=:memory:"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise AuthoringError(f"a cell fails\n{error}") from error
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def write(notebook: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def write_text(notebook: Path, text: Path) -> None:
    """Write a lesson's text from its source notebook: the way back from `build_notebook`."""
    edited = jupytext.read(notebook)
    for cell in edited.cells:
        if cell.cell_type == "markdown":
            cell.source = leave_out_points(cell.source)
    config = load_jupytext_config(str(text))
    jupytext.write(edited, text, fmt="py:percent", config=config)


def answered_cells(path: Path) -> list[str]:
    """List the exercises in a released notebook that no longer contain the stub."""
    if not path.exists():
        return []
    cells = nbformat.read(path, as_version=4).cells
    about = [(cell.metadata.get("nbgrader", {}), cell.source) for cell in cells]
    exercises = [(facts["grade_id"], source) for facts, source in about if facts.get("solution")]
    return [name for name, source in exercises if STUB not in source]


def _with_nbgrader(cell: NotebookNode, lesson: Lesson) -> NotebookNode:
    """Copy the cell and add the nbgrader metadata that its source calls for."""
    cell = nbformat.from_dict(cell)
    if cell.cell_type != "code":
        return cell
    if defined := exercise_defined(cell.source):
        cell.metadata.nbgrader = nbgrader_metadata(defined, solution=True)
    elif checked := exercise_checked(cell.source):
        points = _points(lesson, checked)
        cell.metadata.nbgrader = nbgrader_metadata(f"check_{checked}", points=points)
    return cell


def _points(lesson: Lesson, name: str) -> int:
    for exercise in lesson.exercises:
        if exercise.name == name:
            return exercise.points
    raise AuthoringError(f"check({name}) checks no exercise of this lesson")


def _cell_ids(cells: list[NotebookNode]) -> list[str]:
    """Make an id for each cell: its exercise, or the nearest heading above, and a number."""
    ids, heading, seen = [], "start", Counter()
    for cell in cells:
        if cell.cell_type == "markdown" and (match := re.match(r"#+ (.+)", cell.source)):
            heading = _slug(match[1])
        base = grade_id_of(cell) or heading
        seen[base] += 1
        ids.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return ids


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:56]
