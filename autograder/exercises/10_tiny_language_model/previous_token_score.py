"""The mean weight on the token one place before, for each head."""

from typing import Any

import torch

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import looked


def one_never(draw: Draw) -> dict[str, Any]:
    """The first head looks at the token itself only."""
    case = looked("no token comes twice")(draw)
    case["attn_weights"][0] = torch.eye(draw.size("n"))
    draw.label("a head that never looks at the token before")
    return case


BEFORE = "attn_weights.diagonal(-1, dim1=-2, dim2=-1)"

EXERCISE = Exercise(
    "previous_token_score",
    returns="score",
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "the token before",
            2,
            [
                looked("three different tokens", n_heads=1),
                one_never,
                looked("no token comes twice"),
            ],
        ),
        connected(looked("no token comes twice")),
    ],
    mistakes=[
        Mistake(
            "itself",
            "You measured how much each token looks at itself. The token before is one to the "
            "left of the diagonal.",
            {"diagonal(-1,": "diagonal(0,"},
        ),
        Mistake(
            "the token after",
            "You took the diagonal above the main one, the token *after*, which is always hidden. "
            "The token before is below it: `diagonal(-1, …)`.",
            {"diagonal(-1,": "diagonal(1,"},
        ),
        Mistake(
            "two before",
            "You measured the token two places before.",
            {"diagonal(-1,": "diagonal(-2,"},
        ),
        Mistake(
            "divided by n",
            "You divided by the number of all queries. The first has no token before it: divide "
            "by n − 1.",
            {".mean(dim=-1)": ".sum(dim=-1) / len(tokens)"},
        ),
        Mistake(
            "the sum",
            "You added up the weights. Take their mean.",
            {".mean(dim=-1)": ".sum(dim=-1)"},
        ),
        Mistake(
            "the mean over the heads",
            "You averaged over the heads. Each head has a score of its own.",
            {f"{BEFORE}.mean(dim=-1)": f"{BEFORE}.mean(dim=0)"},
            {f"{BEFORE}.mean(dim=-1)": f"{BEFORE}.mean()"},
        ),
        Mistake(
            "the largest",
            "You took the largest weight. Take the mean over the queries.",
            {".mean(dim=-1)": ".amax(dim=-1)"},
        ),
        Mistake(
            "the share of queries",
            "You counted the queries whose largest weight is on the token before. Take the mean "
            "of the weights themselves.",
            {
                f"return {BEFORE}.mean(dim=-1)": (
                    "looks = attn_weights[:, 1:].argmax(dim=-1)\n"
                    "    return (looks == torch.arange(len(tokens) - 1)).float().mean(dim=-1)"
                )
            },
        ),
        Mistake(
            "all tokens before",
            "You added up the weights on all earlier tokens. Only the one right before counts.",
            {BEFORE: "attn_weights.tril(-1).sum(dim=-1)[:, 1:]"},
        ),
        Mistake(
            "heads taken for queries",
            "You took the diagonal of other dimensions. Queries and keys are the last two: "
            "`dim1=-2, dim2=-1`.",
            {
                f"return {BEFORE}.mean(dim=-1)": (
                    "return attn_weights.diagonal(-1).mean(dim=-1)[: len(attn_weights)]"
                )
            },
        ),
        Mistake(
            "the diagonal of other dimensions",
            "`diagonal` takes the first two dimensions by default, and here these are heads and "
            "queries. Say which ones you mean: `dim1=-2, dim2=-1`.",
            {"diagonal(-1, dim1=-2, dim2=-1)": "diagonal(-1)"},
        ),
        Mistake(
            "tokens that repeat left out",
            "You count only the places where the token changes. The tokens don't matter here: "
            "take the weight on the place before, at every query but the first.",
            """
            weights = attn_weights.diagonal(-1, dim1=-2, dim2=-1)
            other = tokens[1:] != tokens[:-1]
            return (weights * other).sum(-1) / other.sum().clamp(min=1)
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "by places",
            """
            query = torch.arange(1, len(tokens))
            return attn_weights[:, query, query - 1].mean(dim=1)
            """,
        ),
        Alternative(
            "query by query",
            """
            found = [attn_weights[:, i, i - 1] for i in range(1, attn_weights.shape[1])]
            return sum(found) / len(found)
            """,
            excuses={"another number: 1 → 2 (3)": "there are as many queries as keys"},
        ),
    ],
    hints=[
        "For query i, the token before is key i − 1. The first query has none.",
        "`attn_weights[:, i, i - 1]` is that weight, for all heads. You need it for i from 1 on.",
        "`diagonal(-1, dim1=…, dim2=…)` returns all of them at once. Which dimensions are queries "
        "and keys?",
    ],
    excuses={
        "wrong at one size alone: n": "nothing comes before a single token",
        "result clamped": "a mean of weights is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)
