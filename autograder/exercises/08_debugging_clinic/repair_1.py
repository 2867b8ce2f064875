"""Causal attention to the last `window` words, for the last n_query of n_key words."""

from typing import Any

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Repair
from autograder.lessons.variants import Alternative, Mistake

from .shared import STILL_ILL


def in_window(n_query: int, n_key: int, window: int, leading: str = "") -> Inputs:
    """Newest queries of a longer text, with a window."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.choose("n_query", n_query).choose("n_key", n_key)
        draw.fix(n_query=min(draw.size("n_query"), draw.size("n_key")))
        return draw.arguments(leading, window=window)

    return case


def opposed(draw: Draw) -> dict[str, Any]:
    """Queries and keys that point away from each other, so that all scores are far below −100."""
    draw.fix(n_query=3).choose("n_key", 5)
    direction = draw.normal("d_k", 20.0)
    query, key = draw.normal("n_query d_k"), draw.normal("n_key d_k")
    return draw.arguments(query=query + direction, key=key - direction, window=2)


CUT = "first = max(0, n_key - n_query - window + 1)"

EXERCISE = Exercise(
    "repair_1",
    returns="context",
    parts=[Repair("as it came in")],
    aspects=[
        Aspect(
            "several queries",
            1,
            [
                in_window(2, 6, 3),
                in_window(3, 7, 2, "batch"),
                in_window(3, 7, 1),
                in_window(5, 9, 2),
                in_window(3, 8, 3),
            ],
        ),
        Aspect(
            "one query, or a window as long as the text",
            1,
            [in_window(3, 5, 9), opposed, in_window(3, 4, 2), in_window(1, 6, 3)],
        ),
        connected(in_window(3, 8, 3)),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Which keys does the *first* of the queries need? Are they all there?",
            {CUT: "first = max(0, n_key - window)"},
        ),
        Mistake(
            "one key too few",
            "You keep one key too few: the first query loses the oldest word of its window.",
            {CUT: "first = max(0, n_key - n_query - window + 2)"},
        ),
        Mistake(
            "keys cut too early",
            "You cut off too many keys. The first query sees `window` − 1 words before its own "
            "place, so n_query + window − 1 keys have to stay.",
            {CUT: "first = max(0, n_key - max(window, n_query))"},
            {CUT: "first = max(0, n_key - n_query)"},
        ),
        Mistake(
            "first below 0",
            "Your first key has a negative number when the window begins before the text. Python "
            "counts that from the end: go back to 0 at most, with `max(0, …)`.",
            {CUT: "first = n_key - n_query - window + 1"},
        ),
        Mistake(
            "a window of one more",
            "The cut was wrong, but the window was right. Now yours has one word too many.",
            {"(distance < window)": "(distance <= window)"},
        ),
        Mistake(
            "no window",
            "Your words see every earlier key that you keep. Each may see only itself and the "
            "`window` − 1 words before it.",
            {"(distance >= 0) & (distance < window)": "distance >= 0"},
        ),
        Mistake(
            "no window, and nothing cut off",
            "You took the cut away, and the window with it. Each word sees only itself and the "
            "`window` − 1 words before it.",
            {CUT: "first = 0", "(distance >= 0) & (distance < window)": "distance >= 0"},
        ),
        Mistake(
            "later words seen",
            "Your words see later ones. A window looks back only: keep `distance >= 0`.",
            {"(distance >= 0) & (distance < window)": "distance < window"},
            {"(distance >= 0) & (distance < window)": "distance.abs() < window"},
            {CUT: "first = 0", "(distance >= 0) & (distance < window)": "distance < window"},
            {CUT: "first = 0", "(distance >= 0) & (distance < window)": "distance.abs() < window"},
        ),
        Mistake(
            "keys numbered from 0 after the cut",
            "After the cut, you count places from 0. Queries and keys keep their places in the "
            "text: the first key that is left is at `first`.",
            {"torch.arange(first, n_key)": "torch.arange(n_key - first)"},
            {
                "torch.arange(n_key - n_query, n_key)[:, None]": "torch.arange(n_query)[:, None]",
                "torch.arange(first, n_key)": "torch.arange(n_key - first)",
            },
        ),
        Mistake(
            "no mask",
            "Your queries see every key that is left, later ones too. Keep the mask.",
            {".masked_fill(~keep, -torch.inf)": ""},
            {CUT: "first = 0", ".masked_fill(~keep, -torch.inf)": ""},
        ),
        Mistake(
            "NaN covered up",
            "There is no NaN any more, but these queries should see some keys, and those were cut "
            "off too early.",
            {
                CUT: "first = max(0, n_key - window)",
                "softmax(dim=-1) @ value": "softmax(dim=-1).nan_to_num() @ value",
            },
            {CUT: "first = max(0, n_key - window)", "-torch.inf": "-1e9"},
        ),
        Mistake(
            "a window of one word more",
            "Your window is one word too long: it holds `window` words, the word itself included.",
            {"distance < window": "distance <= window", CUT: "first = 0"},
            {
                "distance < window": "distance <= window",
                CUT: "first = max(0, n_key - n_query - window)",
            },
        ),
    ],
    alternatives=[
        Alternative("nothing cut off", {CUT: "first = 0"}),
        Alternative(
            "the length to keep",
            {CUT: "first = max(0, n_key - (window + n_query - 1))"},
            excuses={
                "one operand dropped": "likewise: all are kept",
                "another operator": "likewise",
                "another number": "likewise",
                "arguments swapped": "the larger of two, in either order",
            },
        ),
    ],
    hints=[
        "Take six keys, three queries and a window of two. Which keys does each query see?",
        "The first query is n_query − 1 places before the last. How far back does it look?",
        "`first` is the oldest key that anybody sees: `window` − 1 places before the first query.",
    ],
    excuses={
        "another number: 1 → 0": "one key too many is hidden by the mask",
        "one operand dropped: n_key - n_query - window + 1": "likewise",
        "another operator: n_key - n_query - window + 1": "likewise",
        "operands swapped: n_key - n_query": "likewise: all are kept",
        "arguments swapped: max": "the larger of two, in either order",
        "operands swapped: (distance": "the order does not matter",
        "another fill: $X.masked_fill($M, -1e": "each query has a key to see",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "another argument: key → value in (query": "there are as many values as keys",
        "another argument: query → key in query.shape[-1]": "both have d_k features",
        "in place: key.transpose": "this is the only use of the keys",
        "by shape": "a single query sees all keys that are left",
    },
)
