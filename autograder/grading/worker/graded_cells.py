"""The points of the cells of a notebook that has been run and judged."""

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task

from autograder.grading.worker.job import VERDICT, NotebookPoints, was_run
from autograder.lessons.nbgrader_metadata import grade_id_of


def notebook_points(notebook: NotebookNode) -> NotebookPoints:
    """Return the points of verdicts; nbgrader decides about cells that have none."""
    return NotebookPoints(
        {grade_id_of(cell): _points_of(cell) for cell in notebook.cells if is_grade(cell)},
        frozenset(grade_id_of(cell) for cell in notebook.cells if _is_as_released(cell)),
    )


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
