"""Masks of padding, rows that may attend to nothing, and what goes wrong with both."""

import torch
from torch import Tensor

from autograder.lessons.draw import Draw


def padded_keep(draw: Draw) -> Tensor:
    """A mask of padding, [batch, 1, n_key]."""
    lengths = draw.lengths("batch", "n_key")
    return (torch.arange(draw.size("n_key")) < lengths[:, None])[:, None]


def empty_rows(draw: Draw) -> dict:
    """One row of the first sentence, and the whole of the second, may attend to nothing."""
    keep = draw.keep("batch n_query n_key")
    keep[0, -1], keep[1] = False, False
    return {"attn_scores": draw.normal("batch n_query n_key"), "keep": keep}


STILL_E_TO_0 = (
    "You set the hidden scores to 0, but softmax turns a score of 0 into e⁰ = 1. To get a weight "
    "of 0, a score has to be very negative."
)

INFINITY = 'attn_scores.masked_fill(~keep, float("-inf"))'
