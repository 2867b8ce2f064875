"""Look at running processes. Any of them may end meanwhile; then it counts as gone."""

import contextlib
from collections.abc import Callable, Iterable

import psutil


def descendants(pid: int) -> list[psutil.Process]:
    """List the processes that a process has started, directly or indirectly."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def those(
    processes: Iterable[psutil.Process], condition: Callable[[psutil.Process], object]
) -> list[psutil.Process]:
    """List the processes that meet a condition, without those that have ended or are hidden."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            if condition(process):
                found.append(process)
    return found


def running(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """List those that have not ended; an ended process may stay a zombie for a while."""
    return those(processes, lambda p: p.is_running() and p.status() != psutil.STATUS_ZOMBIE)


def is_first_in_sandbox(process: psutil.Process) -> bool:
    """Whether a process is the one that starts a sandbox."""
    return process.name() == "unshare"
