"""The cells of a graded notebook: what their metadata say, and their points."""

from collections.abc import Iterable, Mapping
from typing import Any

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task

from autograder.grading.worker.job import NotebookPoints
from autograder.lessons.cells import grade_id_of

# Entries in the metadata of cells.
VERDICT = "attention_verdict"  # of a check: `Verdict.summary()`
SHOWN = "attention_shown"  # of a cell that did not run, and shows the course's own output
NOT_RUN = "NotRun"  # the error of a cell that the notebook stopped before


def notebook_points(notebook: NotebookNode) -> NotebookPoints:
    """Return the points of verdicts; nbgrader decides about cells that have none."""
    return NotebookPoints(
        {grade_id_of(cell): _points_of(cell) for cell in notebook.cells if is_grade(cell)},
        frozenset(grade_id_of(cell) for cell in notebook.cells if _is_as_released(cell)),
    )


def was_run(outputs: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the notebook got as far as the cell with these outputs."""
    return not any(output.get("ename") == NOT_RUN for output in outputs)


def _points_of(cell: NotebookNode) -> float | None:
    """Return the points for a graded cell that has been run; None if they are not known."""
    if VERDICT in cell.metadata:
        verdict = cell.metadata[VERDICT]
        return verdict["points"] if verdict["graded"] else None
    return determine_grade(cell)[0] if was_run(cell.get("outputs", [])) else None


def _is_as_released(cell: NotebookNode) -> bool:
    """Whether a solution cell is unchanged."""
    if not is_solution(cell) or is_task(cell):
        return False
    return cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
