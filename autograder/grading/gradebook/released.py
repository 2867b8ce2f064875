"""Read what was released: lessons, their notebooks, the cells that every submission must have."""

from collections.abc import Sequence
from datetime import datetime

from nbgrader import api
from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.submission.blueprint import Blueprint, SourceCell


def released_notebooks(gradebook: Gradebook) -> dict[str, list[str]]:
    """List the names of the notebooks of each lesson."""
    return {
        lesson.name: [notebook.name for notebook in lesson.notebooks]
        for lesson in gradebook.assignments
    }


def due_date(gradebook: Gradebook, lesson: str) -> datetime | None:
    """Return when a lesson is due, in UTC; None if it never is, or was not released."""
    try:
        return gradebook.find_assignment(lesson).duedate
    except MissingEntry:
        return None


def read_blueprint(
    gradebook: Gradebook,
    notebook: str,
    lesson: str,
    order: Sequence[str] = (),
) -> Blueprint:
    """Read the blueprint of a released notebook.

    The gradebook does not store the order of cells; it returns its rows as stored (on SQLite, in
    the order of the first release). `order` lists the cells as in the current source notebook.
    Raises nbgrader's MissingEntry if the notebook was not released.
    """
    found = gradebook.find_notebook(notebook, lesson)
    solutions = {cell.name for cell in found.solution_cells}
    tasks = {cell.name: cell.max_score for cell in found.task_cells}
    grades = {cell.name: cell.max_score for cell in found.grade_cells}
    cells = [_source_cell(row, solutions, grades, tasks) for row in found.source_cells]
    places = {name: place for place, name in enumerate(order)}
    cells.sort(key=lambda cell: places.get(cell.name, len(places)))
    return Blueprint(cells)


def _source_cell(
    row: api.SourceCell, solutions: set[str], grades: dict[str, float], tasks: dict[str, float]
) -> SourceCell:
    return SourceCell(
        name=row.name,
        cell_type=row.cell_type,
        source=row.source or "",
        locked=row.locked,
        grade=row.name in grades,
        solution=row.name in solutions,
        task=row.name in tasks,
        points=grades.get(row.name, tasks.get(row.name)),
        checksum=row.checksum,
    )
