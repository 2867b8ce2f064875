"""A course whose gradebook has submissions that never went through grading."""

import json
from pathlib import Path

import nbformat

from tests.support.classroom import LESSON, gradebook, release
from tests.support.formgrader import configure


def make_hostile_course(course: Path, notebooks: dict[str, bytes | None]) -> None:
    """Make a course with these autograded notebooks by learner, None for a lost one."""
    configure(course)
    release(course)
    with gradebook(course) as book:
        for learner in notebooks:
            book.update_or_create_student(learner)
            book.add_submission(LESSON.name, learner)
    for learner, data in notebooks.items():
        folder = course / "autograded" / learner / LESSON.name
        folder.mkdir(parents=True)
        if data is not None:
            (folder / f"{LESSON.name}.ipynb").write_bytes(data)


def released_notebook() -> nbformat.NotebookNode:
    return nbformat.read(LESSON.released_path, as_version=4)


def graded_names() -> list[str]:
    """Return the names of the lesson's graded cells, in order."""
    about = (cell.metadata.get("nbgrader", {}) for cell in released_notebook().cells)
    return [one["grade_id"] for one in about if one.get("grade")]


def notebook_with(cells: list[nbformat.NotebookNode]) -> bytes:
    """Return the released notebook as bytes; `cells` come before its first graded one, and last."""
    notebook = released_notebook()
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    place = names.index(graded_names()[0])
    notebook.cells[place:place] = cells
    notebook.cells += cells
    return json.dumps(notebook).encode()


def submission_ids(course: Path) -> dict[str, str]:
    """Return the submitted notebooks' ids by learner, which formgrader's addresses contain."""
    with gradebook(course) as book:
        found = book.notebook_submissions(LESSON.name, LESSON.name)
        return {one.student.id: one.id for one in found}


def points_given(course: Path, learner: str, name: str) -> float | None:
    """Return the points that were entered by hand for a cell."""
    with gradebook(course) as book:
        return book.find_grade(name, LESSON.name, LESSON.name, learner).manual_score
