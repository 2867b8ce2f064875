"""What the command prints about a result: a line for each exercise, and one for all of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from autograder.grading.term.learner_names import printable
from autograder.judging.code_marks import points_of


def summary(result: Mapping[str, Any]) -> str:
    """Put a result into a few lines that a terminal can show."""
    return "\n".join(map(printable, _lines(result)))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield from map(_exercise, result["exercises"])
    if result["lacking"]:
        yield f"It ran without modules that this machine lacks: {', '.join(result['lacking'])}"
    yield f"{result['lesson']}: {_points(result)}"


def _exercise(exercise: Mapping[str, Any]) -> str:
    points = f"{exercise['name']}: {_points(exercise)}"
    if exercise["answered"] is False:
        return f"{points}, not answered"
    return f"{points}. {exercise['sentence']}" if exercise["sentence"] else points


def _points(about: Mapping[str, Any]) -> str:
    if about["points"] is None:
        return "not graded"
    return points_of(about["points"], about["max_points"])
