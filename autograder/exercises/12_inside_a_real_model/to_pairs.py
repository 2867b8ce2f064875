"""The rows of each head, in the order that `rotate` needs."""

from autograder.exercises.pieces import projection
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import SecondCall
from autograder.lessons.variants import Alternative, Mistake

SEVERAL_HEADS = projection()
HALVES = "halves = weight.unflatten(0, (n_heads, 2, -1))"
CONVERTED = "weights are converted, not trained"

EXERCISE = Exercise(
    "to_pairs",
    returns="reordered",
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect("one head", 1, [projection(1)]),
        Aspect("each head's rows separately", 2, [SEVERAL_HEADS]),
    ],
    parts=[SecondCall(beside=SEVERAL_HEADS)],
    mistakes=[
        Mistake(
            "to halves once more",
            "That is lesson 7's way, from pairs to halves. Go back: the first row of the first "
            "half, then the first row of the second half.",
            {HALVES: "halves = weight.unflatten(0, (n_heads, -1, 2))"},
        ),
        Mistake(
            "all heads at once",
            "You reordered the rows of all heads together, so rows moved from head to head. "
            "Reorder each head's rows separately.",
            {HALVES: "halves = weight.unflatten(0, (1, 2, -1))"},
        ),
        Mistake(
            "heads taken for the innermost",
            "You cut the rows as if those of different heads took turns. Each head owns rows that "
            "follow each other, so n_heads comes first.",
            {
                HALVES: "halves = weight.unflatten(0, (2, -1, n_heads))",
                "halves.transpose(1, 2)": "halves.transpose(0, 1)",
            },
        ),
        Mistake(
            "the second half first",
            "You put the second half's rows first. The first half has the first row of each pair.",
            {HALVES: f"{HALVES}.flip(1)"},
        ),
        Mistake(
            "columns",
            "You reordered the columns, which belong to the features of the tokens. A head's own "
            "features are rows.",
            "first, second = weight.tensor_split(2, dim=1)\n"
            "pairs = [c for pair in zip(first.unbind(1), second.unbind(1)) for c in pair]\n"
            "return torch.stack(pairs + [*second.unbind(1)][first.shape[1]:] "
            "+ [*first.unbind(1)][second.shape[1]:], dim=1)",
        ),
        Mistake(
            "n_heads for d_head",
            "You used n_heads as the size of a head. It's the number of heads, so it comes first.",
            "pieces = weight.view(n_heads, -1, weight.shape[1])\n"
            "return pieces.transpose(0, 1).reshape(weight.shape)",
        ),
        Mistake(
            "nothing moved",
            "The rows are where they were. `view` and `reshape` don't move numbers; `transpose` "
            "does.",
            {".transpose(1, 2)": ""},
        ),
    ],
    alternatives=[
        Alternative(
            "half by half",
            """
            reordered = torch.empty_like(weight).view(n_heads, -1, weight.shape[1])
            heads = weight.view(n_heads, -1, weight.shape[1])
            d_head = heads.shape[1]
            reordered[:, 0::2] = heads[:, : d_head // 2]
            reordered[:, 1::2] = heads[:, d_head // 2 :]
            return reordered.view(weight.shape)
            """,
        ),
        Alternative(
            "by row numbers",
            """
            first, second = torch.arange(len(weight)).view(n_heads, -1).chunk(2, dim=1)
            return weight[torch.stack([first, second], dim=2).flatten()]
            """,
        ),
        Alternative(
            "head by head",
            """
            rows = []
            for head in weight.chunk(n_heads):
                for pair in zip(*head.chunk(2)):
                    rows.extend(pair)
            return torch.stack(rows)
            """,
        ),
    ],
    hints=[
        "In each head, the first half has the first row of each pair, and the second half has the "
        "second.",
        "As [n_heads, 2, d_head / 2, d_model], dimension 1 says which half.",
        "Swap that dimension with the next one, and go back to [n_heads * d_head, d_model].",
    ],
    excuses={
        "result detached": CONVERTED,
        "without gradients": "likewise",
    },
)
