"""What the gradebook would say about a notebook that has just been graded."""

from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.worker.job import NotebookPoints


def facts_of(points: NotebookPoints, blueprint: Blueprint, lesson: str) -> NotebookFacts:
    """Return the facts that a page shows. There is no learner, no time and no comment."""
    graded = [cell for cell in blueprint.cells if cell.grade or cell.task]
    cells = [_cell_grade(cell, points.by_name.get(cell.name)) for cell in graded]
    return NotebookFacts(
        learner="",
        lesson=lesson,
        notebook=lesson,
        grade=Grade(tuple(sorted(cells, key=lambda cell: cell.name))),
        comments={},
        untouched=tuple(sorted(points.unanswered)),
    )


def _cell_grade(cell: SourceCell, judged: float | None) -> CellGrade:
    return CellGrade(cell.name, cell.points or 0.0, judged, by_hand=None, waits=judged is None)
