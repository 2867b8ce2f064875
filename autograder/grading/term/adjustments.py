"""What an instructor gives to many at once: `adjustments.csv`.

A row gives a learner, or everyone, at least so many points for a cell; `full` gives all of them.
`excused` leaves the cell out: what the learner reached in the others counts for it too. A learner's
own row comes before everyone's.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.grading.term.read_table import TableRow, check_unique, read_table
from autograder.grading.term.write_table import as_csv

TABLE = "adjustments.csv"
COLUMNS = ("lesson", "cell", "points", "learner")
FULL, EXCUSED, NONE = "full", "excused", "none"
FORMS = f"write a number, {FULL!r} or {EXCUSED!r}"


@dataclass(frozen=True)
class Adjustment:
    """A row of the table.

    cell: nbgrader's name of it.
    points: at least so many; infinity for all that the cell has, None to leave it out.
    learner: "" for everyone.
    """

    lesson: str
    cell: str
    points: float | None
    learner: str = ""

    def __str__(self) -> str:
        who = self.learner or "everyone"
        if self.points is None:
            return f"`{self.cell}` doesn't count for {who}"
        most = "all" if math.isinf(self.points) else f"at least {self.points:g}"
        return f"{who} gets {most} points for `{self.cell}`"

    @property
    def row(self) -> tuple[str, ...]:
        """Its cells in the table."""
        written = EXCUSED if self.points is None else FULL if math.isinf(self.points) else ""
        return self.lesson, self.cell, written or f"{self.points:g}", self.learner


def read_adjustments(path: Path) -> tuple[Adjustment, ...]:
    """Read the table; nothing if it is missing. Raises CourseError."""
    rows = read_table(path, COLUMNS[:3], COLUMNS[3:])
    check_unique(rows, "lesson", "cell", "learner")
    return tuple(_adjustment(row) for row in rows)


def adjusted_points(
    table: Iterable[Adjustment], lesson: str, learner: str
) -> dict[str, float | None]:
    """Return what the table gives a learner for the cells of a lesson."""
    rows = [one for one in table if one.lesson == lesson and one.learner in ("", learner)]
    return {one.cell: one.points for one in sorted(rows, key=lambda one: bool(one.learner))}


def write_adjustments(path: Path, table: Iterable[Adjustment]) -> None:
    """Write the table."""
    write_whole(path, as_csv([COLUMNS, *(one.row for one in table)]))


def read_points(text: str) -> float | None:
    """Read the points of an adjustment; None for `excused`. Raises ValueError."""
    words = {FULL: math.inf, EXCUSED: None}
    if text.casefold() in words:
        return words[text.casefold()]
    points = float(text.replace(",", "."))
    if not 0 <= points < math.inf:
        raise ValueError(text)
    return points


def _adjustment(row: TableRow) -> Adjustment:
    try:
        points = read_points(row["points"])
    except ValueError:
        raise row.error(f"points {row['points']!r} can't be read: {FORMS}.") from None
    return Adjustment(row["lesson"], row["cell"], points, row["learner"])
