"""Texts of drawn tokens, and attention weights for them."""

from typing import Any

import torch

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw


def whole_numbers(draw: Draw, most: int, *shape: int) -> torch.Tensor:
    """Draw whole numbers from 0 to most − 1."""
    return torch.randint(most, shape, generator=draw.generator)


def tokens_of(draw: Draw) -> torch.Tensor:
    return whole_numbers(draw, draw.size("n_tokens"), *draw.shape("batch n"))


# Kinds of texts of n tokens.
TEXTS = {
    "a text of period 5": lambda draw, n: different(draw, 5).repeat(n // 5 + 1)[:n],
    "three different tokens": lambda draw, n: whole_numbers(draw, 3, n),
    "the first token again after three places, then after two": lambda draw, n: torch.tensor(
        [0, 1, 2, 0, 2]
    )[torch.arange(n) % 5],
    "no token comes twice": lambda draw, n: different(draw, n),
    "one token comes twice": lambda draw, n: different(draw, n - 1)[torch.arange(n) % (n - 1)],
}


def different(draw: Draw, n: int) -> torch.Tensor:
    return torch.randperm(n, generator=draw.generator)


def looked(text: str, scale: float = 1.5, **sizes: int) -> Inputs:
    """Causal weights of some heads, for a kind of text. At a large scale, they are 0 or 1."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes)
        if "n" not in sizes:
            draw.among("n", 9, 10, 11, 12, 24)
        tokens = 7 * TEXTS[text](draw, draw.size("n"))
        draw.label(text)
        scores = draw.normal("n_heads n n", scale)
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.double().masked_fill(hidden, -torch.inf).softmax(dim=-1).float()
        return {"attn_weights": weights, "tokens": tokens}

    return case
