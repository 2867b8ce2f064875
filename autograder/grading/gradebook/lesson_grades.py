"""Read the grades of a lesson, including points given by hand, extra credit and late penalties.

A few queries for the whole class: nbgrader's own properties ask once for each learner, and its sums
take a time that grows with the whole term.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from nbgrader.api import (
    Assignment,
    BaseCell,
    Gradebook,
    GradeCell,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import ColumnElement, Select, func, select

from autograder.errors import CourseError
from autograder.grading.gradebook.grades import CellGrade, Grade, LessonGrades
from autograder.grading.term.adjustments import TABLE
from autograder.grading.term.learner_names import is_learner_name
from autograder.grading.term.tables import Learner, Term


def lesson_grades(gradebook: Gradebook, lesson: str, term: Term) -> LessonGrades:
    """Read all grades of a lesson, adjusted; none if it is not in the gradebook.

    Raises CourseError if adjustments.csv names a cell that the lesson doesn't have.
    """
    cells = [*_cells(gradebook, lesson, GradeCell), *_cells(gradebook, lesson, TaskCell)]
    if cells:
        for one in term.adjustments:
            if one.lesson == lesson:
                require_cell(dict(cells), one.cell, f"{TABLE}: {lesson}")
    notebooks = select(Notebook.name).join(Assignment).where(Assignment.name == lesson)
    due = select(Assignment.duedate).where(Assignment.name == lesson)
    return LessonGrades(
        notebooks=list(gradebook.db.scalars(notebooks.order_by(Notebook.name))),
        due=gradebook.db.scalar(due),
        cells=cells,
        released={name: source or "" for name, source in gradebook.db.execute(_sources(lesson))},
        learners={
            learner: grade.with_adjustments(term.adjustments_for(lesson, learner))
            for learner, grade in submitted_grades(gradebook, lesson).items()
            if is_learner_name(learner)
        },
        names={id: learner.full_name for id, learner in known_learners(gradebook).items()},
    )


def require_cell(known: Collection[str], cell: str, lesson: str) -> None:
    """Raise CourseError unless a cell is among the graded ones.

    lesson: what the error says of the lesson before "has no graded cell".
    """
    if cell not in known:
        raise CourseError(f"{lesson} has no graded cell {cell!r}. It has {', '.join(known)}.")


def lesson_names(gradebook: Gradebook) -> list[str]:
    """List the lessons by due date."""
    names = select(Assignment.name).order_by(Assignment.duedate, Assignment.name)
    return list(gradebook.db.scalars(names))


def known_learners(gradebook: Gradebook) -> dict[str, Learner]:
    """Return everyone in the gradebook who has a name that a learner may have."""
    query = select(Student.id, Student.last_name, Student.first_name, Student.email)
    return {
        id: Learner(id, *(part or "" for part in names))
        for id, *names in gradebook.db.execute(query)
        if is_learner_name(id)
    }


def submitted_grades(
    gradebook: Gradebook, lesson: str, *only: ColumnElement[bool]
) -> dict[str, Grade]:
    """Return the grades of those who handed in a lesson, by learner.

    only: conditions on the submissions.
    """
    cells = defaultdict(list)
    for learner, _, grade in cell_grades(gradebook, lesson, *only):
        cells[learner].append(grade)
    rows = gradebook.db.execute(_submissions(lesson).where(*only))
    return {
        learner: Grade(tuple(cells[learner]), penalty or 0.0, late_by(*times), times[0])
        for learner, penalty, *times in rows
    }


def read_grade(gradebook: Gradebook, lesson: str, learner: str) -> Grade:
    """Return a learner's grade for a lesson; an empty one if nothing was handed in."""
    only = SubmittedAssignment.student_id == learner
    return submitted_grades(gradebook, lesson, only).get(learner, Grade())


def cell_grades(
    gradebook: Gradebook, lesson: str, *only: ColumnElement[bool]
) -> Iterator[tuple[str, str, CellGrade]]:
    """Yield learners, the ids of their notebooks, and their points in each graded cell."""
    row = api.Grade
    query = (
        select(
            SubmittedAssignment.student_id,
            SubmittedNotebook.id,
            BaseCell.name,
            row.max_score,
            row.auto_score,
            row.manual_score,
            func.coalesce(row.extra_credit, 0.0),
            row.needs_manual_grade,
        )
        .join(SubmittedNotebook, row.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(BaseCell, row.cell_id == BaseCell.id)
        .where(Assignment.name == lesson, *only)
    )
    return ((who, book, CellGrade(*about)) for who, book, *about in gradebook.db.execute(query))


def late_by(
    submitted: datetime | None, extension: timedelta | None, due: datetime | None
) -> timedelta:
    """Return how long after its due date something was handed in."""
    if not (submitted and due):
        return timedelta(0)
    return max(timedelta(0), submitted - due - (extension or timedelta(0)))


def _cells(gradebook: Gradebook, lesson: str, kind: type[Any]) -> list[tuple[str, float]]:
    query = _of_lesson(select(kind.name, func.coalesce(kind.max_score, 0.0)), kind, lesson)
    return [(name, points) for name, points in gradebook.db.execute(query)]


def _sources(lesson: str) -> Select[Any]:
    return _of_lesson(select(SourceCell.name, SourceCell.source), SourceCell, lesson)


def _of_lesson(query: Select[Any], kind: type[Any], lesson: str) -> Select[Any]:
    """Keep the cells that are in a lesson."""
    return (
        query.join(Notebook, kind.notebook_id == Notebook.id)
        .join(Assignment, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == lesson)
    )


def _submissions(lesson: str) -> Select[Any]:
    return (
        select(
            SubmittedAssignment.student_id,
            func.sum(SubmittedNotebook.late_submission_penalty),
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
        )
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .outerjoin(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(Assignment.name == lesson)
        .group_by(SubmittedAssignment.id, Assignment.id)
    )
