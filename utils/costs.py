"""What a call costs: its time, and the memory of the tensors that it makes.

Memory is taken from torch's profiler, which notes each time that torch's allocator gives and takes
back memory, inside compiled operations too.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from torch.profiler import ProfilerActivity, profile

MEMORY = "[memory]"  # the profiler's name for an event of the allocator


def seconds(function: Callable, *arguments: Any, repeats: int = 3) -> float:
    """Seconds that a call takes: the shortest of `repeats`, after one to warm up."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def peak_megabytes(function: Callable, *arguments: Any) -> float:
    """The most memory in MB (10⁶ bytes) that a call's own tensors take up at one time, on the CPU.

    The arguments and whatever else was there before do not count.
    """
    with _no_stderr(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = function(*arguments)  # alive until the profiler has stopped
    del result
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == MEMORY]
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most / 1e6


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """The profiler's C++ half writes to file descriptor 2, past `sys.stderr`."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
