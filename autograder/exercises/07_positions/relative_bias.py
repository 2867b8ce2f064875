"""The bias for each score, by its distance (key − query), in the dtype of the table."""

from collections.abc import Callable
from typing import Any

from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import DISTANCE


def lookup(max_distance: int, more: int = 0, **sizes: int) -> Callable[[Draw], dict[str, Any]]:
    """Some words ask, and `more` words come before them."""

    def case(draw: Draw) -> dict[str, Any]:
        n_query = draw.fix(**sizes).size("n_query")
        n_key = n_query + (0 if draw.same > 1 else more)
        table = draw.normal_of((2 * max_distance + 1, draw.size("n_heads")))
        return {"table": table, "n_query": n_query, "n_key": n_key}

    return case


ROWS_HALVED = "len(table) // 2"

EXERCISE = Exercise(
    "relative_bias",
    returns="bias",
    aspects=[
        Aspect("the row of each distance", 1, [lookup(8)]),
        Aspect("distances that are too far", 1, [lookup(1), lookup(2), lookup(0)]),
        Aspect(
            "when only the last words ask",
            1,
            [
                lookup(3, more=3),
                lookup(16, more=140),
                lookup(2, more=5, n_query=1),
                lookup(1, more=8),
            ],
        ),
        Aspect(
            "gradients reach the table",
            1,
            [lookup(0, n_query=1)],  # where a wrong row, or a wrong order, makes no difference
            outputs=("gradient of table",),
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "query − key",
            "Your distances have the wrong sign: the distance is key − query, negative for the "
            "words before. Row 0 is for those farthest back.",
            {DISTANCE: "place[n_key - n_query :, None] - place"},
        ),
        Mistake(
            "the first words ask",
            "Your queries are the first places. They are the last `n_query` of the `n_key` places: "
            "the first of them is at n_key − n_query.",
            {"place[n_key - n_query :, None]": "place[:n_query, None]"},
        ),
        Mistake(
            "not clipped",
            "You didn't clip the distances. A row number a little below 0 counts from the end of "
            "the table, without complaint; one farther out, on either side, raises an error.",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance).clamp(max=len(table) - 1) % len(table)"
                )
            },
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "distance + max_distance"
                )
            },
        ),
        Mistake(
            "wrapped around",
            "Your distances that are too far come in again at the other end of the table. Clip "
            "them: those that are too far before share row 0, those too far after the last row.",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance) % len(table)"
                )
            },
        ),
        Mistake(
            "clipped on one side",
            "You clipped the distances on one side only. Words far before and words far after the "
            "query both need it.",
            {"clamp(-max_distance, max_distance)": "clamp(min=-max_distance)"},
            {"clamp(-max_distance, max_distance)": "clamp(max=max_distance)"},
        ),
        Mistake(
            "clipped after moving up",
            "You added max_distance first, and clipped then. Clip first: −max_distance and "
            "max_distance are limits for distances, not for rows.",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance).clamp(-max_distance, max_distance)"
                )
            },
        ),
        Mistake(
            "max_distance is always the same",
            "Your max_distance is always the same. The table tells you what it is: there are "
            "2 · max_distance + 1 rows.",
            *({ROWS_HALVED: number} for number in ("1", "2", "3", "8", "16")),
        ),
        Mistake(
            "max_distance is off by one",
            "Your max_distance is off by one. There are 2 · max_distance + 1 rows: halve their "
            "number, and round down.",
            {ROWS_HALVED: "(len(table) + 1) // 2"},
            {ROWS_HALVED: "len(table) // 2 - 1"},
        ),
        Mistake(
            "max_distance is the number of rows",
            "Your max_distance is too large. There are 2 · max_distance + 1 rows, for distances "
            "before the query, after it, and 0.",
            {ROWS_HALVED: "len(table)"},
            {ROWS_HALVED: "len(table) - 1"},
            {ROWS_HALVED: "len(table) - 1", "table[row]": "table[row.clamp(max=len(table) - 1)]"},
            {ROWS_HALVED: "len(table)", "table[row]": "table[row.clamp(max=len(table) - 1)]"},
        ),
        Mistake(
            "max_distance by the number of words",
            "Your max_distance depends on the number of words. The table tells you what it is: "
            "there are 2 · max_distance + 1 rows.",
            {ROWS_HALVED: "n_key - 1"},
            {ROWS_HALVED: "n_query - 1"},
            {ROWS_HALVED: "n_key // 2"},
        ),
        Mistake(
            "places that are not a column",
            "You subtracted places one by one. Make the queries' places a column, `[:, None]`, so "
            "that every query meets every key.",
            {"n_query :, None]": "n_query :]"},
        ),
        Mistake(
            "moved the wrong way",
            "Your distances are too large by twice n_key − n_query. The queries' places are that "
            "much higher, so the distances, key − query, are lower.",
            {DISTANCE: "place - place[:n_query, None] + (n_key - n_query)"},
        ),
        Mistake(
            "one place too early",
            "Your queries are one place too early. The last of them is at n_key − 1, so the first "
            "is at n_key − n_query.",
            {DISTANCE: "place - (place[:n_query, None] + n_key - n_query - 1)"},
        ),
        Mistake(
            "no sign",
            "You used the same row for words equally far before and after the query. The table has "
            "a separate row for each.",
            {"distance.clamp(": "distance.abs().clamp("},
        ),
        Mistake(
            "nothing after the query",
            "All words after the query got the row of distance 0. The table has rows for them, "
            "too.",
            {"clamp(-max_distance, max_distance)": "clamp(-max_distance, 0)"},
        ),
        Mistake(
            "row 0 for distance 0",
            "Row 0 is for the distance −max_distance, so add max_distance to get the row.",
            {
                "clamp(-max_distance, max_distance) + max_distance": (
                    "clamp(-max_distance, max_distance)"
                )
            },
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They belong in front: [n_heads, "
            "n_query, n_key].",
            {".permute(2, 0, 1)": ""},
        ),
        Mistake(
            "keys before queries",
            "Your rows are keys and your columns are queries. It's the other way around.",
            {".permute(2, 0, 1)": ".permute(2, 1, 0)"},
        ),
        Mistake(
            "one row too far",
            "You are off by one row. Distance 0 takes the middle row, number `len(table) // 2`.",
            {"table[row]": "table[(row + 1).clamp(max=len(table) - 1)]"},
            {"table[row]": "table[(row - 1).clamp(min=0)]"},
        ),
        Mistake(
            "later words get nothing",
            "You gave later words a bias of 0. The table has rows for them as well: distances are "
            "negative and positive.",
            {"table[row].permute(2, 0, 1)": "table[row].permute(2, 0, 1) * (distance <= 0)"},
        ),
        Mistake(
            "one row less on either side",
            "You clamp one place too early, so the first and the last row of the table are never "
            "used.",
            {"clamp(-max_distance, max_distance)": "clamp(1 - max_distance, max_distance - 1)"},
        ),
    ],
    alternatives=[
        Alternative(
            "score by score",
            """
            m = len(table) // 2
            rows = []
            for query in range(n_key - n_query, n_key):
                row = [table[min(max(key - query, -m), m) + m] for key in range(n_key)]
                rows.append(torch.stack(row))
            return torch.stack(rows).permute(2, 0, 1)
            """,
            excuses={
                "arguments swapped: max": "the order does not matter",
                "arguments swapped: min": "likewise",
            },
        ),
        Alternative(
            "all places, then the last rows",
            """
            m = len(table) // 2
            place = torch.arange(n_key)
            row = (place[None] - place[:, None] + m).clamp(0, 2 * m)
            return torch.movedim(table[row], -1, 0)[:, n_key - n_query :]
            """,
        ),
        Alternative(
            "by F.embedding",
            {"table[row].permute(2, 0, 1)": "F.embedding(row, table).permute(2, 0, 1)"},
        ),
    ],
    hints=[
        "Make the distances first: the keys' places are a row, the queries' places a column. The "
        "queries' places are the last `n_query` of 0, 1, …, n_key − 1.",
        "`clamp(-m, m)` clips, and adding m turns distances into row numbers: −m becomes row 0.",
        "`table[row]` is [n_query, n_key, n_heads]. `permute(2, 0, 1)` brings the heads to the "
        "front.",
    ],
)
