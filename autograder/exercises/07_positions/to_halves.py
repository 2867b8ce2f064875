"""The rows of each head, in the order that `rotate_halves` needs."""

from autograder.exercises.pieces import projection
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import SecondCall
from autograder.lessons.variants import Alternative, Mistake

SEVERAL_HEADS = projection()
TO_PAIRS = "weight.view(n_heads, rows // n_heads // 2, 2, d_model)"

CONVERTED = "weights are converted, not trained"

EXERCISE = Exercise(
    "to_halves",
    returns="reordered",
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect("one head", 2, [projection(1)]),
        Aspect("each head's rows separately", 2, [SEVERAL_HEADS]),
    ],
    parts=[SecondCall(beside=SEVERAL_HEADS)],
    mistakes=[
        Mistake(
            "the way back",
            "That is the way back, from halves to pairs. The first half of a head should be its "
            "even rows: 0, 2, 4, ….",
            {TO_PAIRS: "weight.view(n_heads, 2, rows // n_heads // 2, d_model)"},
        ),
        Mistake(
            "all heads at once",
            "You reordered the rows of all heads together, so rows moved from head to head. "
            "Reorder each head's rows separately.",
            {TO_PAIRS: "weight.view(1, rows // 2, 2, d_model)"},
        ),
        Mistake(
            "heads taken for the innermost",
            "You cut the rows as if those of different heads took turns. Each head owns rows that "
            "follow each other, so n_heads comes first in `view`.",
            {
                TO_PAIRS: "weight.view(rows // n_heads // 2, 2, n_heads, d_model)",
                "pairs.transpose(1, 2)": "pairs.transpose(0, 1)",
            },
        ),
        Mistake(
            "odd rows first",
            "You put the odd rows first. `rotate` turns (even, odd), so the even ones come first.",
            {"pairs.transpose(1, 2)": "pairs.flip(2).transpose(1, 2)"},
        ),
        Mistake(
            "columns",
            "You reordered the columns, which belong to the features of the words. A head's own "
            "features are rows.",
            "even, odd = weight[:, 0::2], weight[:, 1::2]\nreturn torch.cat([even, odd], dim=1)",
        ),
        Mistake(
            "n_heads for d_head",
            "You used n_heads as the size of a head. It's the number of heads, so it comes first "
            "in `view`.",
            "pieces = weight.view(-1, n_heads, weight.shape[1])\n"
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
            "even rows, then odd ones",
            """
            heads = weight.view(n_heads, -1, weight.shape[1])
            return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)
            """,
            excuses={"detached": CONVERTED},
        ),
        Alternative(
            "by row numbers",
            """
            row = torch.arange(len(weight)).view(n_heads, -1)
            return weight[torch.cat([row[:, 0::2], row[:, 1::2]], dim=1).flatten()]
            """,
            excuses={"detached": "row numbers have no gradients"},
        ),
        Alternative(
            "head by head",
            """
            parts = []
            for head in weight.chunk(n_heads):
                parts += [head[0::2], head[1::2]]
            return torch.cat(parts)
            """,
        ),
    ],
    hints=[
        "`rotate` turns rows 0 and 1 of a head together. `rotate_halves` turns its rows 0 and "
        "d_head/2 together. So row 1 has to move to d_head/2.",
        "In each head, the even rows become the first half and the odd rows the second.",
        "As [n_heads, d_head / 2, 2, d_model], dimension 2 says even or odd. Bring it before "
        "dimension 1, and go back to [n_heads * d_head, d_model].",
    ],
    excuses={
        "result detached": CONVERTED,
        "without gradients": "likewise",
    },
)
