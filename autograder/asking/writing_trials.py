"""Trials of answers that generate text, or take a language model apart: see `asking.trials`.

Two facts say where an answer gets its random numbers.

by_generator: from the generator alone; the same state gives the same result.
varies: from torch if there is no generator; the next call gives another result.
advances: whether the same generator gives something else the next time.
"""

import contextlib
import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.cache_trials import blocks_of
from autograder.asking.models import require_own_memory
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, wrong_type
from autograder.asking.unchanged import as_it_was

DRAWS = 1500  # so that a frequency is hardly ever off by more than 0.05
SOME_DRAWS = 30
LEAST_DRAWN = 9  # tokens, so that two texts are hardly ever the same
HEAT = 1e6  # at such a temperature, all tokens are equally likely
Sampler = Callable[[torch.Generator | None], Tensor]


def draw_often(
    function: Callable[..., Any],
    facts: Facts,
    logits: Tensor,
    *how: float | None,
) -> Tensor:
    """Draw `DRAWS` tokens; return how often each one came.

    how: temperature, top_k and top_p; nothing for their defaults.
    possible: which tokens came at all.
    by_generator, varies, advances: see above.
    """
    n_tokens, kept = len(logits), logits.clone()

    def token(logits: Tensor, generator: torch.Generator | None) -> Any:
        if how:
            return function(logits, *how, generator)
        return function(logits, generator=generator)

    with _same_seed():
        token(logits, _generator())  # may change its input only here, where we notice

    def drawn(count: int, generator: torch.Generator | None) -> Tensor:
        drawing = (token(kept.clone(), generator) for _ in range(count))
        return torch.tensor([_token(value, n_tokens) for value in drawing])

    counts = torch.bincount(drawn(DRAWS, _generator()), minlength=n_tokens)
    facts["possible"] = counts > 0
    facts.update(_sources(lambda generator: drawn(SOME_DRAWS, generator)))
    return counts / DRAWS


def draw_again(function: Callable[..., Any], facts: Facts, draft: Tensor, target: Tensor) -> Tensor:
    """Draw `DRAWS` tokens from `draft`, and pass each one on.

    Returns how often which token became which, [n_tokens, n_tokens].
    only_possible: whether no token came that the target gives probability 0.
    by_generator, varies, advances: see above.
    """
    n_tokens, kept = len(draft), (draft.clone(), target.clone())
    with _same_seed():
        function(draft, target, int(draft.argmax()), _generator())

    def pairs(count: int, generator: torch.Generator | None) -> Tensor:
        given = torch.multinomial(kept[0], count, replacement=True, generator=_generator())
        drawing = (
            function(*(probs.clone() for probs in kept), token, generator)
            for token in given.tolist()
        )
        return n_tokens * given + torch.tensor([_token(value, n_tokens) for value in drawing])

    counts = torch.bincount(pairs(DRAWS, _generator(1)), minlength=n_tokens**2)
    counts = counts.view(n_tokens, n_tokens)
    facts["only_possible"] = torch.tensor(not counts[:, kept[1] == 0].any())
    facts.update(_sources(lambda generator: pairs(SOME_DRAWS, generator)))
    return counts / DRAWS


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@contextlib.contextmanager
def _same_seed() -> Iterator[None]:
    """Raise WrongResult if the body sets torch's seed; a thousand more calls would take long."""
    seed = torch.initial_seed()
    yield
    if torch.initial_seed() != seed:
        raise WrongResult(ProblemKind.SETTING, "seed")


def _sources(draw: Sampler) -> Facts:
    """Find out `by_generator`, `varies` and `advances`."""
    state = torch.get_rng_state()
    again = torch.equal(draw(_generator()), draw(_generator()))
    untouched = torch.equal(torch.get_rng_state(), state)
    varies = not torch.equal(draw(None), draw(None))
    generator = _generator()
    so = {
        "by_generator": again and untouched,
        "varies": varies,
        "advances": not torch.equal(draw(generator), draw(generator)),
    }
    return {name: torch.tensor(value) for name, value in so.items()}


def _token(value: Any, n_tokens: int) -> int:
    """Return a value that is a token. Raises WrongResult for any other."""
    if isinstance(value, float):
        raise WrongResult(ProblemKind.CHOICE, f"{value}, and a token is a whole number")
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

    tokens per call: how many the model was given each time.
    light: whether it was called without keeping what a way back would need.
    again: whether a second call gives the same, as it should when nothing is left to chance.
    Where the temperature isn't 0, also the facts of `_chance`, and
    in_order: whether the first text's tokens are drawn first.
    """
    with _noted_calls(model) as calls, as_it_was(model):
        result = function(model, tokens, n_new, **how)
        if not isinstance(result, Tensor):
            return result
    facts["tokens per call"] = torch.tensor([n for n, _ in calls], dtype=torch.long)
    facts["light"] = torch.tensor(not any(graph for _, graph in calls))
    with as_it_was(model.eval()):
        facts["again"] = torch.tensor(torch.equal(function(model, tokens, n_new, **how), result))
    model.train()
    if how.get("temperature", 1.0):
        facts.update(_chance(partial(function, model, tokens, max(LEAST_DRAWN, n_new))))
        facts["in_order"] = torch.tensor(_first_text_first(partial(function, model), tokens))
    return result


def _first_text_first(write: Callable[..., Tensor], tokens: Tensor) -> bool:
    """Whether the first text gets the same token beside others as by itself, in five draws."""

    def first(texts: Tensor, seed: int) -> Tensor:
        return write(texts, 1, temperature=HEAT, generator=_generator(seed))[0]

    return all(torch.equal(first(tokens, seed), first(tokens[:1], seed)) for seed in range(5))


def _chance(write: Callable[..., Tensor]) -> Facts:
    """Find out what chance does to what is written.

    random: whether temperature makes a difference, and the texts of a batch differ.
    usual: whether the temperature is 1 if none is given.
    by_generator, varies, advances: see above.
    """

    def heated(generator: torch.Generator | None, temperature: float = HEAT) -> Tensor:
        return write(temperature=temperature, generator=generator)

    hot = heated(_generator())
    one_for_all = len(hot) > 1 and (hot[:, -LEAST_DRAWN:] == hot[0, -LEAST_DRAWN:]).all()
    cold = torch.equal(heated(_generator(), 0.0), hot)
    usual = torch.equal(write(generator=_generator()), heated(_generator(), 1.0))
    return _sources(heated) | {
        "random": torch.tensor(not (cold or one_for_all)),
        "usual": torch.tensor(usual),
    }


@contextlib.contextmanager
def _noted_calls(model: nn.Module) -> Iterator[list[tuple[int, bool]]]:
    """Yield a list to which each call of a model in the body adds.

    It adds the number of tokens, and whether gradients were on.
    """
    calls: list[tuple[int, bool]] = []
    forward = model.forward

    def noted(tokens: Tensor, *caches: Any, **named: Any) -> Any:
        calls.append((tokens.shape[1], torch.is_grad_enabled()))
        return forward(tokens, *caches, **named)

    model.forward = noted
    yield calls
    vars(model).pop("forward", None)


def run_without_head(
    function: Callable[..., Any],
    facts: Facts,
    weights: Tensor,
    model: nn.Module,
    layer: int,
    head: int,
    tokens: Tensor,
) -> Tensor:
    """Give tokens to the rest of a model, which was built from weights.

    without the next: the result when the next head of the same layer is taken out, too.
    untouched: whether the model is the same as before.
    alike: whether the copy is in the model's mode, whichever it is, and can be trained as well.
    """
    own = copy.deepcopy(model)  # changed, it costs the points for that, and no others
    before = own(tokens)
    with as_it_was(own):
        without = function(own, layer, head)
    if not isinstance(without, nn.Module):
        raise wrong_type(ProblemKind.MODULE, without)
    result: Tensor = without(tokens)
    untouched = without is not own and torch.equal(own(tokens), before)
    facts["untouched"] = torch.tensor(untouched)
    if untouched:
        require_own_memory({"the model": own, "the copy": without})
    next_head = (head + 1) % blocks_of(own)[layer].attention.n_heads
    facts["without the next"] = function(without, layer, next_head)(tokens)
    with as_it_was(own.eval()):
        quiet = function(own, layer, head)
    alike = _same_use(own, quiet), _same_use(own.train(), without)
    facts["alike"] = torch.tensor(all(alike))
    return result


def _same_use(first: nn.Module, second: nn.Module) -> bool:
    """Whether all parts of two modules are in the same mode, and the same parameters learn."""
    uses = [
        (
            [part.training for part in module.modules()],
            [value.requires_grad for value in module.parameters()],
        )
        for module in (first, second)
    ]
    return uses[0] == uses[1]
