"""True where a word may attend: to itself and the `before` words before it, in its own text."""

import torch

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def packed(*lengths: int, before: int, last: int = 0) -> Inputs:
    """Texts of these lengths in one row, numbered from 0, or down to `last`."""

    def case(draw: Draw) -> dict:
        draw.label(f"words in each text: {', '.join(map(str, lengths))}; before: {before}")
        numbers = torch.arange(len(lengths))
        if last:
            numbers = 2 * numbers.flip(0) + last
        document = numbers.repeat_interleave(torch.tensor(lengths))
        return {"document": document, "before": before}

    return case


EITHER_ORDER = "`&` gives the same in either order"

EXERCISE = Exercise(
    "packed_keep",
    challenge=True,
    returns="keep",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("a window", 1, [packed(7, before=2), packed(9, before=0), packed(1, before=0)]),
        Aspect(
            "several texts",
            1,
            [
                packed(4, 1, 3, before=2),
                packed(4, 1, 3, before=12),
                packed(3, 5, 1, 2, before=1, last=4),
                packed(2, 6, 3, before=3),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "sees the future",
            "Your words see the words after them. A key may not come after its query: row − column "
            "must not be negative.",
            {"(back >= 0) & ": ""},
            {"back = place[:, None] - place": "back = (place[:, None] - place).abs()"},
        ),
        Mistake(
            "reversed",
            "Your words see themselves and the words *after* them. Rows are queries: row − column "
            "is how far back a key lies.",
            {"place[:, None] - place": "place - place[:, None]"},
        ),
        Mistake(
            "one word too few",
            "Your window is one word too short: it holds the word itself and `before` more.",
            {"back <= before": "back < before"},
        ),
        Mistake(
            "one word too many",
            "Your window is one word too long: it holds the word itself and the `before` words in "
            "front of it.",
            {"back <= before": "back <= before + 1"},
        ),
        Mistake(
            "no window",
            "Your words see all words before them. Keep only the last `before`.",
            {" & (back <= before)": ""},
        ),
        Mistake(
            "texts mixed",
            "Your words see words of the text before theirs. Row and column must belong to the "
            "same document.",
            {" & (document[:, None] == document)": ""},
            {"document[:, None] == document": "document[:, None] >= document"},
            {"document[:, None] == document": "document[:, None] <= document"},
        ),
        Mistake(
            "what to hide",
            "Your True entries are what to hide. In `keep`, True means that the query may attend "
            "to the key.",
            {
                "(back >= 0) & (back <= before) & (document[:, None] == document)": (
                    "~((back >= 0) & (back <= before) & (document[:, None] == document))"
                )
            },
        ),
        Mistake(
            "itself hidden",
            "No word sees itself. The window begins with the word itself.",
            {"back >= 0": "back > 0"},
        ),
        Mistake(
            "no window where before is 0",
            "Where `before` is 0, your words see all words before them: `if before:` skips the "
            "window, since 0 counts as False. With 0, each word sees only itself.",
            {"back <= before": "back <= (before or len(document))"},
        ),
        Mistake(
            "window after the word",
            "`triu(before)` keeps what lies at least `before` places *after* a word, and `tril()` "
            "takes that away. To reach back, the number has to be negative: `triu(-before)`.",
            {"back <= before": "back <= -before"},
        ),
        Mistake(
            "a slice from a negative place",
            "Your first words see nothing, not even themselves: `i - before` is negative there, "
            "and Python counts that from the end. Use `max(0, i - before)`.",
            """
            n = len(document)
            keep = torch.zeros(n, n, dtype=torch.bool)
            for i in range(n):
                keep[i, i - before : i + 1] = True
            return keep & (document[:, None] == document)
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "two triangles",
            """
            ones = torch.ones(len(document), len(document), dtype=torch.bool)
            return ones.tril() & ones.triu(-before) & (document == document[:, None])
            """,
            excuses={"operands swapped:": EITHER_ORDER},
        ),
        Alternative(
            "word by word",
            """
            n = len(document)
            keep = torch.zeros(n, n, dtype=torch.bool)
            for i in range(n):
                for j in range(max(0, i - before), i + 1):
                    keep[i, j] = document[i] == document[j]
            return keep
            """,
            excuses={"arguments swapped:": "the larger of two, in either order"},
        ),
        Alternative(
            "blocks along the diagonal",
            """
            blocks = []
            for many in torch.unique_consecutive(document, return_counts=True)[1]:
                block = torch.ones(many, many, dtype=torch.bool)
                blocks.append(block.tril() & block.triu(-before))
            return torch.block_diag(*blocks)
            """,
            excuses={"operands swapped:": EITHER_ORDER},
        ),
    ],
    hints=[
        "Three conditions, joined with `&`: not in the future, not too far back, in the same text.",
        "With `place = torch.arange(n)`, `place[:, None] - place` says how far back each key lies.",
        "`document[:, None] == document` compares each word's text with each other word's.",
    ],
    excuses={"operands swapped: (back": EITHER_ORDER},
)
