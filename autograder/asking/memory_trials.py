"""Trials of answers that have to do with little memory: see `asking.trials`."""

import contextlib
import math
import tracemalloc
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._C._profiler import _EventType
from torch.autograd.profiler import profile

from autograder.asking.answer import Facts
from autograder.utils.costs import no_stderr

ROOM = 2  # how many times as large as necessary a tensor may be
USUAL_TILE = (16, 16)  # if no other is asked for
USUAL_CHUNK, FEW_WORDS = 64, 10
FLOATS = {f"torch.{name}" for name in ("float64", "float32", "float16", "bfloat16")}
PRODUCTS = {f"aten::{name}" for name in ("mm", "bmm", "addmm", "baddbmm")}
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

    scores: whether no product of matrices is much larger than the inputs, or than a tile of scores.
    pairs: whether no tensor, of whatever dtype, is that large and has a place for all pairs of
        queries and keys, as a mask may have.
    small: whether all floating-point tensors are about as small as the inputs, or as such a tile.
    tiles: whether one of them has the size of a tile.

    Where all scores are that small, too, none of this is in question.
    """
    tile = options[1:] or USUAL_TILE
    most = most_elements([query, key, value], math.prod(tile))
    with recording() if all_scores(query, key) > most else contextlib.nullcontext() as record:
        result = function(query, key, value, *options)
    record = record or MemoryUse(matrices=Counter([tile]))
    pairs = frozenset({query.shape[-2], key.shape[-2]})
    facts["scores"] = torch.tensor(record.product <= most)
    facts["pairs"] = torch.tensor(record.by_sizes.get(pairs, 0) <= most)
    facts["small"] = torch.tensor(record.largest <= most)
    facts["tiles"] = torch.tensor(tile in record.matrices)
    return result


def in_chunks(
    function: Callable[..., Any],
    facts: Facts,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *options: Any,
) -> Any:
    """Read a text in chunks. Its tensors are laid out as `split_heads` leaves them.

    options: what else the function takes, the chunk's size first of the whole numbers among it.

    of_chunks: whether no tensor, of whatever dtype, is much larger than the inputs, or than the
        scores of all chunks.
    chunks: whether the state is used less often than there are words.
    cuts: whether there are tensors of a chunk's words, and none of several chunks' is multiplied.

    Where a chunk has few words, or all scores aren't larger, none of this is in question.
    """
    query, key, value = (_words_first(x, -3) for x in (query, key, value))
    of_words = query.shape[:-1]  # of beta and log_decay
    options = tuple(
        _words_first(x, -2) if getattr(x, "shape", None) == of_words else x for x in options
    )
    n, chunk = query.shape[-2], next((one for one in options if isinstance(one, int)), USUAL_CHUNK)
    most = most_elements([query, key, value], n * chunk)
    is_in_question = chunk >= FEW_WORDS and all_scores(query, key) > most
    with recording() if is_in_question else contextlib.nullcontext() as record:
        result = function(query, key, value, *options)
    record = record or MemoryUse(by_sizes={frozenset({chunk}): 0})
    is_cut = any(chunk in sizes for sizes in record.by_sizes)
    largest = max(record.by_sizes.values(), default=0)
    facts["of_chunks"] = torch.tensor(largest <= most)
    facts["chunks"] = torch.tensor(record.matrices[key.shape[-1], value.shape[-1]] < n)
    facts["cuts"] = torch.tensor(
        is_cut and record.multiplied.isdisjoint(range(2 * chunk, n, chunk))
    )
    return result


def _words_first(x: Tensor, heads: int) -> Tensor:
    """Copy a tensor so that in memory, the words come before the heads, if there are any.

    heads: the dimension of the heads; that of the words follows.
    """
    if x.dim() < -heads:
        return x
    return x.transpose(heads, heads + 1).contiguous().transpose(heads, heads + 1)


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


def all_scores(query: Tensor, key: Tensor) -> int:
    return math.prod((*query.shape[:-1], key.shape[-2]))


def most_elements(inputs: list[Any], scores: int) -> int:
    """Return how large a tensor may be: as the largest input, or this many scores per batch."""
    sizes = [tensor.numel() for tensor in all_tensors(inputs)]
    batch = int(math.prod(inputs[0].shape[:-2]))
    return ROOM * max(*sizes, batch * scores)


@dataclass
class MemoryUse:
    """What torch and Python did with memory.

    largest: how many numbers the largest floating-point tensor keeps that an operation got.
    matrices: how often operations got one with these last two sizes.
    by_sizes: the same as `largest` for tensors of any dtype, by their last two sizes.
    product: how many numbers the largest product of matrices has.
    multiplied: the sizes of all matrices that were multiplied.
    held: how many bytes were allocated and not released again, in whatever kind of object.
    """

    largest: int = 0
    matrices: Counter[tuple[int, ...]] = field(default_factory=Counter)
    by_sizes: dict[frozenset[int], int] = field(default_factory=dict)
    product: int = 0
    multiplied: set[int] = field(default_factory=set)
    held: int = 0


@contextlib.contextmanager
def recording() -> Iterator[MemoryUse]:
    """Record the body's memory, wherever the code keeps it and whoever calls torch."""
    record, tracing = MemoryUse(), tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        with (
            no_stderr(),
            profile(use_kineto=True, record_shapes=True, profile_memory=True) as profiler,
        ):
            yield record
        after, _ = tracemalloc.get_traced_memory()
    finally:
        if not tracing:
            tracemalloc.stop()
    tree = profiler.kineto_results.experimental_event_tree()
    given = list(_tensors_given(tree))
    floats = [tensor for tensor in given if str(tensor.dtype) in FLOATS]
    record.largest = max(map(_elements, floats), default=0)
    record.matrices = Counter(tuple(tensor.sizes[-2:]) for tensor in floats)
    for tensor in sorted(given, key=_elements):
        record.by_sizes[frozenset(tensor.sizes[-2:])] = _elements(tensor)
    factors = list(_factors(tree))
    products = (math.prod(left.sizes[:-1]) * right.sizes[-1] for left, right in factors)
    record.product = max(products, default=0)
    record.multiplied = {size for pair in factors for factor in pair for size in factor.sizes}
    record.held = max(0, after - before - ODDMENTS) + _held(tree)


def _tensors_given(tree: list[Any]) -> Iterator[Any]:
    """Yield what torch knows about the tensors that its operations were given.

    Operations that others consist of are left out.
    """
    for event in tree:
        if event.name.startswith("aten::"):
            yield from _tensors_in(event.extra_fields.inputs)
        else:
            yield from _tensors_given(event.children)


def _tensors_in(inputs: list[Any]) -> Iterator[Any]:
    for value in inputs:
        if isinstance(value, list):
            yield from _tensors_in(value)
        elif hasattr(value, "sizes"):
            yield value


def _factors(tree: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield what torch knows about the two factors of each product of matrices."""
    for event in _with_children(tree):
        if event.name in PRODUCTS:
            *_, left, right = _tensors_in(event.extra_fields.inputs)
            yield left, right


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


def all_tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists, tuples, deques and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple | deque):
        for item in value.values() if isinstance(value, dict) else value:
            yield from all_tensors(item)
