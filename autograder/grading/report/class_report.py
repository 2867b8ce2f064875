"""How a class did on a lesson: who got how many points, and which mistakes were made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.asking.problem import ProblemKind
from autograder.judging.verdict import NEVER_CALLED

# Kinds of problems that leave no answer to judge.
NOTHING_CAME = NEVER_CALLED - {ProblemKind.UNDEFINED}
GIVEN_UP = "given up"  # listed among the mistakes of a report if it happened


@dataclass(frozen=True)
class Diagnosis:
    """What the check found in a wrong answer, by ids. Answers with the same one count together.

    mistake: the name of the known mistake, or GIVEN_UP; if there is one, it says it all.
    blamed_on: the exercises to be finished first.
    rules: those that found something.
    problems: their kinds and details.
    """

    mistake: str
    blamed_on: tuple[str, ...]
    rules: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, verdict: Mapping[str, Any]) -> "Diagnosis":
        mistake = GIVEN_UP if verdict["given_up"] else verdict["mistake"]
        blamed_on = tuple(verdict["blamed_on"])
        if mistake:
            return cls(mistake, blamed_on)
        problems = tuple((one["kind"], one["detail"]) for one in verdict["problems"])
        return cls(mistake, blamed_on, tuple(verdict["rules"]), problems)


@dataclass
class AspectReport:
    """How many got one aspect right."""

    points: float
    submissions: int = 0
    held: int = 0


@dataclass
class ExerciseReport:
    """How those who have points for an exercise did on it.

    full: how many have all points.
    partial: how many have some points.
    unanswered: how many left it as released.
    lost: how many sent no answer to judge.
    judged: how many answers the check could judge.
    aspects: the aspects of those answers.
    wrong: who gave the wrong answers among them, with the sentence that was shown, by diagnosis.
    """

    max_points: float
    submissions: int = 0
    full: int = 0
    partial: int = 0
    unanswered: int = 0
    lost: int = 0
    judged: int = 0
    points: float = 0
    aspects: dict[str, AspectReport] = field(default_factory=dict)
    wrong: dict[Diagnosis, dict[str, str]] = field(default_factory=dict)

    def count(self, points: float, state: str) -> None:
        """Count a submission's points.

        state: "full", "partial", "none" or "unanswered".
        """
        self.submissions += 1
        self.points += points
        self.full += state == "full"
        self.partial += state == "partial"
        self.unanswered += state == "unanswered"

    def judge(self, verdict: dict[str, Any], learner: str, state: str) -> None:
        """Count what the check found in a submission whose points are already counted."""
        self.judged += 1
        for aspect in verdict["aspects"]:
            report = self.aspects.setdefault(aspect["name"], AspectReport(aspect["points"]))
            report.submissions += 1
            report.held += aspect["held"]
        if nothing_came(verdict):
            self.lost += state == "none"
        elif verdict["answered"] and verdict["points"] < verdict["max_points"]:
            self.wrong.setdefault(Diagnosis.of(verdict), {})[learner] = verdict["sentence"]


def nothing_came(verdict: Mapping[str, Any]) -> bool:
    """Whether there was no answer to judge, for example because the notebook had stopped."""
    return any(problem["kind"] in NOTHING_CAME for problem in verdict["problems"])
