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
from autograder.grading.term.read_table import read_number
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


def write_adjustments(path: Path, table: Iterable[Adjustment]) -> None:
    """Write the table."""
    write_whole(path, as_csv([COLUMNS, *(one.row for one in table)]))


def read_points(text: str) -> float | None:
    """Read the points of an adjustment; None for `excused`. Raises ValueError."""
    words = {FULL: math.inf, EXCUSED: None}
    if text.casefold() in words:
        return words[text.casefold()]
    points = read_number(text)
    if not 0 <= points < math.inf:
        raise ValueError(text)
    return points
