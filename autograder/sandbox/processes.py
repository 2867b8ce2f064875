"""The processes of one run, seen from outside."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

Processes = Callable[[], list[int]]  # lists their ids; none if the run has ended


class Descendants:
    """The processes below one in a sandbox's own process table.

    sandbox: the sandbox's first process.
    number: that one's id in the table.
    """

    def __init__(self, sandbox: int, number: int) -> None:
        self._sandbox, self._number = psutil.Process(sandbox), number
        self._first: psutil.Process | None = None

    def __call__(self) -> list[int]:
        with suppress(psutil.Error, StopIteration):
            if self._first is None:
                everything = self._sandbox.children(recursive=True)
                self._first = next(p for p in everything if _inner(p.pid) == self._number)
            return [process.pid for process in self._first.children(recursive=True)]
        return []


def processes_of(user: int) -> list[psutil.Process]:
    """List the processes that run as a user, whatever they call themselves."""
    everything = psutil.process_iter(["uids", "status"])
    return [one for one in everything if user in (one.info["uids"] or ()) and not _is_over(one)]


def _is_over(process: psutil.Process) -> bool:
    return process.info["status"] == psutil.STATUS_ZOMBIE


def facts_about(pid: int, file: str) -> dict[str, str]:
    """Return the lines of a file in /proc, by name; {} if the process has ended."""
    try:
        # A process's name need not be UTF-8.
        text = Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: value for name, _, value in (line.partition(":") for line in text.splitlines())}


def _inner(pid: int) -> int:
    """Return a process's id in the sandbox's process table; 0 if it is not there."""
    numbers = facts_about(pid, "status").get("NSpid", "").split()
    return int(numbers[1]) if len(numbers) > 1 else 0
