"""Measure how long a group of processes has worked: processor time, backed by wall time."""

import os
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")  # per second
TIMES = slice(11, 15)  # in /proc/PID/stat after the name: its time and its ended children's
ATTEMPTS = 3  # to read the times of all processes before another one ends

Times = dict[int, tuple[int, int]]  # by process: its ticks, and those that it inherited


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
        self._before = used()
        self._start = time.monotonic()

    def excess(self) -> Excess | None:
        """Return which time is exceeded, if one is."""
        if self._used() - self._before > self.seconds:
            return Excess(f"more than {self.seconds:g} seconds of processor time", False)
        if time.monotonic() - self._start > self.wall_seconds:
            return Excess(f"more than {self.wall_seconds:g} seconds, most of them waiting", True)
        return None


class ProcessorTime:
    """The processor seconds that processes use from now on, also those that have ended.

    Their parents inherit their time, unless they ignore the ends of their children or have ended
    too. pids: lists the processes.
    """

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        self._pids = pids
        self._times: Times = {}
        self._lost = 0

    def __call__(self) -> float:
        """Return the processor seconds used so far."""
        before, self._times = self._times, _times(self._pids())
        ended = sum(sum(before[pid]) for pid in before.keys() - self._times.keys())
        still = before.keys() & self._times.keys()
        inherited = sum(self._times[pid][1] - before[pid][1] for pid in still)
        self._lost += max(ended - inherited, 0)
        return (self._lost + sum(map(sum, self._times.values()))) / TICKS


def _times(pids: Iterable[int]) -> Times:
    """Read the times of processes so that none is counted twice.

    Parents come first: they have not yet inherited from children that can be read after them. And
    they are read again if a child has just ended.
    """
    found: Times = {}
    for _ in range(ATTEMPTS):
        pids = sorted(pids)
        found = {pid: times for pid in pids if (times := _read(pid))}
        if len(found) == len(pids):
            break
        pids = found
    return found


def _read(pid: int) -> tuple[int, int] | None:
    """Return the ticks used by a process and by its ended children; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            facts = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    user, system, *inherited = map(int, facts[TIMES])
    return user + system, sum(inherited)
