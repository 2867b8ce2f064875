"""What the gradebook knows of a released notebook: the cells that every submission must have.

Plain data, so that it travels to the workers, which never see the gradebook itself. The idea is
nbgrader's: its SourceCell table is what OverwriteCells restores cells from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from autograder.lessons.lesson import exercise_checked
from autograder.lessons.nbgrader_metadata import nbgrader_metadata

if TYPE_CHECKING:  # a worker needs no database
    from nbgrader import api


@dataclass(frozen=True)
class SourceCell:
    """One of nbgrader's cells, as it was released; a solution cell holds its stub."""

    name: str
    cell_type: str
    source: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None
    checksum: str | None

    @property
    def metadata(self) -> dict[str, Any]:
        """What nbgrader writes about this cell into a notebook."""
        return nbgrader_metadata(
            self.name,
            solution=self.solution,
            points=self.points,
            grade=self.grade,
            locked=self.locked,
            task=self.task,
            cell_type=self.cell_type,
            checksum=self.checksum,
        )


@dataclass(frozen=True)
class Blueprint:
    """nbgrader's cells of one notebook, in the order of the source notebook."""

    notebook: str
    cells: list[SourceCell]

    @cached_property
    def by_name(self) -> dict[str, SourceCell]:
        return {cell.name: cell for cell in self.cells}

    @cached_property
    def checks(self) -> dict[str, str]:
        """For each check cell of the course's own form the exercise that it checks."""
        sources = {cell.name: cell.source for cell in self.cells if cell.locked and cell.grade}
        exercises = {name: exercise_checked(source) for name, source in sources.items()}
        return {name: exercise for name, exercise in exercises.items() if exercise}

    @cached_property
    def solution_before(self) -> dict[str, str]:
        """For each automatically graded cell the solution cell that it follows, if there is one."""
        solution, found = "", {}
        for cell in self.cells:
            if cell.solution:
                solution = cell.name
            elif cell.grade and solution:
                found[cell.name] = solution
        return found


def read_blueprint(
    gradebook: api.Gradebook, notebook: str, assignment: str, order: Sequence[str] = ()
) -> Blueprint:
    """The blueprint of a released notebook.

    The gradebook keeps no order, and gives the cells as its rows lie: as they were first released,
    on SQLite. `order` names the cells as they stand in the source notebook now.
    Raises nbgrader's MissingEntry when the notebook was not released.
    """
    found = gradebook.find_notebook(notebook, assignment)
    solutions = {cell.name for cell in found.solution_cells}
    tasks = {cell.name: cell.max_score for cell in found.task_cells}
    grades = {cell.name: cell.max_score for cell in found.grade_cells}
    cells = [_source_cell(row, solutions, grades, tasks) for row in found.source_cells]
    places = {name: place for place, name in enumerate(order)}
    return Blueprint(notebook, sorted(cells, key=lambda c: places.get(c.name, len(places))))


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
