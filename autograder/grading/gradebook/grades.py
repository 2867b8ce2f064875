"""A grade from the gradebook, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Self

from autograder.lessons.cells import exercise_checked


class Standing(StrEnum):
    """Whether a learner has a grade for a lesson, or why not."""

    GRADED = "graded"
    NOT_GRADED = "not graded"
    MISSING = "missing"
    EXCUSED = "excused"
    NOT_DUE = "not due yet"
    NOT_EXPECTED = "not expected"  # not in learners.csv


@dataclass(frozen=True)
class CellGrade:
    """The points of one graded cell.

    name: nbgrader's name of the cell.
    judged: the points that the check gave; None if it gave none.
    by_hand: those that the instructor gave; None if there are none.
    extra: extra credit; negative if the instructor took points off.
    waits: whether the instructor has to look at it, or look again.
    adjusted: the points that count instead, by adjustments.csv; None if it says nothing.
    """

    name: str
    most: float
    judged: float | None
    by_hand: float | None
    extra: float = 0.0
    waits: bool = False
    adjusted: float | None = None

    @property
    def points(self) -> float | None:
        """The points that count, with extra credit; None if a person still has to give them."""
        if self.adjusted is not None:
            return self.adjusted
        given = self.judged if self.by_hand is None else self.by_hand
        return None if given is None else given + self.extra

    @property
    def is_final(self) -> bool:
        return self.points is not None and not self.waits

    def raised(self, points: float | None) -> Self:
        """Return the cell with at least so many points. All of them leave nothing to wait for."""
        if points is None:
            return self
        if points >= self.most:
            return replace(self, adjusted=max(self.most, self.points or 0.0), waits=False)
        return self if self.points is None else replace(self, adjusted=max(self.points, points))


@dataclass(frozen=True)
class Grade:
    """A learner's grade for a lesson, or for one of its notebooks.

    late: how long after the due date the submission came.
    submitted: when it came in, in UTC.
    """

    cells: tuple[CellGrade, ...] = ()
    penalty: float = 0.0
    late: timedelta = timedelta(0)
    submitted: datetime | None = None

    @cached_property
    def by_name(self) -> dict[str, CellGrade]:
        return {cell.name: cell for cell in self.cells}

    @cached_property
    def before_penalty(self) -> float:
        """The points given so far, before the late penalty."""
        return sum(cell.points or 0.0 for cell in self.cells)

    @property
    def points(self) -> float:
        """The points less the penalty, never below 0."""
        return max(0.0, self.before_penalty - self.penalty)

    @property
    def most(self) -> float:
        return sum(cell.most for cell in self.cells)

    @property
    def by_hand(self) -> bool:
        """Whether a person gave some of the points."""
        return any(cell.by_hand is not None or cell.extra for cell in self.cells)

    @property
    def adjusted_cells(self) -> list[str]:
        """The cells whose points are those of adjustments.csv."""
        return [cell.name for cell in self.cells if cell.adjusted is not None]

    def with_adjustments(self, given: Mapping[str, float | None]) -> Self:
        """Return the grade as adjustments.csv has it.

        given: at least so many points, by cell; None leaves the cell out, so that the share of the
        other cells' points counts for it.
        """
        if not given:
            return self
        left_out = {name for name, points in given.items() if points is None}
        cells = [cell.raised(given.get(cell.name)) for cell in self.cells]
        rest = [cell for cell in cells if cell.name not in left_out]
        most = sum(cell.most for cell in rest)
        share = sum(cell.points or 0.0 for cell in rest) / most if most else 1.0
        for place, cell in enumerate(cells):
            if cell.name in left_out:
                cells[place] = replace(cell, adjusted=share * cell.most, waits=False)
        return replace(self, cells=tuple(cells))

    @cached_property
    def waiting_for(self) -> frozenset[str]:
        """The cells whose points still have to be given by hand."""
        return frozenset(cell.name for cell in self.cells if cell.waits)

    @property
    def waiting(self) -> bool:
        return bool(self.waiting_for)


@dataclass(frozen=True)
class LessonGrades:
    """What the gradebook knows about a lesson.

    notebooks: their names.
    due: when it is due, in UTC; None if it never is.
    cells: the graded cells and their points.
    released: the source of each cell, with stubs.
    learners: the grades of those who handed in.
    names: full names by learner, where they are known.
    """

    notebooks: list[str] = field(default_factory=list)
    due: datetime | None = None
    cells: list[tuple[str, float]] = field(default_factory=list)
    released: dict[str, str] = field(default_factory=dict)
    learners: dict[str, Grade] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @cached_property
    def most(self) -> dict[str, float]:
        """The points of each graded cell, by name."""
        return dict(self.cells)

    @property
    def points(self) -> float:
        """The points of all cells together."""
        return sum(points for _, points in self.cells)

    @cached_property
    def checks(self) -> dict[str, str]:
        """The exercise that each `check(…)` cell checks."""
        found = {name: exercise_checked(self.released.get(name, "")) for name in self.most}
        return {name: exercise for name, exercise in found.items() if exercise}

    def is_graded(self, learner: str) -> bool:
        """Whether a learner who handed in has final points for every cell."""
        return sum(cell.is_final for cell in self.learners[learner].cells) >= len(self.cells)
