"""How each learner of a term stands in each lesson: the mark, or why there is none."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from autograder.grading.report.classroom import Report, Row
from autograder.grading.term.tables import Term, due_for, is_excused


class State(StrEnum):
    """Whether a learner has a mark for a lesson, or why not."""

    MARKED = "marked"
    NOT_GRADED = "not graded"
    MISSING = "missing"
    EXCUSED = "excused"
    NOT_DUE = "not due yet"
    NOT_EXPECTED = "not expected"  # of somebody who is not in learners.csv


@dataclass(frozen=True)
class Standing:
    """How a learner stands in a lesson: the mark out of `most`, and how late it was handed in."""

    state: State
    mark: float = 0.0
    most: float = 0.0
    late: timedelta = timedelta(0)

    @property
    def handed_in(self) -> bool:
        return self.state in (State.MARKED, State.NOT_GRADED)

    @property
    def share(self) -> float:
        """The mark in percent of the lesson's points; 0 if it has none."""
        return 100 * self.mark / self.most if self.most else 0.0


@dataclass(frozen=True)
class Progress:
    """One learner's standings by lesson."""

    learner: str
    standings: Mapping[str, Standing]

    @property
    def mark(self) -> float:
        """The marks of all lessons together."""
        return sum(one.mark for one in self.standings.values())

    @property
    def most(self) -> float:
        """The points of the lessons that have a mark, or should: what is missing counts."""
        counted = (State.MARKED, State.MISSING)
        return sum(one.most for one in self.standings.values() if one.state in counted)

    @property
    def share(self) -> float:
        """The marks in percent of these points."""
        return 100 * self.mark / self.most if self.most else 0.0

    @property
    def missing(self) -> int:
        return sum(one.state is State.MISSING for one in self.standings.values())


def make_progress(
    learners: Iterable[str],
    reports: Iterable[Report],
    term: Term,
    submitted: Mapping[str, set[str]],
    now: datetime,
    strangers: Collection[str] = (),
) -> list[Progress]:
    """Say how each learner stands.

    submitted: who handed in, by lesson. now: in UTC, without a time zone, as due dates are.
    strangers: the learners of whom nothing is expected.
    """
    found: dict[str, dict[str, Standing]] = {learner: {} for learner in learners}
    for report in reports:
        rows = {row.learner: row for row in report.rows}
        waiting = submitted.get(report.lesson, set())
        for learner, standings in found.items():
            if is_excused(term, learner, report.lesson):
                standing = Standing(State.EXCUSED)
            elif learner in rows:
                standing = _handed_in(rows[learner], report)
            elif learner in waiting:
                standing = Standing(State.NOT_GRADED)
            elif learner in strangers:
                standing = Standing(State.NOT_EXPECTED)
            else:
                standing = _absent(report, due_for(term, learner, report.lesson), now)
            standings[report.lesson] = standing
    return [Progress(learner, standings) for learner, standings in found.items()]


def _handed_in(row: Row, report: Report) -> Standing:
    if row.mark is None:
        return Standing(State.NOT_GRADED, late=row.late)
    return Standing(State.MARKED, row.mark, report.most, row.late)


def _absent(report: Report, due: datetime | None, now: datetime) -> Standing:
    due = due or report.due
    return Standing(State.NOT_DUE) if due and due > now else Standing(State.MISSING, 0, report.most)
