"""What is known about a released notebook: the cells that every submission must have.

It is plain data that can be sent to the workers, which never see the gradebook itself. The idea is
nbgrader's: OverwriteCells restores cells from its SourceCell table.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from nbformat import NotebookNode

from autograder.lessons.cells import exercise_checked, grade_id_of, nbgrader_metadata
from autograder.lessons.written_questions import without_rubric


@dataclass(frozen=True)
class SourceCell:
    """One of nbgrader's cells, as the gradebook or the released notebook has it.

    source: for a solution, its stub; for a question, in the gradebook, with the rubric, which
        learners don't get.
    """

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
        """The metadata that nbgrader writes into a notebook for this cell."""
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

    @property
    def is_answer(self) -> bool:
        """Whether a person grades what is written in it."""
        return self.grade and self.solution

    @property
    def handed_out(self) -> str:
        """The source that learners got."""
        return without_rubric(self.source) if self.locked else self.source


@dataclass(frozen=True)
class Blueprint:
    """nbgrader's cells of one notebook, in the order of the source notebook."""

    cells: list[SourceCell]

    @classmethod
    def of_released(cls, notebook: NotebookNode) -> Self:
        """Make the blueprint of a released notebook from what nbgrader wrote into its cells.

        Raises KeyError if something of that is missing.
        """
        return cls([_source_cell(cell) for cell in notebook.cells if grade_id_of(cell)])

    @cached_property
    def by_name(self) -> dict[str, SourceCell]:
        return {cell.name: cell for cell in self.cells}

    @cached_property
    def checks(self) -> dict[str, str]:
        """The exercise that each `check(…)` cell checks, by cell name."""
        sources = {cell.name: cell.source for cell in self.cells if cell.locked and cell.grade}
        exercises = {name: exercise_checked(source) for name, source in sources.items()}
        return {name: exercise for name, exercise in exercises.items() if exercise}

    @cached_property
    def solution_before(self) -> dict[str, str]:
        """The solution cell that each automatically graded cell follows, if there is one."""
        solution, found = "", {}
        for cell in self.cells:
            if cell.solution:
                solution = cell.name
            elif cell.grade and solution:
                found[cell.name] = solution
        return found


def _source_cell(cell: NotebookNode) -> SourceCell:
    about = cell.metadata.nbgrader
    points = about.get("points")
    return SourceCell(
        name=about["grade_id"],
        cell_type=cell.cell_type,
        source=cell.source,
        locked=about["locked"],
        grade=about["grade"],
        solution=about["solution"],
        task=about.get("task", False),
        points=None if points is None else float(points),
        checksum=about.get("checksum"),
    )
