"""Count the outcomes of a run, and say who failed and why."""

from collections.abc import Iterator

OUTCOMES = ("graded", "unanswered", "failed")
LONGEST_REASON = 300


def printable(text: str) -> str:
    """Replace characters that would move the cursor, color a terminal or start a new line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


class Summary:
    """Outcomes of submissions as they come in.

    An outcome is one of `OUTCOMES`; if a submission has several notebooks, the worst counts.
    """

    def __init__(self) -> None:
        self.learners: dict[str, list[tuple[str, str]]] = {outcome: [] for outcome in OUTCOMES}
        self.untouched = 0
        self.failed_before: list[tuple[str, str]] = []

    def add(self, learner: str, outcome: str, reason: str = "") -> None:
        self.learners[outcome].append(_told(learner, reason))

    def leave(self, learner: str, failure: str) -> None:
        """Count a submission left as an earlier run graded it; failure: why that run failed."""
        self.untouched += 1
        if failure:
            self.failed_before.append(_told(learner, failure))

    def lines(self) -> Iterator[str]:
        """Yield a line for each failure, one for all who answered nothing, and one of counts."""
        for learner, reason in sorted(self.failed_before):
            yield f"failed in an earlier run: {learner}: {reason}"
        for learner, reason in sorted(self.learners["failed"]):
            yield f"failed: {learner}: {reason}"
        if self.learners["unanswered"]:
            names = sorted(learner for learner, _ in self.learners["unanswered"])
            yield f"unanswered: {', '.join(names)}"
        counts = ", ".join(f"{len(who)} {outcome}" for outcome, who in self.learners.items())
        yield f"{counts}, {self.untouched} untouched since an earlier run"


def _told(learner: str, reason: str) -> tuple[str, str]:
    return printable(learner), printable(" ".join(reason.split())[:LONGEST_REASON])
