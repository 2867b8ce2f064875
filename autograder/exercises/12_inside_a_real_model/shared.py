"""What lesson 12's exercises share: sizes and tokens of a small Llama."""

from typing import Any

import torch
from torch import Tensor

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw

LLAMA = "n_tokens d_model n_heads n_kv_heads d_feedforward n_layers"


def grouped_heads(draw: Draw, group: int = 2, n_kv_heads: int = 0) -> Draw:
    """Choose sizes of attention: `group` query heads for each key head, and an even d_head."""
    draw.among("d_head", *([2] if draw.same > 1 else [10, 14]))
    draw.choose("n_kv_heads", *([n_kv_heads] if n_kv_heads else [2, 3]))
    draw.fix(n_heads=draw.size("n_kv_heads") * (1 if draw.same else group))
    return draw.fix(d_model=draw.size("n_heads") * draw.size("d_head"))


def tokens_of(draw: Draw, n: int) -> Tensor:
    shape = (draw.size("batch"), n)
    return torch.randint(draw.size("n_tokens"), shape, generator=draw.generator)


def own_llama(
    draw: Draw, n_layers: int, base: float, eps: float = 0.01, group: int = 2
) -> dict[str, Any]:
    """What the trial `with_own_llama` takes for a model of n_layers blocks."""
    grouped_heads(draw, group).choose("n_layers", n_layers).choose("n_tokens", 11, 13)
    if draw.same > 1:
        draw.fix(n_tokens=draw.size("d_model"))
    sizes = [*draw.named(LLAMA).values(), base, eps]
    seed = int(torch.randint(2**31, (), generator=draw.generator))
    return {"sizes": sizes, "seed": seed, "tokens": tokens_of(draw, draw.size("n"))}


def with_same_tokens(case: Inputs) -> Inputs:
    """The case with tokens and sizes that are the same in each one made so, whatever its model."""

    def counted(draw: Draw) -> dict[str, Any]:
        draw.fix(batch=1, n=8, n_tokens=13, n_kv_heads=2, d_head=10, d_feedforward=6)
        return case(draw) | {"tokens": torch.arange(8)[None]}

    return counted
