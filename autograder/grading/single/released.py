"""Read from a released notebook what grading otherwise reads from the gradebook."""

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.errors import CourseError
from autograder.grading.submission.blueprint import Blueprint
from autograder.judging.code_marks import in_backticks
from autograder.lessons.cells import grade_id_of
from autograder.lessons.lesson import Lesson
from autograder.places import IS_REPOSITORY, ROOT


def released_blueprint(lesson: Lesson) -> Blueprint:
    """Read the blueprint of a lesson from the notebook that learners get.

    Raises CourseError if it is missing, or no longer as it was released: its cells are what a
    submission is restored by, and an answer in them would count as the stub.
    """
    path = lesson.released_path
    name = path.relative_to(ROOT)
    try:
        notebook = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise CourseError(f"{name} is missing. {_remedy(lesson)}") from None
    except (OSError, ValueError) as error:
        raise CourseError(f"{name} can't be read. {_remedy(lesson)}") from error
    if changed := _changed_cells(notebook):
        raise CourseError(
            f"{name} is not as it was released: {in_backticks(changed)} changed. Copy it if there "
            f"are answers in it, and grade the copy. {_remedy(lesson)}"
        )
    try:
        return Blueprint.of_released(notebook)
    except KeyError as error:
        raise CourseError(f"{name} lacks {error} in a cell. {_remedy(lesson)}") from error


def _changed_cells(notebook: NotebookNode) -> list[str]:
    """Name nbgrader's cells that are not what their checksums were made from."""
    return [
        grade_id_of(cell)
        for cell in notebook.cells
        if grade_id_of(cell) and cell.metadata.nbgrader.get("checksum") != compute_checksum(cell)
    ]


def _remedy(lesson: Lesson) -> str:
    if not IS_REPOSITORY:
        return "Install the grader again."
    return f"To get it back: git checkout notebooks/{lesson.name}"
