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


def one_query(draw: Draw) -> dict:
    """The single query of the first sentence may attend to nothing."""
    draw.label("a single query in each sentence")
    keep = draw.fix(n_query=1).keep("batch n_query n_key")
    keep[0] = False
    return {"attn_scores": draw.normal("batch n_query n_key"), "keep": keep}


def one_key(draw: Draw) -> dict:
    """Every second query may not even attend to the only key."""
    draw.label("a single key")
    keep = torch.arange(draw.size("n_query")) % 2 == 0
    return {"attn_scores": draw.fix(n_key=1).normal("n_query n_key"), "keep": keep[:, None]}


def all_hidden(draw: Draw) -> dict:
    draw.label("no query may attend to anything")
    scores = draw.normal("n_query n_key")
    return {"attn_scores": scores, "keep": torch.zeros(scores.shape, dtype=torch.bool)}


def square(draw: Draw) -> dict:
    """As many queries as keys, two of which may attend to nothing."""
    draw.label("as many queries as keys")
    keep = draw.keep("n n")
    keep[0], keep[2] = False, False
    return {"attn_scores": draw.normal("n n"), "keep": keep}


def as_many_sentences(draw: Draw) -> dict:
    """One mask for all sentences, of which there are as many as queries."""
    draw.label("as many sentences as words, one causal mask for all")
    keep = torch.ones(4, 4, dtype=torch.bool).tril()
    return {"attn_scores": draw.normal_of((4, 4, 4)), "keep": keep}


WITH_NOTHING = [one_query, one_key, square, empty_rows]
WITHOUT_MASK = "A single query gets no mask. It needs one, too: some keys may be hidden from it."
NOT_TURNED = (
    "You hid the keys that may be seen. `masked_fill` fills where its mask is True, and `keep` is "
    "True for the keys that may be seen: `~keep`."
)
STILL_E_TO_0 = (
    "You set the hidden scores to 0, but softmax turns a score of 0 into e⁰ = 1. To get a weight "
    "of 0, a score has to be very negative."
)

INFINITY = 'attn_scores.masked_fill(~keep, float("-inf"))'
