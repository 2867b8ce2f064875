"""Trials of answers that have to do with little memory: see `asking.trials`."""

import contextlib
import math
import os
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._C._profiler import _EventType
from torch.autograd.profiler import profile

from autograder.asking.answer import OWN_BACKWARD, Facts

ROOM = 2  # how many times as large as necessary a tensor may be
USUAL_TILE = (16, 16)  # if no other is asked for
ROWS = 64  # rows of scores that a backward pass may hold at a time
FLOATS = {f"torch.{name}" for name in ("float64", "float32", "float16", "bfloat16")}
ODDMENTS = 20_000  # bytes of Python's that don't count, such as an object's attributes


def in_little_memory(
    function: Callable[..., Any],
    facts: Facts,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *options: Any,
) -> Any:
    """Attend in tiles.

    options: whether it is causal, and the sizes of tiles; nothing for the defaults.

    small: whether all tensors are about as small as the inputs, or as a tile of scores.
    tiles: whether one of them has the size of a tile.

    Where all scores are that small, too, neither is in question.
    """
    tile = options[1:] or USUAL_TILE
    most, scores = _most_elements([query, key, value], math.prod(tile)), _all_scores(query, key)
    with recording() if scores > most else contextlib.nullcontext() as record:
        result = function(query, key, value, *options)
    facts["small"] = torch.tensor(record is None or record.largest <= most)
    facts["tiles"] = torch.tensor(record is None or tile in record.matrices)
    return result


def apply_in_little_memory(
    function: type[torch.autograd.Function],
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
    own: whether another call in between leaves the gradients as they are.
    alone: whether an input gets the same gradient if no other needs one.
    given: whether the gradient that comes from above stays as it is.
    precise: whether gradients are as precise as the inputs.
    once: whether gradients can't be differentiated in turn.
    """
    inputs = [query, key, value]
    result = function.apply(*inputs, *causal)
    if not isinstance(result, Tensor):
        return result
    leaves = [each.detach().double().requires_grad_() for each in inputs]
    with torch.enable_grad():
        facts |= _memory_of(function, leaves, causal)
        first = function.apply(*leaves, *causal)
        above = torch.ones_like(first)
        found = _gradients(first, leaves, above)
        alone = _gradients_alone(function, leaves, causal)
        function.apply(*(2 * leaf for leaf in leaves), not any(causal))
        again = _gradients(first, leaves, again=True)
        once = not _differentiates(again, leaves)
    facts["own"] = torch.tensor(all(map(torch.allclose, found, again)))
    facts["alone"] = torch.tensor(all(map(torch.allclose, found, alone)))
    facts["given"] = torch.tensor(bool((above == 1).all()))
    facts["precise"] = torch.tensor(not any(map(_is_rounded, found)))
    facts[OWN_BACKWARD] = torch.tensor(once)
    return result


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
    function: type[torch.autograd.Function], leaves: list[Tensor], causal: tuple[bool, ...]
) -> list[Tensor]:
    """Return the gradient of each input, found while it is the only one that needs one."""
    found = []
    for leaf in leaves:
        inputs = [each if each is leaf else each.detach() for each in leaves]
        result = function.apply(*inputs, *causal)
        found += _gradients(result, [leaf]) if result.requires_grad else [torch.zeros_like(leaf)]
    return found


def _memory_of(
    function: type[torch.autograd.Function], leaves: list[Tensor], causal: tuple[bool, ...]
) -> Facts:
    """Find out `small` and `saves`, where all scores together would be too large."""
    query, key, _ = leaves
    small = saves = True
    most = _most_elements(leaves, ROWS * key.shape[-2])
    if _all_scores(query, key) > most:
        with recording() as forward:
            result = function.apply(*leaves, *causal)
        with recording() as backward:
            _gradients(result, leaves)
        small = max(forward.largest, backward.largest) <= most
        saves = forward.held <= ROOM * sum(leaf.nbytes for leaf in leaves)
    return {"small": torch.tensor(small), "saves": torch.tensor(saves)}


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


def without_keys(
    function: Callable[..., Any], facts: Facts, query: Tensor, latent: Tensor, *weights: Tensor
) -> Any:
    """Attend to latents.

    small: whether no tensor is larger than the inputs, the scores or one latent for each query, as
        all keys would be.
    """
    with recording() as record:
        result = function(query, latent, *weights)
    most = max(
        latent.numel(),
        query.shape[:-1].numel() * max(latent.shape[1:]),
        *map(Tensor.numel, weights),
    )
    facts["small"] = torch.tensor(record.largest <= most)
    return result


def _all_scores(query: Tensor, key: Tensor) -> int:
    return math.prod((*query.shape[:-1], key.shape[-2]))


def _most_elements(inputs: list[Any], scores: int) -> int:
    """Return how large a tensor may be: as the largest input, or this many scores per batch."""
    sizes = [tensor.numel() for tensor in all_tensors(inputs)]
    batch = int(math.prod(inputs[0].shape[:-2]))
    return ROOM * max(*sizes, batch * scores)


@dataclass
class Record:
    """What torch and Python did with memory.

    largest: how many numbers the largest floating-point tensor keeps that an operation got.
    matrices: the last two sizes of each of these.
    held: how many bytes were allocated and not released again, in whatever kind of object.
    """

    largest: int = 0
    matrices: set[tuple[int, ...]] = field(default_factory=set)
    held: int = 0


@contextlib.contextmanager
def recording() -> Iterator[Record]:
    """Record the body's memory, wherever the code keeps it and whoever calls torch."""
    record, tracing = Record(), tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        with (
            _no_stderr(),
            profile(use_kineto=True, record_shapes=True, profile_memory=True) as profiler,
        ):
            yield record
        after, _ = tracemalloc.get_traced_memory()
    finally:
        if not tracing:
            tracemalloc.stop()
    tree = profiler.kineto_results.experimental_event_tree()
    given = list(_tensors_given(tree))
    record.largest = max(map(_elements, given), default=0)
    record.matrices = {tuple(tensor.sizes[-2:]) for tensor in given}
    record.held = max(0, after - before - ODDMENTS) + _held(tree)


def _tensors_given(tree: list[Any]) -> Iterator[Any]:
    """Yield what torch knows about the floating-point tensors that its operations were given.

    Operations that others consist of are left out.
    """
    for event in tree:
        if event.name.startswith("aten::"):
            yield from _floats(event.extra_fields.inputs)
        else:
            yield from _tensors_given(event.children)


def _floats(inputs: list[Any]) -> Iterator[Any]:
    for value in inputs:
        if isinstance(value, list):
            yield from _floats(value)
        elif str(getattr(value, "dtype", "")) in FLOATS:
            yield value


def _elements(tensor: Any) -> int:
    """Return how many numbers a tensor keeps; an expanded one repeats them in a dimension."""
    pairs = zip(tensor.sizes, tensor.strides, strict=True)
    return math.prod(size for size, stride in pairs if stride)


def _held(tree: list[Any]) -> int:
    """Return how many bytes torch allocated and did not release again.

    What it releases may be older: then it is not known here.
    """
    held: dict[int, int] = {}
    memory = (event for event in _with_children(tree) if event.tag == _EventType.Allocation)
    for event in sorted(memory, key=lambda event: event.start_time_ns):
        address, size = event.extra_fields.ptr, event.extra_fields.alloc_size
        if size > 0:
            held[address] = size
        else:
            held.pop(address, None)
    return sum(held.values())


def _with_children(events: list[Any]) -> Iterator[Any]:
    for event in events:
        yield event
        yield from _with_children(event.children)


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Silence the profiler's C++ half, which writes to file descriptor 2, not `sys.stderr`."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def all_tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists, tuples, deques and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple | deque):
        for item in value.values() if isinstance(value, dict) else value:
            yield from all_tensors(item)
