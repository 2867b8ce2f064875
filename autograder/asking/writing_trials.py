"""Trials of what writes with a language model, or takes one apart: see `asking.trials`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.returned import WrongResult, describe

DRAWS = 1000  # so that a frequency is hardly ever off by more than 0.06
SOME_DRAWS = 100
HEAT = 1e6  # at such a temperature, all tokens are equally likely


def draw_often(
    function: Callable,
    facts: Facts,
    logits: Tensor,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> Tensor:
    """Draw `DRAWS` tokens; return how often each one came.

    possible: which came at all. by_generator: whether the generator alone decides.
    """

    def drawn(count: int, generator: torch.Generator) -> Tensor:
        drawing = (function(logits, temperature, top_k, top_p, generator) for _ in range(count))
        return torch.tensor([_token(value, len(logits)) for value in drawing])

    counts = torch.bincount(drawn(DRAWS, _generator()), minlength=len(logits))
    facts["possible"] = counts > 0
    facts["by_generator"] = _decided_by_generator(lambda generator: drawn(SOME_DRAWS, generator))
    return counts / DRAWS


def draw_again(function: Callable, facts: Facts, draft: Tensor, target: Tensor) -> Tensor:
    """Draw `DRAWS` tokens from `draft`, and hand each one on.

    Returns how often which token became which, [n_tokens, n_tokens].
    by_generator: whether the generator alone decides.
    """
    n_tokens = len(draft)

    def pairs(count: int, generator: torch.Generator) -> Tensor:
        given = torch.multinomial(draft, count, replacement=True, generator=generator)
        drawing = (function(draft, target, token, generator) for token in given.tolist())
        return n_tokens * given + torch.tensor([_token(value, n_tokens) for value in drawing])

    counts = torch.bincount(pairs(DRAWS, _generator()), minlength=n_tokens**2)
    facts["by_generator"] = _decided_by_generator(lambda generator: pairs(SOME_DRAWS, generator))
    return counts.view(n_tokens, n_tokens) / DRAWS


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _decided_by_generator(draw: Callable[[torch.Generator], Tensor]) -> Tensor:
    """Whether the generator that is handed to `draw` decides what is drawn, and nothing else."""
    state = torch.get_rng_state()
    first, second = draw(_generator()), draw(_generator())
    return torch.tensor(torch.equal(first, second) and torch.equal(torch.get_rng_state(), state))


def _token(value: Any, n_tokens: int) -> int:
    """Return a value that is a token. Raises WrongResult for any other."""
    if not isinstance(value, int):
        raise WrongResult("plain", describe(value))
    if not 0 <= value < n_tokens:
        raise WrongResult("choice", f"{value}, and the tokens are 0 to {n_tokens - 1}")
    return value


def write_on(
    function: Callable,
    facts: Facts,
    model: nn.Module,
    tokens: Tensor,
    n_new: int,
    temperature: float,
    top_k: int | None,
) -> Any:
    """Let a model write.

    read: how many tokens the model was given each time, as it notes in `read`. random: whether
    heat makes a difference. by_generator: whether the generator alone decides.
    """
    result = function(model, tokens, n_new, temperature=temperature, top_k=top_k)
    if not isinstance(result, Tensor):
        return result
    facts["read"] = torch.tensor(model.read)

    def heated(generator: torch.Generator, temperature: float = HEAT) -> Tensor:
        return function(model, tokens, 9, temperature=temperature, generator=generator)

    facts["by_generator"] = _decided_by_generator(heated)
    facts["random"] = torch.tensor(
        not torch.equal(heated(_generator(), 0.0), heated(_generator(), HEAT))
    )
    return result


def run_without_head(
    function: Callable,
    facts: Facts,
    weights: Tensor,
    model: nn.Module,
    layer: int,
    head: int,
    x: Tensor,
) -> Tensor:
    """Give x to what is left of a model, which was built from weights.

    untouched: whether the model is what it was before.
    """
    before = model(x)
    without = function(model, layer, head)
    if not isinstance(without, nn.Module):
        raise WrongResult("module", describe(without))
    result = without(x)
    facts["untouched"] = torch.tensor(without is not model and torch.equal(model(x), before))
    return result
