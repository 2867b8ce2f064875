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


def backward(
    n_query: int, n_key: int, causal: bool = False, leading: str = "", last: float = 0.0
) -> Callable[[Draw], dict[str, Any]]:
    """A backward pass, with the context and the logsumexp that belong to it.

    last: added to the scores that the last key has with all queries but the last, times √d.
    """

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(f"{n_query} queries, {n_key} keys" + (", causal" if causal else ""))
        queries, keys = dims_of(draw, n_query, n_key, leading)
        query, key, value = draw.normal(queries), draw.normal(keys), draw.normal(keys)
        if last:
            query[..., :-1, 0], query[..., -1, 0], key[..., -1, 0] = 1.0, 0.0, last
        scores = query.double() @ key.double().transpose(-2, -1) / query.shape[-1] ** 0.5
        if causal:
            hidden = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)
            scores = scores.masked_fill(hidden, -torch.inf)
        return {
            "query": query,
            "key": key,
            "value": value,
            "context": (scores.softmax(dim=-1) @ value.double()).float(),
            "logsumexp": scores.logsumexp(dim=-1).float(),
            "d_context": draw.normal(queries),
            "causal": causal,
        }

    return case
