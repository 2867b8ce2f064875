"""Attention weights over the keys that `keep` allows; 0 for the others."""

from autograder.exercises.slips import WEIGHTS
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise

from .masked_softmax_variants import ALTERNATIVES, MISTAKES
from .shared import WITH_NOTHING, all_hidden, as_many_sentences, padded_keep


def masked_rows(scores: str, keep: str, offset: float = 0.0, rows: float = 0.0) -> Inputs:
    """Scores of shape `scores`, all shifted by `offset`, and each row by `rows` times a number."""

    def inputs(draw: Draw) -> dict:
        attn_scores = draw.normal(scores) + offset
        leading = scores.rpartition(" ")[0]
        attn_scores = attn_scores + draw.normal(leading, rows)[..., None]
        return {"attn_scores": attn_scores, "keep": draw.keep(keep)}

    return inputs


def largest_hidden(dims: str, above: int = 200, **sizes: int) -> Inputs:
    """Each hidden key has a score that is larger by `above` than every visible one."""

    def inputs(draw: Draw) -> dict:
        scores, keep = draw.fix(**sizes).normal(dims), draw.keep(dims)
        return {"attn_scores": scores + above * ~keep, "keep": keep}

    return inputs


def only_hidden_near_0(draw: Draw) -> dict:
    """Visible keys have scores near −20,000."""
    draw.label("visible scores near −20,000, hidden ones near 0")
    inputs = largest_hidden("n_query n_key", above=20_000)(draw)
    return inputs | {"attn_scores": inputs["attn_scores"] - 20_000}


def padded_rows(draw: Draw) -> dict:
    return draw.arguments("batch", keep=padded_keep(draw))


def padded_heads(draw: Draw) -> dict:
    scores = draw.normal("batch n_heads n_query n_key")
    return {"attn_scores": scores, "keep": padded_keep(draw)[:, None]}


def empty_row(draw: Draw) -> dict:
    keep = draw.keep("n_query n_key")
    keep[1] = False
    return {"attn_scores": draw.normal("n_query n_key"), "keep": keep}


def three_in_front(draw: Draw) -> dict:
    inputs = padded_heads(draw)
    return {name: x.unsqueeze(1) for name, x in inputs.items()}


def far_in_half(draw: Draw) -> dict:
    """Scores near −20,000, which float16 holds in steps of 16, so one key of each row is seen."""
    draw.label("float16")
    scores = 32 * draw.normal("n_query n_key") - 20_000
    return {"attn_scores": scores.half(), "keep": scores == scores.amax(-1, keepdim=True)}


def nothing_in_half(draw: Draw) -> dict:
    """An empty row, whose scores are low enough to make the sum with float16's lowest number −∞."""
    inputs = empty_row(draw)
    draw.label("float16")
    return inputs | {"attn_scores": (inputs["attn_scores"] - 20).half()}


EXERCISE = Exercise(
    "masked_softmax",
    returns="attn_weights",
    also=(*SIZES, Form.DOUBLE, Form.HALF, *CALLS),
    aspects=[
        Aspect(
            "hidden keys get nothing, the others share 1",
            2,
            [
                masked_rows("n_query n_key", "n_query n_key"),
                masked_rows("batch n_query n_key", "batch n_query n_key"),
            ],
        ),
        Aspect(
            "one mask for many rows",
            1,
            [
                padded_rows,
                padded_heads,
                as_many_sentences,
                masked_rows("batch n_heads n_query n_key", "n_query n_key"),
                masked_rows("batch n_heads n_query n_key", "n_heads n_query n_key"),
                three_in_front,
            ],
        ),
        Aspect(
            "scores far from 0",
            1,
            [
                masked_rows("n_query n_key", "n_query n_key", offset=150),
                masked_rows("n_query n_key", "n_query n_key", offset=-150),
                masked_rows("n_query n_key", "n_query n_key", offset=-20_000),
                masked_rows("n_query n_key", "n_query n_key", offset=20_000),
                masked_rows("n_query n_key", "n_query n_key", rows=300),
                largest_hidden("n n"),
                largest_hidden("n_query n_key", n_query=1),
                largest_hidden("n_query n_key"),
                only_hidden_near_0,
                far_in_half,
            ],
        ),
        Aspect(
            "a row with nothing to attend to",
            1,
            [empty_row, *WITH_NOTHING, all_hidden, nothing_in_half],
        ),
        Aspect(
            "clean gradients",
            2,
            [
                masked_rows("n_query n_key", "n_query n_key"),
                empty_row,
                *WITH_NOTHING,
                nothing_in_half,
            ],
            outputs=("gradient of attn_scores",),
            gradients=True,
        ),
    ],
    slips=WEIGHTS,
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Three steps: make the hidden scores very low, take the softmax of each row, set the "
        "weights of hidden keys to 0.",
        "`masked_fill(mask, number)` returns a tensor with the number wherever the mask is True. "
        "`keep` is True where nothing should be filled in.",
        "`torch.finfo(dtype).min` is the lowest number of a dtype. It is finite, so even a row "
        "full of it gives no NaN; the last step removes what such a row does give.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "another fill: $X * ~$M (3)": "times `keep` hides them as well",
    },
)
