"""Watch a running notebook: the time, memory and threads of all its processes together.

Without a control group, the operating system limits only each process by itself, and does not limit
root's threads at all; this module limits the total.
"""

import threading
from collections.abc import Callable
from typing import Self

from autograder.sandbox.cgroups import ControlGroup
from autograder.sandbox.inside.stopwatch import Stopwatch
from autograder.sandbox.limits import Limits
from autograder.sandbox.processes import Processes, facts_about

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

    processes: lists the run's processes.
    end: ends the run.
    end_all: ends the sandbox.
    group: the control group that the run moves into; None if this system has none.
    """

    def __init__(
        self,
        processes: Processes,
        limits: Limits,
        end: Callable[[], None],
        end_all: Callable[[], None],
        group: ControlGroup | None = None,
    ) -> None:
        self.limits, self.reason, self.waited = limits, "", False
        self._processes = processes
        self._end, self._end_all = end, end_all
        self._group = group
        used = group.seconds if group else None
        idle_seconds = IDLE_CELLS * limits.idle_seconds
        self._time = Stopwatch(
            limits.notebook_seconds, limits.patience, idle_seconds, processes, used
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
        pids = self._processes()
        facts = [_numbers(pid, "status") for pid in pids]
        if sum(fact.get("Threads", 0) for fact in facts) > limits.threads:
            return f"it started more than {limits.threads} processes and threads"
        # The exact number takes milliseconds per process, so look it up only when it matters.
        most = limits.memory_bytes - SOCKET_BYTES * _sockets(pids)
        if _sum(facts, HELD_AT_MOST) > most:
            exact = [_numbers(pid, "smaps_rollup") for pid in pids]
            if _sum(exact, HELD) > most:
                return self._too_much_memory()
        return ""

    def _too_much_memory(self) -> str:
        return f"it used more than {self.limits.memory_bytes / 2**30:.1f} GB of memory"

    def _move(self, group: ControlGroup) -> None:
        """Move the run into its group, with whatever it starts meanwhile."""
        moved: set[int] = set()
        while new := {*self._processes()} - moved:
            group.take(new)
            moved |= new


def _sum(facts: list[dict[str, int]], names: tuple[str, ...]) -> int:
    """Add up bytes. In HELD, each process counts only its share of shared memory."""
    return 1024 * sum(fact.get(name, 0) for fact in facts for name in names)


def _sockets(pids: list[int]) -> int:
    """Count the sockets of the run; all its processes are in one network namespace."""
    counts = (facts_about(pid, "net/sockstat").get("sockets", "").split() for pid in pids)
    return next((int(words[1]) for words in counts if words), 0)


def _numbers(pid: int, file: str) -> dict[str, int]:
    """Return the numbers that count, by name. Other lines hold what a process chose, like its name.

    Raises ValueError if one of them is no number.
    """
    lines = facts_about(pid, file)
    return {name: int(lines[name].split()[0]) for name in COUNTED if lines.get(name, "").strip()}
