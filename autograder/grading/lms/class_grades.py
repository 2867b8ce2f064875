"""The marks of a class, with the reason where there is none.

nbgrader exports 0.0 for what was never handed in or not graded yet; here, that has no mark at all.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import func, or_, select

from autograder.errors import CourseError
from autograder.grading.gradebook.follow_tables import NAMES
from autograder.grading.term.learner_names import is_learner_name
from autograder.grading.term.tables import Learner, Term, is_excused


class State(StrEnum):
    """Whether a learner has a mark for a lesson, or why not."""

    GRADED = "graded"
    MISSING = "missing"
    NOT_GRADED = "not graded"
    EXCUSED = "excused"


@dataclass(frozen=True)
class Mark:
    """A learner's mark for a lesson.

    most: the highest possible mark. raw: before the late penalty.
    """

    state: State
    most: float
    raw: float = 0.0
    penalty: float = 0.0
    handed_in: datetime | None = None

    @property
    def score(self) -> float | None:
        """The mark after the late penalty, never below 0; None if there is none."""
        return max(0.0, self.raw - self.penalty) if self.state is State.GRADED else None


@dataclass(frozen=True)
class ClassMarks:
    """The marks of a class: learners by name, lessons by due date, a mark for each pair."""

    learners: list[Learner]
    lessons: list[Assignment]
    marks: dict[tuple[str, str], Mark]

    def of(self, lesson: str) -> Iterator[tuple[Learner, Mark]]:
        """Yield each learner with the mark for a lesson."""
        return ((learner, self.marks[learner.learner, lesson]) for learner in self.learners)

    def in_state(self, lesson: str, state: State) -> list[Learner]:
        """List the learners whose mark for a lesson is in a state."""
        return [learner for learner, mark in self.of(lesson) if mark.state is state]


def read_marks(
    gradebook: Gradebook,
    term: Term,
    submitted: Callable[[str, str], bool],
    lessons: Iterable[str] = (),
    learners: Iterable[str] = (),
) -> ClassMarks:
    """Read the marks of the learners in learners.csv and in the gradebook.

    submitted: whether the course directory has a learner's submission to a lesson; one that was
    never graded is not in the gradebook. lessons, learners: the only ones wanted, if any.
    Raises CourseError if there is no such lesson or learner.
    """
    people = _wanted(class_list(gradebook, term), learners, "learner", lambda one: one.learner)
    assignments = _wanted(gradebook.assignments, lessons, "lesson", lambda one: one.name)
    marks = {}
    for assignment in assignments:
        found = _submitted(gradebook, assignment)
        for learner in people:
            pair = learner.learner, assignment.name
            mark = found.get(learner.learner, Mark(State.MISSING, assignment.max_score))
            if is_excused(term, *pair):
                mark = replace(mark, state=State.EXCUSED)
            elif mark.state is State.MISSING and submitted(*pair):
                mark = replace(mark, state=State.NOT_GRADED)
            marks[pair] = mark
    return ClassMarks(people, assignments, marks)


def class_list(gradebook: Gradebook, term: Term) -> list[Learner]:
    """List the learners of learners.csv and of the gradebook by last name."""
    students = (student for student in gradebook.students if is_learner_name(student.id))
    known = {student.id: student for student in students}
    everyone = dict.fromkeys([*term.learners, *known])
    learners = (_merged(term.learners.get(id, Learner(id)), known.get(id)) for id in everyone)
    return sorted(learners, key=_place)


def number(value: float | None) -> str:
    """Write a number without needless digits; "" for None."""
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def _place(learner: Learner) -> tuple[str, str, str]:
    return _plain(learner.last_name), _plain(learner.first_name), learner.learner


def _plain(name: str) -> str:
    """Return a name in small letters without accents, so that Öz comes before Smith."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _wanted(found: list[Any], names: Iterable[str], kind: str, name_of: Callable) -> list[Any]:
    """Pick the things with these names; all of them if there are no names."""
    by_name, names = {name_of(thing): thing for thing in found}, list(names)
    for name in names:
        if name not in by_name:
            known = ", ".join(sorted(by_name)) or "none at all"
            raise CourseError(f"The gradebook has no {kind} {name!r}, only {known}.")
    return [by_name[name] for name in names] or found


def _merged(learner: Learner, student: Student | None) -> Learner:
    """Fill in what learners.csv leaves open with what the gradebook knows."""
    blank = [name for name in NAMES if not getattr(learner, name)]
    return replace(learner, **{name: getattr(student, name, None) or "" for name in blank})


def _submitted(gradebook: Gradebook, assignment: Assignment) -> dict[str, Mark]:
    """Read the marks of those who are in the gradebook with a submission."""
    graded = dict(gradebook.db.execute(_graded_cells(assignment)).all())
    query = select(
        SubmittedAssignment.student_id,
        SubmittedAssignment.score,
        SubmittedAssignment.late_submission_penalty,
        SubmittedAssignment.timestamp,
    ).where(SubmittedAssignment.assignment_id == assignment.id)
    cells = gradebook.db.execute(_cells_to_grade(assignment)).scalar_one()
    most = assignment.max_score
    return {
        learner: Mark(
            State.GRADED if graded.get(learner, 0) >= cells else State.NOT_GRADED,
            most,
            score,
            penalty,
            timestamp,
        )
        for learner, score, penalty, timestamp in gradebook.db.execute(query)
    }


def _cells_to_grade(assignment: Assignment) -> Any:
    kinds = or_(BaseCell.type == GradeCell.__name__, BaseCell.type == TaskCell.__name__)
    return (
        select(func.count())
        .select_from(BaseCell)
        .join(Notebook, BaseCell.notebook_id == Notebook.id)
        .where(Notebook.assignment_id == assignment.id, kinds)
    )


def _graded_cells(assignment: Assignment) -> Any:
    """Select how many of a submission's grades are final, by learner."""
    return (
        select(SubmittedAssignment.student_id, func.count())
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(
            SubmittedAssignment.assignment_id == assignment.id,
            Grade.needs_manual_grade.is_(False),
            or_(Grade.auto_score.is_not(None), Grade.manual_score.is_not(None)),
        )
        .group_by(SubmittedAssignment.student_id)
    )
