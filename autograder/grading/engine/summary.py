"""Count the outcomes of a run, and say who has no grade, and why."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from autograder.grading.engine.roll import Roll
from autograder.grading.term.learner_names import LONGEST, listed, printable
from autograder.grading.worker.job import Outcome

LONGEST_REASON = 300
STRANGERS = "not in learners.csv"
WITHOUT_TIME = "not late, because timestamp.txt is missing or has no time"
NO_TIMES = "nobody is late, because no submission has a time in timestamp.txt"
NO_CELL = "no points for {}, because its answer has no cell"
NO_MODULE = "graded without {}, which this machine lacks"
GONE = "no longer submitted, with grades that stay in the gradebook and exports"


class Summary:
    """Outcomes of submissions as they come in.

    refused: the names of folders that can't be a learner's, and why not.
    roll: what else there is to know about the learners.
    """

    def __init__(self, refused: Mapping[str, str]) -> None:
        self.refused = refused
        self.learners: dict[Outcome, list[tuple[str, str]]] = {one: [] for one in Outcome}
        self.unchanged = 0
        self.lacking: dict[str, set[str]] = {}
        self.not_graded_before: list[tuple[str, str]] = []
        self.roll = Roll()
        self.changes: list[tuple[str, str]] = []

    @property
    def begun(self) -> bool:
        """Whether anything has come in."""
        return any((self.refused, self.unchanged, self.changes, *self.learners.values()))

    @property
    def complete(self) -> bool:
        """Whether everybody has a grade."""
        return not (self.refused or self.not_graded_before or self.learners[Outcome.NOT_GRADED])

    def add(self, learner: str, outcome: Outcome, reason: str = "") -> None:
        self.learners[outcome].append(_told(learner, reason))

    def leave(self, learner: str, reason: str) -> None:
        """Count a submission that was left as it is.

        reason: why it has no earlier grade; "" if it has one.
        """
        self.unchanged += 1
        if reason:
            self.not_graded_before.append(_told(learner, reason))

    def lack(self, learner: str, told: str, names: Iterable[str]) -> None:
        """Remember what a submission lacks, or this machine, by name.

        told: `NO_CELL` or `NO_MODULE`.
        """
        for name in names:
            line = told.format(printable(name))
            self.lacking.setdefault(line, set()).add(printable(learner))

    def compare(self, learner: str, changed: str) -> None:
        """Count a submission in a dry run.

        changed: what would change, in words.
        """
        self.changes.append((printable(learner), printable(changed)))

    def refusals(self) -> Iterator[str]:
        """Yield a line for each folder that was left out because of its name."""
        for name, why in sorted(self.refused.items()):
            shown = printable(name[: LONGEST + 1]) + "…" * (len(name) > LONGEST)
            yield (
                f"refused: the folder {shown!r} in submitted can't have a learner's name: {why}. "
                "Rename it to the learner's name, or remove it"
            )

    def dry_lines(self) -> Iterator[str]:
        """Yield a line for each learner whose points would change, and counts."""
        yield from self.refusals()
        yield from _line(STRANGERS, self.roll.strangers)
        changes = [(learner, changed) for learner, changed in sorted(self.changes) if changed]
        for learner, changed in changes:
            yield f"{learner}: {changed}"
        yield (
            f"{len(changes)} of {len(self.changes)} would change, {self.unchanged} stay as they "
            "are; nothing was written"
        )

    def lines(self) -> Iterator[str]:
        """Yield a line for each learner without a grade, one for empty submissions, and counts."""
        yield from self.refusals()
        for learner, reason in sorted(self.not_graded_before):
            yield f"not graded in an earlier run: {learner}: {reason}"
        for learner, reason in sorted(self.learners[Outcome.NOT_GRADED]):
            yield f"not graded: {learner}: {reason}"
        yield from _line("unanswered", [who for who, _ in self.learners[Outcome.UNANSWERED]])
        for told, learners in self.lacking.items():
            yield from _line(told, learners)
        yield from _line("to grade by hand, in formgrader", self._to_grade_by_hand())
        if len(self.roll.without_time) == self.roll.here > 1:
            yield NO_TIMES
        else:
            yield from _line(WITHOUT_TIME, self.roll.without_time)
        yield from _line("late", self.roll.late)
        yield from _line(STRANGERS, self.roll.strangers)
        yield from _line(GONE, self.roll.gone)
        counts = ", ".join(f"{len(who)} {outcome}" for outcome, who in self.learners.items())
        without = len(self.not_graded_before)
        ending = f", {without} of them not graded" if without else ""
        yield f"{counts}, {self.unchanged} unchanged since an earlier run{ending}"

    def _to_grade_by_hand(self) -> set[str]:
        """Return those who wait for a person, except those who could not be graded."""
        told = {name for name, _ in (*self.not_graded_before, *self.learners[Outcome.NOT_GRADED])}
        return set(map(printable, self.roll.waiting)) - told


def _line(told: str, learners: Collection[str]) -> Iterator[str]:
    """Yield a line that names learners, if there are any."""
    if learners:
        yield f"{told}: {listed(map(printable, learners))}"


def _told(learner: str, reason: str) -> tuple[str, str]:
    return printable(learner), printable(" ".join(reason.split())[:LONGEST_REASON])
