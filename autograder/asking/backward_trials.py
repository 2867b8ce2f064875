"""The trial of a backward pass that a learner wrote: see `asking.trials`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.asking.answer import OWN_BACKWARD, Facts
from autograder.asking.memory_trials import ROOM, all_scores, most_elements, recording
from autograder.utils.costs import reachable_tensors

ROWS = 64  # rows of scores that a backward pass may hold at a time
OF_GRADIENTS = ("own", "alone", "given", "precise", OWN_BACKWARD)
AutogradFunction = type[torch.autograd.Function]


def apply_in_little_memory(
    function: AutogradFunction,
    facts: Facts,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *causal: bool,
) -> Any:
    """Apply an autograd function to query, key, value and, if it is stated, whether it is causal.

    small: whether all tensors, forward and backward, are about as small as the inputs, or as
        `ROWS` rows of scores.
    saves: whether no more is kept for the way back than about as much as the inputs hold.
    tracked: whether autograd knows of all tensors that are kept for the way back.
    own: whether another call in between leaves the gradients as they are.
    alone: whether an input gets the same gradient if no other needs one.
    given: whether the gradient that comes from above stays as it is.
    precise: whether gradients are as precise as the inputs.
    once: whether gradients can't be differentiated in turn.

    What stays unknown, because the backward pass fails, is its exception.
    """
    inputs = [query, key, value]
    result = function.apply(*inputs, *causal)
    if not isinstance(result, Tensor):
        return result
    leaves = [each.detach().double().requires_grad_() for each in inputs]
    with torch.enable_grad():
        facts |= _memory_of(function, leaves, causal)
        if error := _error_of(lambda: facts.update(_gradients_of(function, leaves, causal))):
            facts |= dict.fromkeys(OF_GRADIENTS, error)
    return result


def _memory_of(function: AutogradFunction, leaves: list[Tensor], causal: tuple[bool, ...]) -> Facts:
    """Find out `tracked` and, where all scores together would be too large, `small` and `saves`."""
    query, key, _ = leaves
    most = most_elements(leaves, ROWS * key.shape[-2]) * 3 // 4  # 1.5 times, and not twice
    if all_scores(query, key) <= most:
        tracked = _is_tracked(function.apply(*leaves, *causal))
        return _facts(small=True, saves=True, tracked=tracked)
    watched, ends = _noting_its_end(function)
    with recording() as forward:
        result = watched.apply(*leaves, *causal)
    with recording() as backward:
        error = _error_of(lambda: _gradients(result, leaves))
    small = max(forward.largest, backward.largest) <= most
    saves = forward.held <= ROOM * sum(leaf.nbytes for leaf in leaves)
    facts = _facts(small=small, saves=saves, tracked=_is_tracked(result))
    return facts | {"small": error} if error and small and not ends else facts


def _gradients_of(
    function: AutogradFunction, leaves: list[Tensor], causal: tuple[bool, ...]
) -> Facts:
    """Find out what `OF_GRADIENTS` names."""
    first = function.apply(*leaves, *causal)
    above = torch.ones_like(first)
    found = _gradients(first, leaves, above)
    alone = _gradients_alone(function, leaves, causal)
    function.apply(*(2 * leaf for leaf in leaves), not any(causal))
    again = _gradients(first, leaves, again=True)
    own, same_alone = (all(map(torch.allclose, found, others)) for others in (again, alone))
    given, precise = bool((above == 1).all()), not any(map(_is_rounded, found))
    once = {OWN_BACKWARD: not _differentiates(again, leaves)}
    return _facts(own=own, alone=same_alone, given=given, precise=precise, **once)


def _facts(**facts: bool) -> Facts:
    return {name: torch.tensor(fact) for name, fact in facts.items()}


def _error_of(call: Callable[[], object]) -> Exception | None:
    """Make a call, and return what it raised; a stub's error goes on."""
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


def _noting_its_end(function: AutogradFunction) -> tuple[AutogradFunction, list[bool]]:
    """Return a function like this one, and a list that says True for each end of its way back."""
    ends: list[bool] = []

    def backward(ctx: Any, *above: Tensor) -> Any:
        found = function.backward(ctx, *above)
        ends.append(True)
        return found

    members = {"backward": staticmethod(backward)}
    return type(function.__name__, (function,), members), ends


def _is_tracked(result: Tensor) -> bool:
    """Whether what made a result keeps no tensors of its own, outside of autograd's."""
    ctx = getattr(result.grad_fn, "__dict__", {})
    return not any(True for _ in reachable_tensors(ctx))


class _Sum(torch.autograd.Function):
    """A sum whose gradient is a given tensor.

    `torch.autograd.grad` takes one too, but imports sympy for it, on the learner's clock.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, gradient: Tensor) -> Tensor:
        ctx.gradient = gradient
        return values.sum()

    @staticmethod
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None]:
        return ctx.gradient, None


def _gradients(
    result: Tensor, leaves: list[Tensor], above: Tensor | None = None, again: bool = False
) -> list[Tensor]:
    """Return the gradients of a sum; zeros for one that is missing.

    above: the gradient that the result gets.
    again: whether they may be differentiated in turn.
    """
    above = torch.ones_like(result) if above is None else above
    total = _Sum.apply(result, above)  # type: ignore[no-untyped-call]
    found = torch.autograd.grad(
        total, leaves, retain_graph=True, create_graph=again, allow_unused=True
    )
    return [
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(leaves, found, strict=True)
    ]


def _gradients_alone(
    function: AutogradFunction, leaves: list[Tensor], causal: tuple[bool, ...]
) -> list[Tensor]:
    """Return the gradient of each input, found while it is the only one that needs one."""
    found = []
    for leaf in leaves:
        inputs = [each if each is leaf else each.detach() for each in leaves]
        result = function.apply(*inputs, *causal)
        found += _gradients(result, [leaf]) if result.requires_grad else [torch.zeros_like(leaf)]
    return found


def _is_rounded(value: Tensor) -> bool:
    """Whether all numbers, unless they are whole, are those of float32."""
    return not torch.equal(value, value.round()) and torch.equal(value, value.float().double())


def _differentiates(gradients: list[Tensor], leaves: list[Tensor]) -> bool:
    """Whether gradients have gradients."""
    try:
        torch.autograd.grad(sum(map(Tensor.sum, gradients)), leaves, allow_unused=True)  # type: ignore[arg-type]
    except RuntimeError:
        return False
    return True
