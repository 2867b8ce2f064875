"""The form in which Gradescope takes results.

See "Autograder Specifications" in Gradescope's documentation of autograders.
"""

from typing import Any

from autograder.grading.platforms.parts import GradedPart, earned, message, parts_of
from autograder.grading.single.result import ResultData
from autograder.judging.code_marks import as_html


def results(result: ResultData, show: str) -> dict[str, Any]:
    """Return what `results.json` holds.

    show: when learners see the parts, in Gradescope's words. They see the message at once.
    """
    return {
        "score": earned(result),
        "execution_time": round(result["seconds"]),
        "output": as_html(message(result)),
        "output_format": "html",
        "test_output_format": "html",
        "visibility": show,
        "tests": [*map(_test, parts_of(result))],
    }


def _test(part: GradedPart) -> dict[str, Any]:
    test = {"number": part.number, "name": part.name, "output": as_html(part.sentence)}
    if part.points is None:
        return test
    return test | {"score": part.points, "max_score": part.most}
