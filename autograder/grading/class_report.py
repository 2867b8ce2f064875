"""How a class did on a lesson: who got what, and which mistakes were made."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder.grading.judge_answers import VERDICT


@dataclass
class ExerciseReport:
    """What became of one exercise in a class."""

    max_points: int
    submissions: int = 0
    full: int = 0
    unanswered: int = 0
    points: int = 0
    mistakes: Counter = field(default_factory=Counter)

    def add(self, verdict: dict[str, Any]) -> None:
        self.submissions += 1
        self.points += verdict["points"]
        if not verdict["answered"]:
            self.unanswered += 1
        elif verdict["points"] == verdict["max_points"]:
            self.full += 1
        else:
            self.mistakes[verdict["mistake"] or f"other: {verdict['sentence']}"] += 1


def read_verdicts(autograded: Path, lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Verdicts by student and exercise, from the notebooks that grading left."""
    paths = sorted(autograded.glob(f"*/{lesson}/{lesson}.ipynb"))
    return {path.parents[1].name: _notebook_verdicts(path) for path in paths}


def class_report(classes: Iterable[dict[str, dict[str, Any]]]) -> dict[str, ExerciseReport]:
    """A report for each exercise, from each student's verdicts."""
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
        for mistake, count in report.mistakes.most_common():
            print(f"  {count:>3} × {mistake}")


def _notebook_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    cells = nbformat.read(path, as_version=4).cells
    verdicts = [cell.metadata[VERDICT] for cell in cells if VERDICT in cell.metadata]
    return {verdict["exercise"]: verdict for verdict in verdicts}
