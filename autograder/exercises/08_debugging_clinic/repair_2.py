"""Softmax over the last dimension, for scores of any size."""

from typing import Any

import torch

from autograder.lessons.cases import Inputs, drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Repair
from autograder.lessons.variants import Alternative, Mistake

from .shared import STILL_ILL


def far_rows(scale: float) -> Inputs:
    """Scores whose rows are far apart."""

    def case(draw: Draw) -> dict[str, Any]:
        scores = draw.normal("batch n_query n_key")
        rows = torch.arange(scores.shape[1])[:, None] - 1.0
        return {"attn_scores": scores + scale * rows}

    return case


def wide_rows(draw: Draw) -> dict[str, Any]:
    """Scores that are far apart within a row; the largest is at a different place in each."""
    scores = draw.normal("batch n_query n_key")
    n_query, n_key = scores.shape[1:]
    place = torch.arange(n_query)[:, None] + torch.arange(n_key)
    return {"attn_scores": scores + 300.0 * (place % n_key)}


def far_texts(draw: Draw) -> dict[str, Any]:
    """Texts whose scores are far apart."""
    scores = draw.normal("batch n_query n_key")
    return {"attn_scores": scores + 300.0 * torch.arange(len(scores))[:, None, None]}


def far_heads(draw: Draw) -> dict[str, Any]:
    """Heads and rows whose scores are far apart."""
    scores = draw.normal("batch n_heads n_query n_key")
    n_heads, n_query = scores.shape[1:3]
    apart = 300.0 * torch.arange(n_heads)[:, None] - 200.0 * torch.arange(n_query)
    return {"attn_scores": scores + apart[..., None]}


LARGEST = "attn_scores.amax(dim=-1, keepdim=True)"

EXERCISE = Exercise(
    "repair_2",
    returns="attn_weights",
    parts=[Repair("as it came in")],
    aspects=[
        Aspect(
            "rows that are far apart",
            2,
            [wide_rows, far_texts, far_heads, far_rows(150.0), far_rows(-400.0)],
        ),
        Aspect("gradients", 1, [far_rows(800.0), drawn("batch", 3.0)], gradients=True),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "What happens to a row whose scores are all far below the overall maximum?",
            {LARGEST: "attn_scores.amax()"},
        ),
        Mistake(
            "one maximum for each text",
            "You subtract the largest score of each text. Its rows may still be far apart.",
            {LARGEST: "attn_scores.amax(dim=(-2, -1), keepdim=True)"},
        ),
        Mistake(
            "one maximum for all texts",
            "You subtract one maximum from several texts. They may be far apart.",
            {LARGEST: "attn_scores.amax(dim=(0, -1), keepdim=True)"},
        ),
        Mistake(
            "another number of the row",
            "You subtract something other than the largest score from each row. If the largest is "
            "far above it, `exp` overflows.",
            {LARGEST: "attn_scores.mean(dim=-1, keepdim=True)"},
            {LARGEST: "attn_scores.amin(dim=-1, keepdim=True)"},
            {LARGEST: "attn_scores.median(dim=-1, keepdim=True).values"},
            {LARGEST: "attn_scores[..., :1]"},
        ),
        Mistake(
            "one number for all rows",
            "You subtract the same number from every row. In a row that is far above it, `exp` "
            "overflows; in one that is far below, all exponentials are 0.",
            {LARGEST: "attn_scores.mean()"},
            {LARGEST: "attn_scores.amin()"},
            {LARGEST: "attn_scores.median()"},
            {LARGEST: "attn_scores.amax() / 2"},
        ),
        Mistake(
            "float64",
            "float64 only postpones it: from 746 below the number that you subtract, `exp` is 0 "
            "there, too. Each row needs its own number.",
            "exps = (attn_scores.double() - attn_scores.amax()).exp()\n"
            "return (exps / exps.sum(dim=-1, keepdim=True)).to(attn_scores.dtype)",
        ),
        Mistake(
            "cut off",
            "You cut scores off, so those beyond the limit all come out the same.",
            {f"(attn_scores - {LARGEST})": "(attn_scores - attn_scores.amax()).clamp(min=-80)"},
            {f"(attn_scores - {LARGEST})": "attn_scores.clamp(-80, 80)"},
            {f"(attn_scores - {LARGEST})": "attn_scores.clamp(max=80)"},
        ),
        Mistake(
            "along the wrong dimension",
            "You subtract the largest score of each *column*. That isn't the same number for a "
            "whole row, so it changes the weights.",
            {LARGEST: "attn_scores.amax(dim=-2, keepdim=True)"},
        ),
        Mistake(
            "nothing taken off",
            "Unless you subtract the largest score, `exp` overflows.",
            {f"(attn_scores - {LARGEST}).exp()": "attn_scores.exp()"},
        ),
        Mistake(
            "NaN covered up",
            "Your code puts zeros where there was NaN. The weights of each row have to sum to 1.",
            {
                LARGEST: "attn_scores.amax()",
                "exps / exps.sum(dim=-1, keepdim=True)": (
                    "(exps / exps.sum(dim=-1, keepdim=True)).nan_to_num()"
                ),
            },
        ),
        Mistake(
            "a little added to the sum",
            "You added a tiny number to the sum, so that it's never 0. That gives weights of 0 to "
            "rows that are far below the largest.",
            {
                LARGEST: "attn_scores.amax()",
                "exps.sum(dim=-1, keepdim=True)": "(exps.sum(dim=-1, keepdim=True) + 1e-9)",
            },
        ),
    ],
    alternatives=[
        Alternative("torch's own", "return attn_scores.softmax(dim=-1)"),
        Alternative(
            "by logarithms",
            "return (attn_scores - attn_scores.logsumexp(dim=-1, keepdim=True)).exp()",
        ),
    ],
    hints=[
        "Try two rows: scores near 0 and scores near 300. What does each step make of the first "
        "row?",
        "`exp` of −300 is 0 in float32, and 0 / 0 is NaN. What should you subtract from the first "
        "row?",
        "Each row needs its own largest score; `dim` and `keepdim` say so.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)
