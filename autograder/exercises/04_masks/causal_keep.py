"""Mask in which each word may attend to itself and to the words before it."""

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

EXERCISE = Exercise(
    "causal_keep",
    returns="keep",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("the word itself and those before it", 1, [lambda draw: {"n": draw.size("n")}]),
        Aspect(
            "sentences of any length",
            1,
            [
                lambda draw: {"n": 1},
                lambda draw: {"n": 2},
                lambda draw: {"n": draw.fix(n=10 + draw.size("more")).size("n")},
                lambda draw: {"n": 70},
                lambda draw: {"n": 130},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "reversed",
            "Your words see themselves and the words after them. Row i is the query: it should "
            "be True for keys 0 to i.",
            {">=": "<="},
        ),
        Mistake(
            "what to hide",
            "Your True entries are the keys to hide. In `keep`, True means that the query may "
            "attend to the key.",
            {">=": "<"},
            {"position[:, None] >= position": "(position[:, None] > position).T"},
        ),
        Mistake(
            "itself hidden",
            "The diagonal is False: no word may see itself, and the first sees nothing at all. "
            "A word may attend to itself.",
            {">=": ">"},
        ),
        Mistake(
            "all but itself",
            "Each word sees all others, and not itself. It should see itself and the words before "
            "it.",
            "return ~torch.eye(n, dtype=torch.bool)",
        ),
        Mistake(
            "one word too far",
            "Each word sees one word of the future, the very one a language model has to guess. "
            "The last True in row i belongs in column i.",
            {"[:, None] >=": "[:, None] + 1 >="},
        ),
        Mistake(
            "everything",
            "Everything is True: every word sees the whole sentence, its future too.",
            "return torch.ones(n, n, dtype=torch.bool)",
        ),
        Mistake(
            "only itself",
            "Only the diagonal is True: each word sees itself and none of the words before it.",
            "return torch.eye(n, dtype=torch.bool)",
        ),
        Mistake(
            "from the wrong corner",
            "Your mask opens from the wrong corner. Row 0, the first word, should see one key: "
            "the first.",
            {"return position[:, None] >=": "return n - 1 - position[:, None] <="},
        ),
        Mistake(
            "numbers",
            "These are floats, 0.0 and 1.0, in the right places. Return booleans: a float mask "
            "means something else, as this lesson will show. `.bool()` converts them.",
            "return torch.ones(n, n).tril()",
        ),
        Mistake(
            "whole numbers",
            "These are integers, 0 and 1, in the right places. Return booleans: `~` of an integer "
            "is not its opposite. `.bool()` converts them.",
            "return torch.ones(n, n, dtype=torch.int64).tril()",
        ),
        Mistake(
            "additive mask",
            "That is an additive mask, zeros and −∞. It comes later in this lesson; here "
            "`keep` is a boolean, True where the query may attend.",
            'return torch.full((n, n), float("-inf")).triu(1)',
            'return torch.full((n, n), float("-inf")).triu()',
        ),
        Mistake(
            "a batch of one",
            "You have one dimension too many: the shape should be (n, n), without a batch.",
            {
                "return position[:, None] >= position": (
                    "return (position[:, None] >= position)[None]"
                )
            },
        ),
        Mistake(
            "fixed size",
            "The size is fixed at 6 words. Use `n`.",
            {"torch.arange(n)": "torch.arange(6)"},
        ),
    ],
    alternatives=[
        Alternative("lower triangle", "return torch.ones(n, n, dtype=torch.bool).tril()"),
        Alternative("tril of floats, made boolean", "return torch.tril(torch.ones(n, n)) == 1"),
        Alternative(
            "not the upper triangle",
            "return ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)",
        ),
        Alternative(
            "two loops",
            "return torch.tensor([[key <= query for key in range(n)] for query in range(n)])",
        ),
    ],
    hints=[
        "Query i may attend to key j if j is not larger than i. Compare `torch.arange(n)` with "
        "itself, after turning one of the two into a column.",
        "`x[:, None]` turns a row into a column. Which one is the query: the column or the row?",
        "There is a shortcut as well: `tril` keeps the lower triangle of a matrix, diagonal "
        "included. Make the matrix boolean first.",
    ],
)
