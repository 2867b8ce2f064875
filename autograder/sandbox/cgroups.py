"""Control groups (cgroups v2): the kernel's own limits for all processes of a run together.

Each run gets a group below the grader's own, if the system lets the grader have groups: in a
container or a scope of systemd with a group of its own, or as root. See cgroups(7) and the kernel's
"Control Group v2".
"""

import itertools
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

import psutil

from autograder.sandbox.limits import Limits

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
CONTROLLERS = ("cpu", "memory", "pids")
PROCESSES, CHILDREN_HAVE = "cgroup.procs", "cgroup.subtree_control"
# Only groups without processes can pass controllers on, so the grader itself moves into this one.
GRADER = "grader"
RUN = "run-"
WEIGHT = 100  # the same for all runs: more processes don't get more processor time

_numbers = itertools.count()


class ControlGroup:
    """The group of one run. Use it as a context: at its end, what is left in it is killed."""

    def __init__(self, home: Path, limits: Limits) -> None:
        self._folder = home / f"{RUN}{os.getpid()}-{next(_numbers)}"
        self._folder.mkdir()
        most = limits.memory_bytes + limits.scratch_bytes
        self._set("memory.max", most)
        self._set("memory.oom.group", 1)
        with suppress(FileNotFoundError):  # this kernel does not count swap
            self._set("memory.swap.max", 0)
        # The watch ends a run that has more than half of these, as it does without a group.
        self._set("pids.max", 2 * limits.threads)
        self._set("cpu.weight", WEIGHT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):
            self._set("cgroup.kill", 1)
        # It is removed when the next one is made: ending takes a moment.

    def take(self, pids: Iterable[int]) -> None:
        """Move processes into the group, with all that they start from now on."""
        for pid in pids:
            with suppress(ProcessLookupError):
                self._set(PROCESSES, pid)

    def seconds(self) -> float:
        """Return the processor time used in the group, also by processes that have ended."""
        return _facts(self._folder / "cpu.stat")["usage_usec"] / 1e6

    def ran_out_of_memory(self) -> bool:
        """Whether it reached its own limit, not that of the whole machine."""
        return _facts(self._folder / "memory.events")["oom"] > 0

    def _set(self, name: str, value: int) -> None:
        (self._folder / name).write_text(f"{value}\n", encoding="ascii")


def new_group(limits: Limits) -> ControlGroup | None:
    """Make a group for a run; None if this system has none to give."""
    folder = home()
    if not folder:
        return None
    remove_empty(folder)
    return ControlGroup(folder, limits)


def remove_empty(home: Path) -> None:
    """Remove the groups of runs that have ended, whichever grader made them."""
    for left in home.glob(f"{RUN}*"):
        with suppress(OSError):  # something is still running in it
            left.rmdir()


@cache
def home() -> Path | None:
    """Return the group where groups can be made; None if this system has none.

    The first call may move the grader, and what runs beside it in its terminal, into a group below.
    """
    try:
        return _settled(_own_group())
    except OSError:
        return None


def _own_group() -> Path:
    """Return the folder of this process's group. Raises OSError if there are no cgroups v2."""
    mounts = (line.split() for line in MOUNTS.read_text(encoding="utf-8").splitlines())
    places = [words[4] for words in mounts if words[words.index("-") + 1] == "cgroup2"]
    named = [line for line in OWN.read_text(encoding="utf-8").splitlines() if line.startswith("0:")]
    if not (places and named):
        raise FileNotFoundError("no cgroups v2")
    return Path(places[0], named[0].removeprefix("0::/"))


def _settled(own: Path) -> Path:
    """Return the group for groups of runs, with all controllers. Raises OSError."""
    if own.name == GRADER and _passes_on(own.parent):
        return own.parent
    if not _passes_on(own):
        if (own / "cgroup.type").exists():  # every group but the root has one
            _move_out(own)
        (own / CHILDREN_HAVE).write_text(" ".join(f"+{name}" for name in CONTROLLERS))
    return own


def _passes_on(group: Path) -> bool:
    return set(CONTROLLERS) <= set((group / CHILDREN_HAVE).read_text(encoding="ascii").split())


def _move_out(group: Path) -> None:
    """Move this process, its ancestors and its session into a group below.

    Raises OSError if other programs are there, which the grader has no business moving.
    """
    ancestors = {process.pid for process in psutil.Process().parents()}
    there = {int(pid) for pid in (group / PROCESSES).read_text(encoding="ascii").split()}
    if any(os.getsid(pid) != os.getsid(0) for pid in there - ancestors):
        raise PermissionError("other programs are in the same group")
    leaf = group / GRADER
    leaf.mkdir(exist_ok=True)
    for pid in there:
        (leaf / PROCESSES).write_text(f"{pid}\n", encoding="ascii")


def _facts(file: Path) -> dict[str, int]:
    lines = (line.split() for line in file.read_text(encoding="ascii").splitlines())
    return {name: int(value) for name, value in lines}
