"""The rows of each head, as a matrix [d_head, d_model]."""

from typing import Any

from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake


def per_head_case(draw: Draw) -> dict[str, Any]:
    n_heads = draw.heads()["n_heads"]
    return {"weight": draw.normal("d_model d_model"), "n_heads": n_heads}


def heads_as_many_as_features(draw: Draw) -> dict[str, Any]:
    draw.label("3 heads of 3 features")
    return {"weight": draw.normal_of((9, 9)), "n_heads": 3}


EXERCISE = Exercise(
    "per_head",
    returns="weights",
    aspects=[
        Aspect("the rows of each head", 1, [heads_as_many_as_features, per_head_case]),
        Aspect(
            "many heads",
            1,
            [lambda draw: per_head_case(draw.choose("n_heads", 5, 7).choose("d_head", 2, 3))],
        ),
        connected(per_head_case),
    ],
    mistakes=[
        Mistake(
            "columns, turned",
            "You gave each head a slice of columns, turned into rows. In a query, key or value "
            "projection a head owns rows; it reads all columns.",
            "return weight.T.reshape(n_heads, -1, weight.shape[0])",
        ),
        Mistake(
            "columns",
            "You gave each head a slice of columns. In a query, key or value projection row i "
            "makes feature i, so a head owns rows. (In the output projection, it owns columns.)",
            "return weight.view(weight.shape[0], n_heads, -1).transpose(0, 1)",
        ),
        Mistake(
            "interleaved",
            "Your heads take turns, each with every n_heads-th row. A head owns d_head rows that "
            "are next to each other.",
            "return weight.view(-1, n_heads, weight.shape[1]).transpose(0, 1)",
        ),
        Mistake(
            "heads in the second place",
            "The heads are in dimension 1, and they take turns at the rows. Cut dimension 0 into "
            "heads first, then into the rows of a head. (`split` takes the size of a piece, "
            "`chunk` the number of pieces.)",
            "return weight.view(-1, n_heads, weight.shape[1])",
        ),
        Mistake(
            "each head transposed",
            "Each head has the right numbers, but transposed. Keep them as an nn.Linear does: "
            "[d_head, d_model].",
            {"weight.shape[1])": "weight.shape[1]).transpose(1, 2)"},
        ),
        Mistake(
            "cut without a look",
            "Each head has its own numbers, but in broken rows: d_model rows of d_head numbers. A "
            "head has d_head rows of d_model numbers.",
            "return weight.reshape(n_heads, weight.shape[0], -1)",
        ),
        Mistake(
            "one head",
            "That is only head 0. Return all heads, along a new dimension 0.",
            "return weight[: weight.shape[0] // n_heads]",
        ),
        Mistake(
            "a list",
            "You returned the matrices one by one. Turn them into one tensor with `torch.stack`.",
            "return list(weight.chunk(n_heads))",
            "return weight.chunk(n_heads)",
        ),
        Mistake(
            "overlapping heads",
            "Your heads overlap: head h starts at row h. It should start at row h · d_head.",
            """
            d_head = weight.shape[0] // n_heads
            return torch.stack([weight[h : h + d_head] for h in range(n_heads)])
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "chunk and stack",
            "return torch.stack(weight.chunk(n_heads, dim=0))",
            excuses={"keyword dropped: weight.chunk(": "0 is the default of dim"},
        ),
        Alternative("unflatten", "return weight.unflatten(0, (n_heads, -1))"),
        Alternative(
            "a loop over slices",
            """
            d_head = weight.shape[0] // n_heads
            heads = [weight[h * d_head : (h + 1) * d_head] for h in range(n_heads)]
            return torch.stack(heads, dim=0)
            """,
            excuses={
                "another number: 0 →": "a projection has as many rows as columns",
                "keyword dropped: torch.stack(": "0 is the default of dim",
            },
        ),
    ],
    hints=[
        "Head 0 owns the first d_head rows, head 1 the next, and d_head is d_model / n_heads.",
        "Rows that are next to each other in memory can be cut into groups without moving a "
        "number: use `view`, with one more dimension in front.",
        "The new shape is [n_heads, d_head, d_model]; `-1` lets `view` work one of them out.",
    ],
    excuses={"another number: 1 → 0 (2)": "a projection has as many rows as columns"},
)
