"""What a platform shows of a result: a message, the points, and what they are made of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.grading.single.result import ResultData
from autograder.grading.worker.job import Outcome
from autograder.judging.code_marks import count


@dataclass(frozen=True)
class GradedPart:
    """An aspect of an exercise; or a whole one, if nobody answered it or it has other points.

    number: its exercise's, and its own in that.
    points: None if a person has to give them.
    sentence: what is wrong, with code in backticks; it stands with the first part that it costs.
    """

    number: str
    name: str
    points: float | None
    most: float
    sentence: str = ""


def parts_of(result: ResultData) -> list[GradedPart]:
    """List the parts; none if the notebook is not graded."""
    if result["outcome"] == Outcome.NOT_GRADED:
        return []
    exercises = enumerate(result["exercises"], 1)
    return [part for number, exercise in exercises for part in _parts(number, exercise)]


def earned(result: ResultData) -> float:
    """Return the points that are known; 0 if the notebook is not graded."""
    if result["outcome"] == Outcome.NOT_GRADED:
        return 0.0
    return float(sum(exercise["points"] or 0 for exercise in result["exercises"]))


def message(result: ResultData) -> str:
    """Say in a few words what became of the notebook, with code in backticks."""
    if result["outcome"] == Outcome.NOT_GRADED:
        return f"Not graded: {result['reason']}"
    answered = sum(exercise["answered"] is True for exercise in result["exercises"])
    said = f"Graded: {answered} of {count(len(result['exercises']), 'exercise')} answered."
    if result["lacking"]:
        said += f" It ran without modules that the grader lacks: {', '.join(result['lacking'])}."
    return said


def _parts(number: int, exercise: Mapping[str, Any]) -> Iterator[GradedPart]:
    aspects, sentence = exercise["aspects"], _sentence(exercise)
    total = sum(aspect["points"] or 0 for aspect in aspects)
    if not aspects or not exercise["answered"] or total != exercise["points"]:
        most = exercise["max_points"]
        yield GradedPart(f"{number}", exercise["name"], exercise["points"], most, sentence)
        return
    costly = [aspect for aspect in aspects if aspect["points"] != aspect["max_points"]]
    for place, aspect in enumerate(aspects, 1):
        yield GradedPart(
            f"{number}.{place}",
            f"{exercise['name']}: {aspect['name']}",
            aspect["points"],
            aspect["max_points"],
            sentence if aspect is (costly or aspects)[0] else "",
        )


def _sentence(exercise: Mapping[str, Any]) -> str:
    if exercise["answered"] is False:
        return "Not answered."
    return exercise["sentence"] if exercise["judged"] else "Not graded yet: a person will."
