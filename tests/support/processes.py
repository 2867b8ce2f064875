"""Look at running processes. Any of them may end meanwhile; then it counts as gone."""

import contextlib
import os
from collections.abc import Callable, Iterable

import psutil

FORK_SERVER = "from multiprocessing.forkserver import main"  # in its command line


def descendants(pid: int) -> list[psutil.Process]:
    """List the processes that a process has started, directly or indirectly."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def own_descendants() -> list[psutil.Process]:
    """List what this process has started, without what the fork server of `commands` has."""
    servers = those(psutil.Process().children(), lambda p: FORK_SERVER in " ".join(p.cmdline()))
    others = {process for server in servers for process in descendants(server.pid)}
    return [process for process in descendants(os.getpid()) if process not in others]


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
