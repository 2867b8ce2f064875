"""How a class did on a lesson: who got which points, and which mistakes were made."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.asking.answer import NEVER_CALLED
from autograder.grading.report.submissions import read_submissions

# Kinds of problems that left no answer to judge.
NOTHING_CAME = NEVER_CALLED - {"undefined"}


@dataclass
class AspectReport:
    """How many got one aspect right."""

    points: float
    submissions: int = 0
    held: int = 0


@dataclass
class ExerciseReport:
    """How a class did on one exercise.

    full, partial: how many got all points, or some. lost: how many sent no answer to judge.
    wrong: who gave a wrong answer, by the mistake's name and what they were told.
    """

    max_points: float
    submissions: int = 0
    full: int = 0
    partial: int = 0
    unanswered: int = 0
    lost: int = 0
    points: float = 0
    aspects: dict[str, AspectReport] = field(default_factory=dict)
    wrong: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def mistakes(self) -> Counter:
        """How many made each mistake; unknown mistakes are listed by their message."""
        counts: Counter = Counter()
        for (mistake, sentence), learners in self.wrong.items():
            counts[mistake or f"other: {sentence}"] += len(learners)
        return counts

    def add(self, verdict: dict[str, Any], learner: str = "") -> None:
        self.submissions += 1
        self.points += verdict["points"]
        for aspect in verdict["aspects"]:
            report = self.aspects.setdefault(aspect["name"], AspectReport(aspect["points"]))
            report.submissions += 1
            report.held += aspect["held"]
        self._count(verdict, learner)

    def _count(self, verdict: dict[str, Any], learner: str) -> None:
        if not verdict["answered"]:
            self.unanswered += 1
        elif verdict["points"] == verdict["max_points"]:
            self.full += 1
        elif nothing_came(verdict):
            self.lost += 1
        else:
            self.partial += verdict["points"] > 0
            told = verdict["mistake"], verdict["sentence"]
            self.wrong.setdefault(told, []).append(learner)


def nothing_came(verdict: dict[str, Any]) -> bool:
    """Whether there was no answer to judge, such as after the notebook stopped."""
    return any(problem["kind"] in NOTHING_CAME for problem in verdict["problems"])


def read_verdicts(autograded: Path, lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Read verdicts by learner and exercise from the autograded notebooks."""
    submissions = read_submissions(autograded, lesson)
    return {submission.learner: submission.verdicts for submission in submissions}


def class_report(classes: Iterable[dict[str, dict[str, Any]]]) -> dict[str, ExerciseReport]:
    """Make a report for each exercise from each learner's verdicts."""
    reports: dict[str, ExerciseReport] = {}
    for verdicts in classes:
        for exercise, verdict in verdicts.items():
            reports.setdefault(exercise, ExerciseReport(verdict["max_points"])).add(verdict)
    return reports


def print_report(reports: dict[str, ExerciseReport]) -> None:
    for exercise, report in reports.items():
        mean = report.points / report.submissions
        print(
            f"\n{exercise}: {report.full} of {report.submissions} got all, {report.unanswered} ",
            end="",
        )
        print(f"did not answer, mean {mean:.1f} of {report.max_points} points")
        if report.lost:
            print(f"  {report.lost:>3} × no answer came in")
        for mistake, count in report.mistakes.most_common():
            print(f"  {count:>3} × {mistake}")
