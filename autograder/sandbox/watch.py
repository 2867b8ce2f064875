"""Watch a running notebook: the time, memory and threads of all its processes together.

Without a control group, the operating system limits only each process by itself, and does not limit
root's threads at all; this module limits the total.
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

import psutil

from autograder.sandbox.cgroups import Group
from autograder.sandbox.inside.stopwatch import Stopwatch
from autograder.sandbox.limits import Limits

EVERY = 0.1  # seconds
IDLE_CELLS = 3  # all cells together may idle for as long as this many cells
PATIENCE = 60.0  # seconds from ending the run to ending the whole sandbox
# Memory that counts, in /proc/PID/status and in /proc/PID/smaps_rollup. Mapped files do not: the
# system can reclaim that memory.
HELD_AT_MOST = ("RssAnon", "RssShmem", "VmSwap")
HELD = ("Pss_Anon", "Pss_Shmem", "SwapPss")
COUNTED = {"Threads", *HELD_AT_MOST, *HELD}
# The most that the kernel keeps in a socket: Linux's usual net.core.wmem_default. The system call
# filter refuses larger buffers.
SOCKET_BYTES = 212_992


class Watch:
    """Ends a run that exceeds its limits, or that it can no longer watch.

    reason: the limit that was exceeded, once one was, or why it can't watch.
    waited: whether that is the limit on wall time.

    sandbox: its first process.
    number: the id of the ancestor of all the run's processes, in the sandbox's own process table.
    end: ends the run.
    end_all: ends the sandbox.
    group: the control group that the run moves into; None if this system has none.
    """

    def __init__(
        self,
        sandbox: int,
        number: int,
        limits: Limits,
        end: Callable[[], None],
        end_all: Callable[[], None],
        group: Group | None = None,
    ) -> None:
        self.limits, self.reason, self.waited = limits, "", False
        self._sandbox, self._number = psutil.Process(sandbox), number
        self._first: psutil.Process | None = None
        self._end, self._end_all = end, end_all
        self._group = group
        used = group.seconds if group else None
        idle_seconds = IDLE_CELLS * limits.idle_seconds
        self._time = Stopwatch(
            limits.notebook_seconds, limits.patience, idle_seconds, self._pids, used
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._group:
            self._move(self._group)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()
        if not self.reason and self._group and self._group.ran_out_of_memory():
            self.reason = self._too_much_memory()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            try:
                self.reason = self._excess()
            except Exception as error:  # without a watch, nothing may go on
                self.reason = f"the watch over it failed ({type(error).__name__}: {error})"
            if self.reason:
                self._end()
                if not self._over.wait(PATIENCE):
                    self._end_all()
                return

    def _excess(self) -> str:
        """Return the limit that is exceeded; "" if none is."""
        limits = self.limits
        if excess := self._time.excess():
            self.waited = excess.waiting
            return f"the notebook took {excess.time} in all"
        pids = self._pids()
        facts = [_numbers(pid, "status") for pid in pids]
        if sum(fact.get("Threads", 0) for fact in facts) > limits.processes:
            return f"it started more than {limits.processes} processes and threads"
        # The exact number takes milliseconds per process, so look it up only when it matters.
        most = limits.memory_bytes - SOCKET_BYTES * _sockets(pids)
        if _sum(facts, HELD_AT_MOST) > most:
            exact = [_numbers(pid, "smaps_rollup") for pid in pids]
            if _sum(exact, HELD) > most:
                return self._too_much_memory()
        return ""

    def _too_much_memory(self) -> str:
        return f"it used more than {self.limits.memory_bytes / 2**30:.1f} GB of memory"

    def _move(self, group: Group) -> None:
        """Move the run and its ancestor into its group, with whatever they start meanwhile."""
        moved: set[int] = set()
        while new := {*self._pids(), *([self._first.pid] if self._first else [])} - moved:
            group.take(new)
            moved |= new

    def _pids(self) -> list[int]:
        """List all processes of the run; none if it has ended."""
        with contextlib.suppress(psutil.Error, StopIteration):
            if self._first is None:
                everything = self._sandbox.children(recursive=True)
                self._first = next(p for p in everything if _inner(p.pid) == self._number)
            return [p.pid for p in self._first.children(recursive=True)]
        return []


def _inner(pid: int) -> int:
    """Return a process's id in the sandbox's process table; 0 if it is not there."""
    numbers = _lines(pid, "status").get("NSpid", "").split()
    return int(numbers[1]) if len(numbers) > 1 else 0


def _sum(facts: list[dict[str, int]], names: tuple[str, ...]) -> int:
    """Add up bytes. In HELD, each process counts only its share of shared memory."""
    return 1024 * sum(fact.get(name, 0) for fact in facts for name in names)


def _sockets(pids: list[int]) -> int:
    """Count the sockets of the run; all its processes are in one network namespace."""
    counts = (_lines(pid, "net/sockstat").get("sockets", "").split() for pid in pids)
    return next((int(words[1]) for words in counts if words), 0)


def _numbers(pid: int, file: str) -> dict[str, int]:
    """Return the numbers that count, by name. Other lines hold what a process chose, like its name.

    Raises ValueError if one of them is no number.
    """
    lines = _lines(pid, file)
    return {name: int(lines[name].split()[0]) for name in COUNTED if lines.get(name, "").strip()}


def _lines(pid: int, file: str) -> dict[str, str]:
    """Return the lines of a file in /proc, by name; {} if the process has ended."""
    try:
        # A process's name need not be UTF-8.
        text = Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: value for name, _, value in (line.partition(":") for line in text.splitlines())}
