"""The cost of a call: its time, and the memory of the tensors that it creates or leaves behind.

Memory is measured with torch's profiler, which records every allocation and release by torch's
allocator, even inside compiled operations.
"""

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

BEYOND = (ModuleType, type, FrameType)  # from there, Python reaches everything
MEMORY = "[memory]"  # the profiler's name for an allocator event


def seconds(function: Callable, *arguments: Any, repeats: int = 3) -> float:
    """Time a call in seconds: the shortest of `repeats`, after one to warm up."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def peak_megabytes(function: Callable, *arguments: Any) -> float:
    """Measure the peak memory of a call's own tensors in MB (10⁶ bytes), on the CPU.

    The arguments and everything else that existed before do not count.
    """
    with no_stderr(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = function(*arguments)  # keep it alive until the profiler has stopped
    del result
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == MEMORY]
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most / 1e6


def saved_megabytes(function: Callable, *arguments: Any) -> float:
    """Measure the memory in MB (10⁶ bytes) that a call keeps for its backward pass.

    That is what autograd saves, or an attribute of `ctx` leads to, even if it existed before the
    call, and whatever else stays alive, but for the result. Each piece of memory counts once.
    """
    saved: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        saved.update(_memory([tensor]))
        return tensor

    before = _memory(_alive())
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = function(*arguments)  # while it lives, its memory is not used again
    results = result if isinstance(result, tuple | list) else [result]
    returned = [value for value in results if isinstance(value, Tensor)]
    expected = before | _memory(returned)
    left = {place: size for place, size in _memory(_alive()).items() if place not in expected}
    return sum((saved | _memory(_on_ctx(returned)) | left).values()) / 1e6


def _memory(tensors: Iterable[Tensor]) -> dict[int, int]:
    """Return where tensors keep their numbers, and in how many bytes; without sparse tensors."""
    dense = (tensor for tensor in tensors if tensor.layout == torch.strided)
    memories = [tensor.untyped_storage() for tensor in dense]
    return {memory.data_ptr(): memory.nbytes() for memory in memories}


def _on_ctx(results: list[Tensor]) -> Iterator[Tensor]:
    """Yield the tensors that attributes of `ctx` lead to, in the graphs of some results."""
    seen: set[object] = set()
    todo = [result.grad_fn for result in results]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield from reachable_tensors(getattr(node, "__dict__", {}))
        todo += [following for following, _ in node.next_functions]


def reachable_tensors(start: object) -> Iterator[Tensor]:
    """Yield the tensors that Python reaches from an object, but not through modules or classes."""
    seen: set[int] = set()
    todo = [start]
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, BEYOND):
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, FunctionType):  # without its globals
            todo += [value.__closure__, value.__defaults__, value.__kwdefaults__]
        else:
            todo += gc.get_referents(value)


def _alive() -> list[Tensor]:
    """Return all tensors that Python can reach, wherever they are kept."""
    gc.collect()
    return [value for value in gc.get_objects() if issubclass(type(value), Tensor)]


@contextlib.contextmanager
def no_stderr() -> Iterator[None]:
    """Silence what torch's profiler says: it writes to file descriptor 2, not to `sys.stderr`."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
