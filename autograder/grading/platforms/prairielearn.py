"""The form in which PrairieLearn takes the results of an external grader.

See "External Grading" in PrairieLearn's documentation.
"""

from typing import Any

from autograder.grading.platforms.parts import GradedPart, earned, message, parts_of
from autograder.grading.single.result import ResultData
from autograder.grading.worker.job import Outcome


def results(result: ResultData, show: str) -> dict[str, Any]:
    """Return what `results.json` holds. What learners see of it is set in PrairieLearn."""
    if result["outcome"] == Outcome.NOT_GRADED:
        return {"gradable": False, "format_errors": [message(result)]}
    return {
        "gradable": True,
        "score": earned(result) / result["max_points"],
        "message": message(result),
        "tests": [*map(_test, parts_of(result))],
    }


def _test(part: GradedPart) -> dict[str, Any]:
    return {
        "name": part.name,
        "points": part.points or 0,
        "max_points": part.most,
        "message": part.sentence,
    }
