"""Bring nbgrader's gradebook up to date with the tables of a term.

What the tables don't mention stays: no learner is removed, no name erased, and a lesson without a
due date keeps the one that it has in the gradebook. Extensions are those of extensions.csv; without
such a file, they stay too.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Select, select
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import CourseError
from autograder.grading.term.dates import shown
from autograder.grading.term.tables import Term, due_for, late_penalty, terms_of

NAMES = ("last_name", "first_name", "email")


def unreadable(error: Exception) -> CourseError:
    """Return what to say of a gradebook that can't be read; `error` could hold a password."""
    return CourseError(
        f"The gradebook can't be read ({type(error).__name__}); nothing was done. Is its address "
        "right (c.CourseDirectory.db_url)? If its file is damaged, restore a backup."
    )


def require_readable(coursedir: CourseDirectory) -> None:
    """Raise CourseError if there is a gradebook that can't be read."""
    try:
        with Gradebook(coursedir.db_url, coursedir.course_id):
            pass
    except SQLAlchemyError as error:
        raise unreadable(error) from error


def bring_up_to_date(gradebook: Gradebook, term: Term, dry: bool = False) -> list[str]:
    """Enter learners, due dates, extensions and late penalties; return what changed, in words.

    Only existing assignments and submissions change. Penalties follow a lesson's `late_percent`,
    so an extension given after grading counts, and so do points that a person gave. dry: write
    nothing, and return what would change.
    """
    changes = [*_learners(gradebook, term), *_due_dates(gradebook, term)]
    changes += _submissions(gradebook, term)
    if dry:
        gradebook.db.rollback()
    elif changes:
        gradebook.db.commit()
    return changes


def set_due_dates(submission: SubmittedAssignment, term: Term) -> bool:
    """Set the due date of a submission's lesson, and the learner's extension.

    Return whether anything changed. After that, nbgrader's `total_seconds_late` is right.
    """
    due_changed = _set_due(submission.assignment, term)
    return _change(submission, extension=_extension(submission, term)) or due_changed


def waiting_to_be_marked(gradebook: Gradebook, lesson: str) -> list[str]:
    """List the learners with an answer that a person still has to mark."""
    query = _submitted(lesson).where(SubmittedAssignment.needs_manual_grade)
    return list(gradebook.db.scalars(query))


def in_gradebook(gradebook: Gradebook, lesson: str) -> list[str]:
    """List the learners with a submission to a lesson in the gradebook."""
    return list(gradebook.db.scalars(_submitted(lesson)))


def late_learners(gradebook: Gradebook, lesson: str) -> list[str]:
    """List the learners whose submission to a lesson is late."""
    found = gradebook.find_assignment(lesson).submissions
    return [submission.student_id for submission in found if submission.total_seconds_late > 0]


def _submitted(lesson: str) -> Select:
    return (
        select(SubmittedAssignment.student_id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .where(Assignment.name == lesson)
    )


def _learners(gradebook: Gradebook, term: Term) -> Iterator[str]:
    known = {student.id: student for student in gradebook.students}
    for learner in term.learners.values():
        names = {name: getattr(learner, name) for name in NAMES if getattr(learner, name)}
        if learner.learner not in known:
            gradebook.db.add(Student(id=learner.learner, **names))
            yield f"{learner} added"
        elif _change(known[learner.learner], **names):
            yield f"{learner} renamed"


def _due_dates(gradebook: Gradebook, term: Term) -> Iterator[str]:
    for assignment in gradebook.assignments:
        if _set_due(assignment, term):
            yield f"{assignment.name} is due {shown(assignment.duedate)}"


def _submissions(gradebook: Gradebook, term: Term) -> Iterator[str]:
    ruled = [
        one for one in gradebook.assignments if term.all_extensions or one.name in term.lessons
    ]
    for submission in (one for assignment in ruled for one in assignment.submissions):
        about = f"{submission.student_id}, {submission.assignment.name}"
        if set_due_dates(submission, term):
            yield f"{about}: due {shown(submission.duedate)}"
        if _set_penalties(submission, term):
            lost = sum(one.late_submission_penalty or 0 for one in submission.notebooks)
            yield f"{about}: late penalty {lost:g}"


def _set_due(assignment: Assignment, term: Term) -> bool:
    due = terms_of(term, assignment.name).due
    return due is not None and _change(assignment, duedate=due)


def _extension(submission: SubmittedAssignment, term: Term) -> timedelta | None:
    """Return the time that a learner has beyond the lesson's due date; None for none."""
    if not term.all_extensions:
        return submission.extension
    start = submission.assignment.duedate
    due = due_for(term, submission.student_id, submission.assignment.name)
    return due - start if start and due and due > start else None


def _set_penalties(submission: SubmittedAssignment, term: Term) -> bool:
    percent = terms_of(term, submission.assignment.name).late_percent
    if percent is None:
        return False
    late = submission.total_seconds_late
    return any(
        [
            _change(notebook, late_submission_penalty=late_penalty(notebook.score, late, percent))
            for notebook in submission.notebooks
        ]
    )


def _change(row: Any, **values: object) -> bool:
    """Set attributes of a row of the gradebook; return whether any had another value."""
    different = {name: value for name, value in values.items() if getattr(row, name) != value}
    for name, value in different.items():
        setattr(row, name, value)
    return bool(different)
