"""Trials of answers that have to do with little memory: see `asking.trials`."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.asking.answer import Facts
from autograder.asking.surroundings import CallMode

ROOM = 2  # how many times as large as necessary a tensor may be
ROWS = 64  # rows of scores that a backward pass may hold at a time


def in_little_memory(
    function: Callable[..., Any], facts: Facts, query: Tensor, *arguments: Any
) -> Any:
    """Attend in tiles; the last two arguments are their sizes.

    small: whether all tensors are about as small as the inputs, or as a tile of scores.
    """
    with _Largest() as largest:
        result = function(query, *arguments)
    facts["small"] = largest.fits([query, *arguments], math.prod(arguments[-2:]))
    return result


def apply_in_little_memory(
    function: type[torch.autograd.Function], facts: Facts, *arguments: Any
) -> Any:
    """Apply an autograd function to query, key, value and whether it is causal.

    small: whether all tensors, forward and backward, are about as small as the inputs, or as
        `ROWS` rows of scores.
    own: whether another call in between leaves the gradients as they are.
    precise: whether gradients are as precise as the inputs.
    """
    result = function.apply(*arguments)
    if not isinstance(result, Tensor):
        return result
    *inputs, causal = arguments
    leaves = [value.detach().double().requires_grad_() for value in inputs]
    with _Largest() as largest:
        first = function.apply(*leaves, causal)
        # Called directly, because the mode can't see what autograd calls.
        found = first.grad_fn.apply(torch.ones_like(first))[: len(leaves)]
    function.apply(*(2 * leaf for leaf in leaves), not causal)
    again = torch.autograd.grad(first.sum(), leaves)
    facts["small"] = largest.fits(inputs, ROWS * inputs[1].shape[-2])
    facts["own"] = torch.tensor(all(map(torch.allclose, found, again)))
    facts["precise"] = torch.tensor(not any(torch.equal(g, g.float().double()) for g in found))
    return result


def without_keys(
    function: Callable[..., Any], facts: Facts, query: Tensor, latent: Tensor, *weights: Tensor
) -> Any:
    """Attend to latents.

    small: whether no tensor is larger than the inputs or the scores, as all keys would be.
    """
    with _Largest() as largest:
        result = function(query, latent, *weights)
    most = max(
        latent.numel(), query.shape[:-1].numel() * latent.shape[-2], *map(Tensor.numel, weights)
    )
    facts["small"] = torch.tensor(largest.numel <= most)
    return result


class _Largest(CallMode):
    """Records the number of elements of the largest floating-point tensor that a call returns.

    It sees only what Python code calls. (A dispatch mode sees everything, but its first use spends
    two seconds on imports.)
    """

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def call(self, func: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
        result = func(*args, **options)
        sizes = [t.numel() for t in all_tensors([result]) if t.is_floating_point()]
        self.numel = max([self.numel, *sizes])
        return result

    def fits(self, inputs: list[Any], scores: int) -> Tensor:
        """Whether it is about as small as the largest input, or as this many scores per batch."""
        sizes = [tensor.numel() for tensor in all_tensors(inputs)]
        batch = math.prod(inputs[0].shape[:-2])
        return torch.tensor(self.numel <= ROOM * max(*sizes, batch * scores))


def all_tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from all_tensors(item)
