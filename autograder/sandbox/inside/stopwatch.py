"""Measure how long a group of processes has worked or idled, backed by wall time."""

import os
import time
from collections.abc import Callable, Iterable
from glob import glob
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")  # per second
TIMES = slice(11, 15)  # in /proc/PID/stat after the name: its time and its ended children's
RESTING = 0.5  # share of the time that processes may work; above it, they only pause
LONGEST_GLANCE = 0.5  # seconds: after a longer gap, the time in between is unknown
ATTEMPTS = 3  # to read the times of all processes before another one ends

Times = dict[int, tuple[int, int]]  # by process: its own ticks and its inherited ones


class Excess(NamedTuple):
    """A time that was exceeded, as in "more than 2 seconds".

    waiting: whether it is wall time, which passes on a busy machine too.
    """

    time: str
    waiting: bool


class Stopwatch:
    """Counts from its creation.

    seconds: processor time that all the processes may use together.
    patience: wall seconds allowed for each of these seconds.
    idle_seconds: time in which none of them wants to run. Unlike wall time, it does not pass while
        a busy machine makes them wait.
    pids: lists the processes.
    used: returns the processor time that they have used.
    """

    def __init__(
        self,
        seconds: float,
        patience: float,
        idle_seconds: float,
        pids: Callable[[], Iterable[int]],
        used: Callable[[], float] | None = None,
    ) -> None:
        self.seconds, self.wall_seconds = seconds, patience * seconds
        self.idle_seconds, self._idle = idle_seconds, 0.0
        self._pids, self._used = pids, used or ProcessorTime(pids)
        self._before = self._last_used = self._used()
        self._start = self._last = time.monotonic()

    def excess(self) -> Excess | None:
        """Return the time that was exceeded, if any. Call it several times a second."""
        used, now = self._used(), time.monotonic()
        self._note_idling(used, now)
        if used - self._before > self.seconds:
            return Excess(f"more than {self.seconds:g} seconds of processor time", False)
        if self._idle > self.idle_seconds:
            return Excess(f"more than {self.idle_seconds:g} seconds in which nothing ran", False)
        if now - self._start > self.wall_seconds:
            return Excess(f"more than {self.wall_seconds:g} seconds, most of them waiting", True)
        return None

    def _note_idling(self, used: float, now: float) -> None:
        passed, worked = now - self._last, used - self._last_used
        self._last, self._last_used = now, used
        if worked <= RESTING * passed <= RESTING * LONGEST_GLANCE and all_rest(self._pids()):
            self._idle += passed - worked


class ProcessorTime:
    """The processor seconds that processes use from now on, including those that have ended.

    Their parents inherit their time, unless the parents ignore that their children end, or have
    ended too.

    pids: lists the processes.
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


def all_rest(pids: Iterable[int]) -> bool:
    """Whether every thread of the processes sleeps, and none waits for a processor or a disk."""
    return not any(_state(task) in "RD" for pid in pids for task in glob(f"/proc/{pid}/task/*"))


def _state(task: str) -> str:
    """Return the letter for a thread's state; Z, for dead, if it has ended."""
    try:
        with open(f"{task}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return "Z"


def _times(pids: Iterable[int]) -> Times:
    """Read the times of processes so that none is counted twice.

    Parents are read first, before they can inherit from children that are read after them. If a
    child has just ended, the parents are read again.
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
