"""Requests for another look at an exercise: `ask_for_review("softmax", "why")` in a code cell."""

import ast
from collections.abc import Iterable

from autograder.grading.submission.calls import calls_in, named

CALLED = "ask_for_review"


def requests_in(sources: Iterable[str]) -> dict[str, str]:
    """Return why learners ask for another look, by exercise; the last reason counts.

    sources: of code cells. A reason that isn't written out in the call is "".
    """
    found = {}
    for call in calls_in(sources, CALLED):
        given = dict(zip(("exercise", "why"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if name := named(given.get("exercise", ast.Constant(None))):
            found[name] = _text(given.get("why"))
    return found


def _text(argument: ast.expr | None) -> str:
    match argument:
        case ast.Constant(str(text)):
            return text
    return ""
