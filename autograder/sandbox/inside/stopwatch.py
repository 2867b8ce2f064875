"""How long a group of processes has been at work: processor time, and the wall clock behind it."""

import os
import time
from collections.abc import Callable, Iterable

TICKS = os.sysconf("SC_CLK_TCK")  # a second
TIMES = slice(11, 15)  # in /proc/PID/stat behind the name: its own time, and its ended children's


class Stopwatch:
    """Counts from its making on.

    seconds: of processor time that all the processes may use together. patience: wall seconds
    for each of them. pids: tells which processes there are.
    """

    def __init__(self, seconds: float, patience: float, pids: Callable[[], Iterable[int]]) -> None:
        self.seconds, self.wall_seconds = seconds, patience * seconds
        self._pids = pids
        self._most = self._before = _processor_seconds(pids())
        self._start = time.monotonic()

    def excess(self) -> str:
        """Which time is over, as in "more than 2 seconds"; empty as long as none is."""
        # A process that ends may take its time with it.
        self._most = max(self._most, _processor_seconds(self._pids()))
        if self._most - self._before > self.seconds:
            return f"more than {self.seconds:g} seconds of processor time"
        if time.monotonic() - self._start > self.wall_seconds:
            return f"more than {self.wall_seconds:g} seconds, most of them waiting"
        return ""


def _processor_seconds(pids: Iterable[int]) -> float:
    return sum(map(_ticks, pids)) / TICKS


def _ticks(pid: int) -> int:
    """What a process and its ended children have used; 0 when it has ended itself."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            facts = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return sum(map(int, facts[TIMES]))
