"""Marks from nbgrader's gradebook, including manual scores, extra credit and late penalties.

This only reads the gradebook; nbgrader's own `Gradebook` would create a missing one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    GradeCell,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Row, Select, create_engine, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session

from autograder.grading.gradebook.follow_tables import unreadable
from autograder.grading.term.learner_names import is_learner_name
from autograder.lessons.lesson import exercise_checked


class NoGradebook(Exception):
    """There is no gradebook; the message says where it should be."""


@dataclass
class Mark:
    """A learner's mark for the lesson.

    given: the points before the late penalty. late: how long after the due date it was handed in.
    points: by grade cell; None where there are none yet. by_hand: whether a person gave some of
    them. waiting_for: the cells whose points still have to be given by hand.
    """

    given: float = 0.0
    penalty: float = 0.0
    late: timedelta = timedelta(0)
    by_hand: bool = False
    points: dict[str, float | None] = field(default_factory=dict)
    waiting_for: set[str] = field(default_factory=set)

    @property
    def waiting(self) -> bool:
        return bool(self.waiting_for)

    @property
    def score(self) -> float:
        """The points less the penalty, never below 0."""
        return max(0.0, self.given - self.penalty)


@dataclass
class Marks:
    """What the gradebook knows about a lesson.

    notebooks: their names. due: in UTC, None if it never is.
    most: maximum points by grade cell. checks: the exercise that each `check(…)` cell checks.
    released: source by cell, with stubs. names: full names by learner, where they are known.
    """

    notebooks: list[str] = field(default_factory=list)
    due: datetime | None = None
    most: dict[str, float] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    released: dict[str, str] = field(default_factory=dict)
    learners: dict[str, Mark] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def read_marks(db_url: str, lesson: str) -> Marks:
    """Read all marks of a lesson; none if it is not in the gradebook.

    Raises NoGradebook, and CourseError if there is one that can't be read.
    """
    try:
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise NoGradebook(f"there is no file {Path(url.database or '').name}")
        engine = create_engine(url)
    except (ArgumentError, ImportError) as error:
        raise unreadable(error) from error
    try:
        with Session(engine) as session:
            return _read(session, lesson)
    except SQLAlchemyError as error:
        raise unreadable(error) from error
    finally:
        engine.dispose()


def _read(session: Session, lesson: str) -> Marks:
    sources = session.execute(_cells(lesson, SourceCell, "source"))
    most = session.execute(_cells(lesson, GradeCell, "max_score"))
    released = {name: source or "" for name, source in sources}
    marks = Marks(most=dict(most.all()), released=released)
    for name, due in session.execute(_notebooks(lesson)):
        marks.notebooks.append(name)
        marks.due = due
    checks = {name: exercise_checked(released.get(name, "")) for name in marks.most}
    marks.checks = {name: exercise for name, exercise in checks.items() if exercise}
    for learner, penalty, *times in _of_learners(session.execute(_submissions(lesson))):
        mark = marks.learners.setdefault(learner, Mark(late=_late(*times)))
        mark.penalty += penalty or 0.0
    students = session.execute(select(Student.id, Student.first_name, Student.last_name))
    for learner, *parts in _of_learners(students):
        marks.names[learner] = " ".join(filter(None, parts))
    grades = _of_learners(session.execute(_grades(lesson)))
    for learner, cell, score, auto, manual, extra, waiting in grades:
        mark = marks.learners[learner]
        mark.given += score
        mark.points[cell] = None if auto is None and manual is None else score
        mark.by_hand |= manual is not None or bool(extra)
        if waiting:
            mark.waiting_for.add(cell)
    return marks


def _of_learners(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows whose first value is a name that a learner may have."""
    return (row for row in rows if is_learner_name(row[0]))


def _late(
    handed_in: datetime | None, extension: timedelta | None, due: datetime | None
) -> timedelta:
    if not (handed_in and due):
        return timedelta(0)
    return max(timedelta(0), handed_in - due - (extension or timedelta(0)))


def _cells(lesson: str, kind: type[SourceCell] | type[GradeCell], field: str) -> Select:
    """Select a lesson's cells by name, each with one field."""
    return (
        select(kind.name, getattr(kind, field))
        .join(Notebook, kind.notebook_id == Notebook.id)
        .join(Assignment, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == lesson)
    )


def _notebooks(lesson: str) -> Select:
    return (
        select(Notebook.name, Assignment.duedate)
        .join(Assignment, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == lesson)
        .order_by(Notebook.name)
    )


def _submissions(lesson: str) -> Select:
    """Select the submissions, once for each of their notebooks.

    nbgrader's own sums of scores and penalties would take a time that grows with the whole term.
    """
    return (
        select(
            SubmittedAssignment.student_id,
            SubmittedNotebook.late_submission_penalty,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
        )
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .outerjoin(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .where(Assignment.name == lesson)
    )


def _grades(lesson: str) -> Select:
    return (
        select(
            SubmittedAssignment.student_id,
            BaseCell.name,
            Grade.score,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(Assignment.name == lesson)
    )
