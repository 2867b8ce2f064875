"""Bring nbgrader's gradebook up to date with the tables of a term.

What the tables don't mention stays: no learner is removed, no name erased, and a lesson without a
due date keeps the one that it has in the gradebook. Extensions are those of extensions.csv; without
such a file, they stay too.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment
from sqlalchemy import select
from sqlalchemy.orm import selectinload

from autograder.grading.gradebook.grades import Grade
from autograder.grading.gradebook.lesson_grades import cell_grades
from autograder.grading.term.dates import shown
from autograder.grading.term.tables import Term, due_for, late_penalty, terms_of

NAMES = ("last_name", "first_name", "email")


def bring_up_to_date(gradebook: Gradebook, term: Term, dry: bool = False) -> list[str]:
    """Enter learners, due dates, extensions and late penalties; return what changed, in words.

    Only existing lessons and submissions change. Penalties follow a lesson's `late_percent`, so an
    extension given after grading counts, and so do points that a person gave.

    dry: write nothing, and return what would change.
    """
    changes = [*_learners(gradebook, term), *_due_dates(gradebook, term)]
    changes += _submissions(gradebook, term)
    if dry:
        gradebook.db.rollback()
    elif changes:
        gradebook.db.commit()
    return changes


def enter_due_date(gradebook: Gradebook, lesson: str, learner: str, term: Term) -> None:
    """Enter when one submission was due. After that, nbgrader knows whether it is late."""
    if _set_due_dates(gradebook.find_submission(lesson, learner), term):
        gradebook.db.commit()


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
    for lesson in gradebook.assignments:
        if _set_due(lesson, term):
            yield f"{lesson.name} is due {shown(lesson.duedate)}"


def _submissions(gradebook: Gradebook, term: Term) -> Iterator[str]:
    for lesson in gradebook.assignments:
        if term.all_extensions or lesson.name in term.lessons:
            points = _points(gradebook, lesson, term)
            for submission in _submitted(gradebook, lesson):
                yield from _submission(submission, points, term)


def _submission(
    submission: SubmittedAssignment, points: dict[str, float], term: Term
) -> Iterator[str]:
    about = f"{submission.student_id}, {submission.assignment.name}"
    if _set_due_dates(submission, term):
        yield f"{about}: due {shown(submission.duedate)}"
    if _set_penalties(submission, points, term):
        lost = sum(one.late_submission_penalty or 0 for one in submission.notebooks)
        yield f"{about}: late penalty {lost:g}"


def _submitted(gradebook: Gradebook, lesson: Assignment) -> Iterator[SubmittedAssignment]:
    """Read the submissions to a lesson with their notebooks, in two queries."""
    query = select(SubmittedAssignment).where(SubmittedAssignment.assignment_id == lesson.id)
    return iter(gradebook.db.scalars(query.options(selectinload(SubmittedAssignment.notebooks))))


def _points(gradebook: Gradebook, lesson: Assignment, term: Term) -> dict[str, float]:
    """Return the points of the submitted notebooks, by their ids, before any penalty.

    nbgrader's own `score` of a notebook would ask once for each.
    """
    cells = defaultdict(list)
    for learner, notebook, cell in cell_grades(gradebook, lesson.name):
        cells[learner, notebook].append(cell)
    return {
        notebook: Grade(tuple(found))
        .with_adjustments(term.adjustments_for(lesson.name, learner))
        .before_penalty
        for (learner, notebook), found in cells.items()
    }


def _set_due_dates(submission: SubmittedAssignment, term: Term) -> bool:
    """Set when a lesson is due, and the learner's extension; return whether anything changed."""
    due_changed = _set_due(submission.assignment, term)
    return _change(submission, extension=_extension(submission, term)) or due_changed


def _set_due(lesson: Assignment, term: Term) -> bool:
    due = terms_of(term, lesson.name).due
    return due is not None and _change(lesson, duedate=due)


def _extension(submission: SubmittedAssignment, term: Term) -> timedelta | None:
    """Return a learner's extra time beyond the lesson's due date; None if there is none."""
    if not term.all_extensions:
        return submission.extension
    start = submission.assignment.duedate
    due = due_for(term, submission.student_id, submission.assignment.name)
    return due - start if start and due and due > start else None


def _set_penalties(submission: SubmittedAssignment, points: dict[str, float], term: Term) -> bool:
    percent = terms_of(term, submission.assignment.name).late_percent
    if percent is None:
        return False
    late = submission.total_seconds_late
    penalties = {
        notebook: late_penalty(points.get(notebook.id, 0.0), late, percent)
        for notebook in submission.notebooks
    }
    changed = [_change(one, late_submission_penalty=lost) for one, lost in penalties.items()]
    return any(changed)


def _change(row: Any, **values: object) -> bool:
    """Set attributes of a gradebook row; return whether any of them changed."""
    different = {name: value for name, value in values.items() if getattr(row, name) != value}
    for name, value in different.items():
        setattr(row, name, value)
    return bool(different)
