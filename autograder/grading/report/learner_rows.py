"""The rows of a report: each learner's points, grade and outcome, and remarks on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from autograder.grading.gradebook.grades import Grade, LessonGrades
from autograder.grading.pages.template import duration
from autograder.grading.report.submissions import Submission
from autograder.grading.worker.job import Outcome

UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Column:
    """One graded cell: its name, its title, its points, and the exercise that it checks."""

    cell: str
    title: str
    most: float
    exercise: str


@dataclass(frozen=True)
class CellPoints:
    """One learner's points for one column.

    state: "full", "partial", "none", "unanswered" or "".
    """

    points: float | None
    state: str


@dataclass(frozen=True)
class LearnerRow:
    """One learner.

    outcome: not graded also if points are missing that only a person can give; or UNREADABLE.
    judged: whether the checks judged an answer.
    grade: the points of the lesson, if there is a grade.
    late: how long after the due date it was handed in.
    """

    learner: str
    outcome: str
    judged: bool
    grade: float | None
    late: timedelta
    points: list[CellPoints]
    remarks: list[str]

    @property
    def is_lacking(self) -> bool:
        """Whether it is not graded, or can't be read."""
        return self.outcome in (Outcome.NOT_GRADED, UNREADABLE)


def lesson_columns(
    submissions: Sequence[Submission], known: LessonGrades, answers: Sequence[str]
) -> list[Column]:
    """List the graded cells in lesson order, which the gradebook does not store.

    answers: the lesson's answer cells in order; [] if that is not known.
    """
    longest = max(submissions, key=lambda s: len(s.verdicts), default=None)
    order = answers or (list(longest.verdicts) if longest else [])
    if not known.most:
        facts = longest.verdicts.items() if longest else []
        return [Column("", name, verdict["max_points"], name) for name, verdict in facts]
    exercises = {cell: known.checks.get(cell, "") for cell in known.most}
    columns = [
        Column(cell, exercise or cell, known.most[cell], exercise)
        for cell, exercise in exercises.items()
    ]
    places = {name: place for place, name in enumerate(order)}
    return sorted(columns, key=lambda c: (places.get(c.exercise or c.cell, len(places)), c.title))


def learner_row(
    submission: Submission, columns: Sequence[Column], known: LessonGrades
) -> LearnerRow:
    grade = known.learners.get(submission.learner)
    points = _lesson_points(submission, grade, known)
    return LearnerRow(
        learner=submission.learner,
        outcome=_outcome(submission, grade, known, points),
        judged=any(one["graded"] and one["answered"] for one in submission.verdicts.values()),
        grade=points,
        late=grade.late if grade else timedelta(0),
        points=[_points(submission, column, grade, known) for column in columns],
        remarks=submission.troubles + _remarks(submission, grade, known),
    )


def _outcome(
    submission: Submission, grade: Grade | None, known: LessonGrades, points: float | None
) -> str:
    """Return the outcome: not graded if there is no grade yet, whatever the notebook says.

    A notebook without an outcome, such as an instructor's own, is graded if it is complete.
    """
    whole = submission.graded is not None and grade is not None
    if not submission.outcome and (known.checks or not whole):
        return UNREADABLE
    return Outcome.NOT_GRADED if points is None else submission.outcome or Outcome.GRADED


def _lesson_points(
    submission: Submission, grade: Grade | None, known: LessonGrades
) -> float | None:
    if grade.waiting if grade else submission.outcome == Outcome.NOT_GRADED:
        return None
    if grade:
        return grade.points if math.isfinite(grade.points) else None
    if known.most or not submission.verdicts:
        return None
    return sum(verdict["points"] for verdict in submission.verdicts.values())


def _points(
    submission: Submission, column: Column, grade: Grade | None, known: LessonGrades
) -> CellPoints:
    verdict = submission.verdicts.get(column.exercise)
    judged = verdict["points"] if verdict and verdict["graded"] else None
    cell = grade.by_name.get(column.cell) if grade else None
    points = cell.points if cell else judged
    if points is None:
        return CellPoints(None, "")
    untouched = submission.sources.get(column.cell) == known.released.get(column.cell, "")
    if not points and (untouched if verdict is None else not verdict["answered"]):
        return CellPoints(points, "unanswered")
    return CellPoints(points, "full" if points >= column.most else "partial" if points else "none")


def _remarks(submission: Submission, grade: Grade | None, known: LessonGrades) -> list[str]:
    remarks = []
    if known.checks and submission.graded and not submission.verdicts:
        remarks.append("The autograded notebook holds no verdicts: grade it again.")
    if known.most and not grade:
        remarks.append("There is no grade in the gradebook.")
    if grade and (grade.late or grade.penalty):
        late = duration(grade.late.total_seconds())
        remarks.append(f"Late by {late}: {grade.penalty:g} taken off.")
    if submission.earlier:
        before = ", ".join("none" if m is None else f"{m:g}" for m in submission.earlier)
        remarks.append(f"Handed in again. Grades before: {before}.")
    if grade and grade.by_hand:
        remarks.append("Partly graded by hand.")
    if grade and grade.waiting:
        remarks.append(to_grade(grade, known))
    return remarks


def to_grade(grade: Grade, known: LessonGrades) -> str:
    """Say what a person still has to grade."""
    cells = [cell for cell in known.most if cell in grade.waiting_for]
    names = ", ".join(f"`{known.checks.get(cell, cell)}`" for cell in cells)
    return f"To grade by hand: {'everything' if len(cells) == len(known.most) else names}."
