"""Measure how long a group of processes has worked: processor time, backed by wall time."""

import os
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")  # per second
TIMES = slice(11, 15)  # in /proc/PID/stat after the name: its time and its ended children's


class Excess(NamedTuple):
    """A time that was exceeded, as in "more than 2 seconds".

    waiting: whether it is wall time, which passes on a busy machine too.
    """

    time: str
    waiting: bool


class Stopwatch:
    """Counts from its creation.

    seconds: processor time that all the processes may use together. patience: wall seconds
    allowed for each of these seconds. used: returns the processor time that they have used.
    """

    def __init__(self, seconds: float, patience: float, used: Callable[[], float]) -> None:
        self.seconds, self.wall_seconds = seconds, patience * seconds
        self._used = used
        self._most = self._before = used()
        self._start = time.monotonic()

    def excess(self) -> Excess | None:
        """Return which time is exceeded, if one is."""
        # A process that ends may take its time off the total.
        self._most = max(self._most, self._used())
        if self._most - self._before > self.seconds:
            return Excess(f"more than {self.seconds:g} seconds of processor time", False)
        if time.monotonic() - self._start > self.wall_seconds:
            return Excess(f"more than {self.wall_seconds:g} seconds, most of them waiting", True)
        return None


def processor_seconds(pids: Iterable[int]) -> float:
    """Return the processor time used by processes and their ended children."""
    return sum(map(_ticks, pids)) / TICKS


def _ticks(pid: int) -> int:
    """Return the ticks used by a process and its ended children; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            facts = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return sum(map(int, facts[TIMES]))
