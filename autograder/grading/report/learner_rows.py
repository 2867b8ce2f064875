"""The rows of a report: each learner's points, grade and outcome, and remarks on them."""

import math
from collections.abc import Iterator, Sequence
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
    why_lacking: why there is no grade, if so.
    """

    learner: str
    outcome: str
    judged: bool
    grade: float | None
    late: timedelta
    points: list[CellPoints]
    remarks: list[str]
    why_lacking: str

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


@dataclass(frozen=True)
class Known:
    """What is known about a learner's submission: from the notebook, and from the gradebook."""

    submission: Submission
    lesson: LessonGrades

    @property
    def grade(self) -> Grade | None:
        return self.lesson.learners.get(self.submission.learner)

    @property
    def points(self) -> float | None:
        """The points of the lesson; None if there is no grade."""
        grade, submission = self.grade, self.submission
        if grade.waiting if grade else submission.outcome == Outcome.NOT_GRADED:
            return None
        if grade:
            return grade.points if math.isfinite(grade.points) else None
        if self.lesson.most or not submission.verdicts:
            return None
        return sum(verdict["points"] for verdict in submission.verdicts.values())

    @property
    def outcome(self) -> str:
        """The outcome: not graded if there is no grade yet, whatever the notebook says.

        A notebook without an outcome, such as an instructor's own, is graded if it is complete.
        """
        recorded = self.submission.outcome
        whole = self.submission.graded is not None and self.grade is not None
        if not recorded and (self.lesson.checks or not whole):
            return UNREADABLE
        return Outcome.NOT_GRADED if self.points is None else recorded or Outcome.GRADED

    @property
    def to_grade(self) -> str:
        """What a person still has to grade, in words; "" if there is nothing."""
        if not self.grade or not self.grade.waiting:
            return ""
        cells = [cell for cell in self.lesson.most if cell in self.grade.waiting_for]
        names = ", ".join(f"`{self.lesson.checks.get(cell, cell)}`" for cell in cells)
        return (
            f"To grade by hand: {'everything' if len(cells) == len(self.lesson.most) else names}."
        )

    @property
    def why_lacking(self) -> str:
        """Why there is no grade."""
        waits = self.to_grade if self.outcome == Outcome.NOT_GRADED else ""
        return self.submission.reason or waits or " ".join(self.remarks)

    @property
    def remarks(self) -> list[str]:
        return [*self.submission.troubles, *self._remarks()]

    def in_column(self, column: Column) -> CellPoints:
        """Return the points for one graded cell."""
        verdict = self.submission.verdicts.get(column.exercise)
        judged = verdict["points"] if verdict and verdict["graded"] else None
        cell = self.grade.by_name.get(column.cell) if self.grade else None
        points = cell.points if cell else judged
        if points is None:
            return CellPoints(None, "")
        if not points and not (verdict["answered"] if verdict else self._is_touched(column.cell)):
            return CellPoints(points, "unanswered")
        state = "full" if points >= column.most else "partial" if points else "none"
        return CellPoints(points, state)

    def _is_touched(self, cell: str) -> bool:
        return self.submission.sources.get(cell) != self.lesson.released.get(cell, "")

    def _remarks(self) -> Iterator[str]:
        submission, grade = self.submission, self.grade
        if self.lesson.checks and submission.graded and not submission.verdicts:
            yield "The autograded notebook holds no verdicts: grade it again."
        if self.lesson.most and not grade:
            yield "There is no grade in the gradebook."
        if grade and (grade.late or grade.penalty):
            late = duration(grade.late.total_seconds())
            yield f"Late by {late}: {grade.penalty:g} taken off."
        if submission.earlier:
            before = ", ".join("none" if one is None else f"{one:g}" for one in submission.earlier)
            yield f"Handed in again. Grades before: {before}."
        if grade and grade.by_hand:
            yield "Partly graded by hand."
        if self.to_grade:
            yield self.to_grade


def learner_row(known: Known, columns: Sequence[Column]) -> LearnerRow:
    return LearnerRow(
        learner=known.submission.learner,
        outcome=known.outcome,
        judged=any(v["graded"] and v["answered"] for v in known.submission.verdicts.values()),
        grade=known.points,
        late=known.grade.late if known.grade else timedelta(0),
        points=[known.in_column(column) for column in columns],
        remarks=known.remarks,
        why_lacking=known.why_lacking,
    )
