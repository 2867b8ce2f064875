"""Check and bound the metadata of an autograded notebook, which may contain anything."""

import unicodedata
from itertools import islice
from typing import Any

from autograder.asking.problem import LAST_LINE
from autograder.grading.worker.job import OUTCOMES

LONGEST_NAME, LONGEST_TEXT = 80, 600
MOST_ASPECTS, MOST_PROBLEMS, MOST_NAMES = 20, 5, 20
MOST_POINTS = 10_000
# Control characters, surrogates, and marks that change the direction of text.
UNSEEN = {"Cc", "Cs", "Co", "Cn"}
TURNING = set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: object, most: int = LONGEST_TEXT) -> str:
    """Put text on one line of at most `most` characters, without invisible ones."""
    if not isinstance(text, str):
        raise ValueError(f"{type(text).__name__} where a text is due")
    line = " ".join(text[: 4 * most].split())
    clean = "".join("\N{REPLACEMENT CHARACTER}" if _is_unseen(c) else c for c in line)
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def checked_verdict(data: Any) -> dict[str, Any]:
    """Check data in the form of `Verdict.summary()`, written by anybody. Raises ValueError."""
    match data:
        case {"aspects": list(aspects), "answered": bool(answered)}:
            return {
                "exercise": visible(data.get("exercise"), LONGEST_NAME),
                "points": _number(data.get("points")),
                "max_points": _number(data.get("max_points")),
                "aspects": [_aspect(aspect) for aspect in aspects[:MOST_ASPECTS]],
                "sentence": visible(data.get("sentence")),
                "mistake": visible(data.get("mistake"), LONGEST_NAME),
                "rules": _names(data.get("rules", [])),
                "blamed_on": _names(data.get("blamed_on", [])),
                "given_up": data.get("given_up", False) is True,
                "answered": answered,
                "graded": data.get("graded", True) is True,
                "problems": _problems(data.get("problems", [])),
            }
    raise ValueError("a verdict without its aspects")


def checked_run(data: Any) -> dict[str, str]:
    """Check the engine's facts about a run. Raises ValueError."""
    match data:
        case {"outcome": str(outcome), "reason": str(reason)} if outcome in OUTCOMES:
            cause = data.get("cause", reason)
            return {"outcome": outcome, "reason": visible(reason), "cause": visible(cause)}
    raise ValueError("a run without an outcome")


def checked_requests(data: dict[str, str]) -> dict[str, str]:
    """Bound requests for another look, by exercise. Raises ValueError."""
    return {
        visible(name, LONGEST_NAME): visible(why) for name, why in islice(data.items(), MOST_NAMES)
    }


def _aspect(data: Any) -> dict[str, Any]:
    match data:
        case {"name": str(name), "held": bool(held)}:
            return {
                "name": visible(name, LONGEST_NAME),
                "points": _number(data.get("points")),
                "held": held,
                "public": _case_count(data.get("public", {})),
                "hidden": _case_count(data.get("hidden", {})),
            }
    raise ValueError("an aspect without a name")


def _case_count(data: Any) -> dict[str, float]:
    if not isinstance(data, dict):
        raise ValueError("cases that are not counted")
    return {"right": _number(data.get("right", 0)), "of": _number(data.get("of", 0))}


def _problems(data: Any) -> list[dict[str, Any]]:
    if not isinstance(data, list) or not all(isinstance(problem, dict) for problem in data):
        raise ValueError("a list of problems was expected")
    return [
        {
            "kind": visible(problem.get("kind", "")),
            "detail": visible(problem.get("detail", "")),
            "place": _place(problem.get("place")),
        }
        for problem in data[:MOST_PROBLEMS]
    ]


def _place(data: Any) -> dict[str, Any] | None:
    match data:
        case {"line": int(line), "code": str(code), "function": str(function)}:
            if 0 <= line <= LAST_LINE:
                return {"line": line, "code": visible(code), "function": visible(function)}
    return None


def _names(data: Any) -> list[str]:
    if not isinstance(data, list):
        raise ValueError(f"{type(data).__name__} where a list of names is due")
    return [visible(name, LONGEST_NAME) for name in data[:MOST_NAMES]]


def _number(value: object) -> float:
    # A comparison with NaN is never true.
    if isinstance(value, int | float) and 0 <= value <= MOST_POINTS:
        return value
    raise ValueError(f"a number from 0 to {MOST_POINTS:,} was expected")


def _is_unseen(character: str) -> bool:
    return character in TURNING or unicodedata.category(character) in UNSEEN
