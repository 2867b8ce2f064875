"""Make the gradebook follow a new version of a notebook that somebody has handed in.

nbgrader's gradebook has rows for each cell, and below them rows for each submission.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    TaskCell,
)
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

from autograder.errors import CourseError
from autograder.grading.term.learner_names import listed
from autograder.lessons.cells import grade_id_of

# What each submission has for a cell of each kind.
ROWS = {
    GradeCell: (Grade,),
    SolutionCell: (Comment,),
    TaskCell: (Grade, Comment),
    SourceCell: (),
}


def follow_version(gradebook: Gradebook, lesson: str, source: Path) -> None:
    """Add the cells that are new, without points, and remove those that are gone.

    source: the new version of the notebook. If nobody has handed it in, nbgrader does the rest.
    Raises CourseError if a cell is gone in which something was given by hand.
    """
    try:
        known = gradebook.find_notebook(source.stem, lesson)
    except MissingEntry:
        return
    if known.submissions:
        _follow(gradebook, known, nbformat.read(source, as_version=4))


def _follow(gradebook: Gradebook, known: Notebook, version: NotebookNode) -> None:
    cells = {grade_id_of(cell): cell for cell in version.cells if grade_id_of(cell)}
    wanted = {(kind, name) for name, cell in cells.items() for kind in _kinds(cell)}
    had = {(type(row), row.name): row for row in _rows(known)}
    gone = [row for key, row in had.items() if key not in wanted]
    _require_nothing_by_hand(gone)
    for row in gone:
        _remove(gradebook, row)
    for kind, name in wanted - had.keys():
        _add(gradebook, known, kind, cells[name])
    gradebook.db.commit()


def _kinds(cell: NotebookNode) -> Iterator[type]:
    if is_grade(cell):
        yield GradeCell
    if is_solution(cell):
        yield SolutionCell
    if is_task(cell):
        yield TaskCell
    if is_grade(cell) or is_solution(cell) or is_task(cell) or is_locked(cell):
        yield SourceCell


def _rows(known: Notebook) -> list[BaseCell | SourceCell]:
    return [
        *known.grade_cells,
        *known.solution_cells,
        *known.task_cells,
        *known.source_cells,
    ]


def _require_nothing_by_hand(gone: Iterable[BaseCell | SourceCell]) -> None:
    given: dict[str, set[str]] = {}
    for row in gone:
        entries = (*row.grades, *row.comments) if isinstance(row, BaseCell) else ()
        for learner in (entry.student.id for entry in entries if _by_hand(entry)):
            given.setdefault(row.name, set()).add(learner)
    if given:
        told = "; ".join(f"{name} (for {listed(who)})" for name, who in given.items())
        raise CourseError(
            f"The new version lacks cells in which you gave points or comments by hand: {told}. "
            "Keep these cells, or clear what you gave in formgrader first."
        )


def _by_hand(entry: Grade | Comment) -> bool:
    if isinstance(entry, Comment):
        return bool(entry.manual_comment)
    return entry.manual_score is not None or bool(entry.extra_credit)


def _remove(gradebook: Gradebook, row: BaseCell | SourceCell) -> None:
    below = [*row.grades, *row.comments] if isinstance(row, BaseCell) else []
    for entry in (*below, row):
        gradebook.db.delete(entry)


def _add(gradebook: Gradebook, known: Notebook, kind: type, cell: NotebookNode) -> None:
    about = {} if kind is SolutionCell else {"cell_type": cell.cell_type}
    if Grade in ROWS[kind]:
        about["max_score"] = float(cell.metadata.nbgrader["points"])
    row = kind(name=grade_id_of(cell), notebook=known, **about)
    gradebook.db.add(row)
    for submitted in known.submissions:
        gradebook.db.add_all(entry(cell=row, notebook=submitted) for entry in ROWS[kind])
