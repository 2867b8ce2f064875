"""Sizes of queries and keys, and backward passes."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.lessons.draw import Draw

SAME_SIZES = "both have the same size there"


def dims_of(draw: Draw, n_query: int, n_key: int, leading: str) -> tuple[str, str]:
    """The dimensions of queries and of keys, with one name for sizes that are the same."""
    if n_query == n_key:
        draw.fix(n=n_query)
        return f"{leading} n d", f"{leading} n d"
    draw.fix(n_query=n_query, n_key=n_key)
    return f"{leading} n_query d", f"{leading} n_key d"


def move_scores(query: torch.Tensor, key: torch.Tensor, shift: float) -> None:
    """Shift all scores far from 0, by `shift` / √d."""
    if shift:
        query[..., 0], key[..., 0] = abs(shift) ** 0.5, shift / abs(shift) ** 0.5


def backward(
    n_query: int,
    n_key: int,
    causal: bool = False,
    leading: str = "",
    last: float = 0.0,
    shift: float = 0.0,
    others: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Callable[[Draw], dict[str, Any]]:
    """A backward pass, with the context and the logsumexp that belong to it.

    last: added to the scores that the last key has with all queries but the last, times √d.
    shift: added to all scores, times √d.
    others: how many other keys context and logsumexp are about, too.
    """

    def case(draw: Draw) -> dict[str, Any]:
        rows, columns = draw.same or n_query, draw.same or n_key
        draw.label("causal" if causal else "")
        queries, keys = dims_of(draw, rows, columns, leading)
        named = (draw.normal(queries), draw.normal(keys), draw.normal(keys))
        query, key, value = (each.to(dtype) for each in named)
        move_scores(query, key, shift)
        if last:
            query[..., :-1, 0], query[..., -1, 0], key[..., -1, 0] = 1.0, 0.0, last
        scores = query.double() @ key.double().transpose(-2, -1) / query.shape[-1] ** 0.5
        if causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool)
            scores = scores.masked_fill(hidden.triu(columns - rows + 1), -torch.inf)
        seen = value.double()
        if others:
            beside = draw.normal_of((*query.shape[:-1], others), 2.0).double()
            scores = torch.cat([scores, beside], dim=-1)
            of_others = draw.normal_of((*value.shape[:-2], others, value.shape[-1])).double()
            seen = torch.cat([seen, of_others], dim=-2)
        return {
            "query": query,
            "key": key,
            "value": value,
            "context": (scores.softmax(dim=-1) @ seen).to(dtype),
            "logsumexp": scores.logsumexp(dim=-1).to(dtype),
            "d_context": draw.normal(queries).to(dtype),
            "causal": causal,
        }

    return case
