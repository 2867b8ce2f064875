"""Trials of answers that generate text, or take a language model apart: see `asking.trials`.

Two facts say where an answer gets its random numbers.

by_generator: from the generator alone; the same state gives the same result.
varies: from torch if there is no generator; the next call gives another result.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.cache_trials import blocks_of
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, wrong_type

DRAWS = 1000  # so that a frequency is hardly ever off by more than 0.06
SOME_DRAWS = 30
HEAT = 1e6  # at such a temperature, all tokens are equally likely
Draw = Callable[[torch.Generator | None], Tensor]


def draw_often(
    function: Callable[..., Any],
    facts: Facts,
    logits: Tensor,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> Tensor:
    """Draw `DRAWS` tokens; return how often each one came.

    possible: which tokens came at all.
    by_generator, varies: see above.
    """
    n_tokens, kept = len(logits), logits.clone()
    how = temperature, top_k, top_p
    function(logits, *how, _generator())  # may change its input only here, where we notice

    def drawn(count: int, generator: torch.Generator | None) -> Tensor:
        drawing = (function(kept.clone(), *how, generator) for _ in range(count))
        return torch.tensor([_token(value, n_tokens) for value in drawing])

    counts = torch.bincount(drawn(DRAWS, _generator()), minlength=n_tokens)
    facts["possible"] = counts > 0
    facts.update(_sources(lambda generator: drawn(SOME_DRAWS, generator)))
    return counts / DRAWS


def draw_again(function: Callable[..., Any], facts: Facts, draft: Tensor, target: Tensor) -> Tensor:
    """Draw `DRAWS` tokens from `draft`, and pass each one on.

    Returns how often which token became which, [n_tokens, n_tokens].
    by_generator, varies: see above.
    """
    n_tokens, kept = len(draft), (draft.clone(), target.clone())
    function(draft, target, int(draft.argmax()), _generator())

    def pairs(count: int, generator: torch.Generator | None) -> Tensor:
        given = torch.multinomial(kept[0], count, replacement=True, generator=_generator())
        drawing = (
            function(*(probs.clone() for probs in kept), token, generator)
            for token in given.tolist()
        )
        return n_tokens * given + torch.tensor([_token(value, n_tokens) for value in drawing])

    counts = torch.bincount(pairs(DRAWS, _generator(1)), minlength=n_tokens**2)
    facts.update(_sources(lambda generator: pairs(SOME_DRAWS, generator)))
    return counts.view(n_tokens, n_tokens) / DRAWS


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _sources(draw: Draw) -> Facts:
    """Find out `by_generator` and `varies`."""
    state = torch.get_rng_state()
    again = torch.equal(draw(_generator()), draw(_generator()))
    untouched = torch.equal(torch.get_rng_state(), state)
    varies = not torch.equal(draw(None), draw(None))
    return {"by_generator": torch.tensor(again and untouched), "varies": torch.tensor(varies)}


def _token(value: Any, n_tokens: int) -> int:
    """Return a value that is a token. Raises WrongResult for any other."""
    if not isinstance(value, int):
        raise wrong_type(ProblemKind.PLAIN, value)
    if not 0 <= value < n_tokens:
        raise WrongResult(ProblemKind.CHOICE, f"{value}, and the tokens are 0 to {n_tokens - 1}")
    return value


def write_on(
    function: Callable[..., Any],
    facts: Facts,
    model: nn.Module,
    tokens: Tensor,
    n_new: int,
    how: dict[str, Any],
) -> Any:
    """Let a model write.

    tokens per call: how many the model was given each time, as it notes in `read`.
    again: whether a second call gives the same, as it should when nothing is left to chance.
    random: whether temperature makes a difference, and the texts of a batch differ.
    by_generator, varies: see above.
    """
    result = function(model, tokens, n_new, **how)
    if not isinstance(result, Tensor):
        return result
    facts["tokens per call"] = torch.tensor(model.read, dtype=torch.long)
    facts["again"] = torch.tensor(torch.equal(function(model, tokens, n_new, **how), result))

    def heated(generator: torch.Generator | None, temperature: float = HEAT) -> Tensor:
        text: Tensor = function(model, tokens, 9, temperature=temperature, generator=generator)
        return text

    facts.update(_sources(heated))
    hot = heated(_generator())
    one_for_all = len(hot) > 1 and (hot[:, -9:] == hot[0, -9:]).all()
    cold = torch.equal(heated(_generator(), 0.0), hot)
    facts["random"] = torch.tensor(not (cold or one_for_all))
    _require_training(model)
    return result


def _require_training(model: nn.Module) -> None:
    """Raise WrongResult unless a model is still in train mode, as it was made."""
    if not model.training:
        raise WrongResult(ProblemKind.PART_MODE, "model")


def run_without_head(
    function: Callable[..., Any],
    facts: Facts,
    weights: Tensor,
    model: nn.Module,
    layer: int,
    head: int,
    x: Tensor,
) -> Tensor:
    """Give x to the rest of a model, which was built from weights.

    without the next: the result when the next head of the same layer is taken out, too.
    untouched: whether the model is the same as before.
    """
    before = model(x)
    without = function(model, layer, head)
    if not isinstance(without, nn.Module):
        raise wrong_type(ProblemKind.MODULE, without)
    result: Tensor = without(x)
    facts["untouched"] = torch.tensor(without is not model and torch.equal(model(x), before))
    _require_training(model)
    next_head = (head + 1) % blocks_of(model)[layer].attention.n_heads
    facts["without the next"] = function(without, layer, next_head)(x)
    return result
