"""Which tokens a query sees: the last of them, and the first ones of the text."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def seen(n_earlier: int | None = None, **sizes: int) -> Inputs:
    """The last n_query tokens of a text, after n_earlier others, or after some."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes)
        n_query = draw.size("n_query")
        n_key = n_query + (draw.size("n_earlier") if n_earlier is None else n_earlier)
        return {"n_query": n_query, "n_key": n_key} | draw.named("window n_sinks")

    return case


def exactly(*numbers: int) -> Inputs:
    """Numbers that meet: a window as long as the text, as many sinks as queries."""
    return lambda draw: dict(zip(ASKED, numbers, strict=True))


QUERY = "query, key = torch.arange(n_key - n_query, n_key)[:, None], torch.arange(n_key)"
CAUSAL, WINDOW, SINKS = "(key <= query)", "(key > query - window)", "(key < n_sinks)"
ASKED = ("n_query", "n_key", "window", "n_sinks")
THAT_MEET = [
    (6, 6, 6, 0),
    (7, 7, 2, 0),
    (7, 7, 4, 0),
    (7, 7, 2, 7),
    (1, 9, 3, 0),
    (1, 7, 7, 3),
    (1, 4, 2, 4),
    (1, 7, 1, 2),
    (5, 9, 3, 3),
    (5, 9, 3, 6),
    (4, 9, 5, 4),
    (3, 9, 5, 4),
    (2, 9, 4, 5),
    (3, 8, 1, 1),
    (6, 6, 7, 0),
    (300, 400, 140, 9),
]

ORDER, IN_WINDOW = "the order does not matter", "a token is always in its own window"
RULE = f"{CAUSAL} & ({WINDOW} | {SINKS})"

EXERCISE = Exercise(
    "sink_window",
    returns="keep",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect(
            "a window and sinks",
            2,
            [
                seen(0, n_query=9, window=3, n_sinks=2),
                seen(n_query=4, window=3, n_sinks=1),
                seen(12, n_query=1, window=4, n_sinks=3),
                seen(70, n_query=90, window=65, n_sinks=4),
            ],
        ),
        Aspect(
            "windows and sinks of any size",
            1,
            [
                seen(3, n_query=7, window=4, n_sinks=0),
                seen(0, n_query=8, window=1, n_sinks=3),
                seen(2, n_query=5, window=1, n_sinks=0),
                seen(3, n_query=5, window=20, n_sinks=2),
                seen(2, n_query=6, window=3, n_sinks=30),
                seen(0, n_query=1, window=2, n_sinks=3),
                *(exactly(*numbers) for numbers in THAT_MEET),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "the corner at the top left",
            "Your queries are the first of all tokens. They're the last: the first of them is at "
            "place n_key − n_query.",
            {QUERY: "query, key = torch.arange(n_query)[:, None], torch.arange(n_key)"},
        ),
        Mistake(
            "the token itself outside of the window",
            "Your window has one token too many. The query's own token is one of the `window` "
            "that it sees.",
            {WINDOW: "(key >= query - window)"},
        ),
        Mistake(
            "a window that is too small",
            "Your window has one token too few. It sees the query's own token and the window − 1 "
            "before it.",
            {WINDOW: "(key > query - window + 1)"},
        ),
        Mistake(
            "sinks in the future",
            "Your first queries see sinks that come after them. A sink may be seen from its own "
            "place on.",
            {RULE: f"{CAUSAL} & {WINDOW} | {SINKS}"},
        ),
        Mistake(
            "the future in the window",
            "Your queries see tokens that come after them.",
            {RULE: f"{WINDOW} | {SINKS}"},
        ),
        Mistake(
            "no sinks",
            "Your mask has a window, but no sinks: the first n_sinks tokens stay visible, however "
            "far away they are.",
            {RULE: f"{CAUSAL} & {WINDOW}"},
        ),
        Mistake(
            "sinks only in the window",
            "A token is visible if it's in the window *or* a sink: `|`, not `&`.",
            {RULE: f"{CAUSAL} & {WINDOW} & {SINKS}"},
        ),
        Mistake(
            "one sink too many",
            "You have one sink too many. The places count from 0, so the last sink is at "
            "n_sinks − 1.",
            {SINKS: "(key <= n_sinks)"},
        ),
        Mistake(
            "one sink whatever was asked for",
            "You have one sink, whatever `n_sinks` is.",
            {SINKS: "(key < 1)"},
        ),
        Mistake(
            "sinks at the start of the window",
            "You widened the window by n_sinks. The sinks are the first tokens of the text, not "
            "those just before the window.",
            {RULE: f"{CAUSAL} & (key > query - window - n_sinks)"},
        ),
        Mistake(
            "the window behind the sinks",
            "Your window gets shorter by the number of sinks. It holds the last `window` tokens, "
            "with or without sinks.",
            {WINDOW: "(key > query - window + n_sinks)"},
        ),
        Mistake(
            "all earlier tokens",
            "Your queries see all earlier tokens. Those that are neither in the window nor a sink "
            "are hidden.",
            {RULE: CAUSAL},
        ),
        Mistake(
            "as far ahead as back",
            "Your window reaches as far ahead as back: without its sign, a distance doesn't say "
            "which token comes later.",
            {RULE: f"((key - query).abs() < window) | ({CAUSAL} & {SINKS})"},
        ),
        Mistake(
            "the offset forgotten in the window",
            "Your window starts as if the queries were the first of all tokens. They're the last: "
            "shift it by n_key − n_query.",
            {
                RULE: f"{CAUSAL} & (torch.ones(n_query, n_key, dtype=torch.bool).triu(1 - window) "
                f"| {SINKS})"
            },
        ),
        Mistake(
            "itself hidden",
            "Your queries don't see their own token. It belongs to their window.",
            {CAUSAL: "(key < query)"},
        ),
        Mistake(
            "window and n_sinks exchanged",
            "You took `window` for the number of sinks, and `n_sinks` for the window.",
            {RULE: f"{CAUSAL} & ((key > query - n_sinks) | (key < window))"},
        ),
        Mistake(
            "what to hide",
            "Your True entries are the tokens to hide. True means that the query may see it.",
            {RULE: f"~({RULE})"},
        ),
        Mistake(
            "queries for keys",
            "Rows and columns are swapped: rows are queries, and columns are keys.",
            {RULE: f"({RULE}).T"},
        ),
        Mistake(
            "numbers",
            "These are numbers, 0 and 1, in the right places. Return booleans.",
            {RULE: f"({RULE}).int()"},
            {RULE: f"({RULE}).float()"},
        ),
        Mistake(
            "a slice from a negative place",
            "Your first queries see too little: `place - window + 1` is negative there, and "
            "Python counts that from the end. Use `max(0, …)`.",
            """
            mask = torch.zeros(n_query, n_key, dtype=torch.bool)
            for row in range(n_query):
                place = n_key - n_query + row
                mask[row, place - window + 1 : place + 1] = True
                mask[row, : min(n_sinks, place + 1)] = True
            return mask
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "by triangles",
            """
            n_past = n_key - n_query
            keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_past)
            far = keep.tril(n_past - window)
            far[:, :n_sinks] = False
            return keep & ~far
            """,
            excuses={"operands swapped": ORDER},
        ),
        Alternative(
            "query by query",
            """
            keep = torch.zeros(n_query, n_key, dtype=torch.bool)
            for i in range(n_query):
                place = n_key - n_query + i
                keep[i, max(0, place - window + 1) : place + 1] = True
                keep[i, : min(n_sinks, place + 1)] = True
            return keep
            """,
            excuses={
                "arguments swapped": ORDER,
                "another number: 1 → 0 (3)": IN_WINDOW,
                "one operand dropped: place + 1 → place (2)": IN_WINDOW,
            },
        ),
        Alternative(
            "by distance",
            """
            distance = torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(n_key)
            near = distance < window
            near[:, :n_sinks] = True
            return near & (distance >= 0)
            """,
            excuses={"operands swapped": ORDER},
        ),
    ],
    hints=[
        "Write down the places: those of the queries as a column, and those of the keys. The "
        "queries are the last, so their places go from n_key − n_query to n_key − 1.",
        "A query at place p sees key k if k ≤ p, and if k is in the window or a sink.",
        "In the window: k > p − window. A sink: k < n_sinks. Combine with `&` and `|`, and put "
        "each comparison in parentheses.",
    ],
    excuses={"operands swapped": ORDER},
)
