"""The rows of a report: each learner's points, grade and outcome, and remarks on them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

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
class LearnerRow:
    """One learner: what the notebook says, and what the gradebook does."""

    submission: Submission
    lesson: LessonGrades
    columns: Sequence[Column]

    @property
    def learner(self) -> str:
        return self.submission.learner

    @property
    def judged(self) -> bool:
        """Whether the checks judged an answer."""
        return any(one["graded"] and one["answered"] for one in self.submission.verdicts.values())

    @property
    def late(self) -> timedelta:
        """How long after the due date it was handed in."""
        return self._known.late if self._known else timedelta(0)

    @cached_property
    def points(self) -> list[CellPoints]:
        """The points in each column."""
        return list(map(self._in_column, self.columns))

    @cached_property
    def grade(self) -> float | None:
        """The points of the lesson; None if there is no grade."""
        grade, submission = self._known, self.submission
        if grade.waiting if grade else submission.outcome == Outcome.NOT_GRADED:
            return None
        if grade:
            return grade.points if math.isfinite(grade.points) else None
        if self.lesson.most or not submission.verdicts:
            return None
        return sum(verdict["points"] for verdict in submission.verdicts.values())

    @cached_property
    def outcome(self) -> str:
        """The outcome, or UNREADABLE: not graded without a grade, whatever the notebook says.

        A notebook without an outcome, such as an instructor's own, is graded if it is complete.
        """
        recorded = self.submission.outcome
        whole = self.submission.graded is not None and self._known is not None
        if not recorded and (self.lesson.checks or not whole):
            return UNREADABLE
        return Outcome.NOT_GRADED if self.grade is None else recorded or Outcome.GRADED

    @property
    def has_no_grade(self) -> bool:
        """Whether it is not graded, or can't be read."""
        return self.outcome in (Outcome.NOT_GRADED, UNREADABLE)

    @property
    def to_grade(self) -> str:
        """What a person still has to grade, in words; "" if there is nothing."""
        if not self._known or not self._known.waiting:
            return ""
        cells = [cell for cell in self.lesson.most if cell in self._known.waiting_for]
        everything = len(cells) == len(self.lesson.most)
        return f"To grade by hand: {'everything' if everything else self._exercises(cells)}."

    @property
    def why_no_grade(self) -> str:
        """Why there is no grade."""
        waits = self.to_grade if self.outcome == Outcome.NOT_GRADED else ""
        return self.submission.reason or waits or " ".join(self.remarks)

    @property
    def remarks(self) -> list[str]:
        return [*self.submission.troubles, *self._remarks()]

    def _exercises(self, cells: Iterable[str]) -> str:
        return ", ".join(f"`{self.lesson.checks.get(cell, cell)}`" for cell in cells)

    @property
    def _known(self) -> Grade | None:
        return self.lesson.learners.get(self.learner)

    def _in_column(self, column: Column) -> CellPoints:
        """Return the points for one graded cell."""
        verdict = self.submission.verdicts.get(column.exercise)
        judged = verdict["points"] if verdict and verdict["graded"] else None
        cell = self._known.by_name.get(column.cell) if self._known else None
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
        submission, grade = self.submission, self._known
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
        if grade and grade.adjusted_cells:
            yield f"In adjustments.csv: {self._exercises(grade.adjusted_cells)}."
        if self.to_grade:
            yield self.to_grade
