"""The stopwatch counts the time that processes used, whichever process inherits it."""

import subprocess
import sys

import pytest

from autograder.sandbox.inside import stopwatch
from autograder.sandbox.inside.stopwatch import TICKS, Stopwatch, all_rest
from tests.support.waiting import wait_until

PARENT, CHILD, OTHER = 2, 3, 4


@pytest.fixture
def table(monkeypatch):
    """A process table: for each process, its own seconds and those that it inherited."""
    seconds = {PARENT: (5, 0)}

    def read(pid):
        return tuple(TICKS * used for used in seconds[pid]) if pid in seconds else None

    monkeypatch.setattr(stopwatch, "_read", read)
    return seconds


def is_over(table, moments):
    """Whether more than 2 seconds are used, after moments that each change the table."""
    watch = Stopwatch(2, 1000, 1000, lambda: list(table))
    for moment in moments:
        for pid, used in moment.items():
            table.pop(pid) if used is None else table.update({pid: used})
        found = watch.excess()
    return bool(found) and not found.waiting


def test_what_was_used_before_does_not_count(table):
    assert not is_over(table, [{PARENT: (6, 0)}, {PARENT: (7, 0)}])


def test_all_processes_count_together(table):
    assert is_over(table, [{PARENT: (6, 0), CHILD: (1, 0), OTHER: (1, 0)}])


def test_what_a_parent_inherits_counts_once(table):
    assert not is_over(table, [{CHILD: (2, 0)}, {CHILD: None, PARENT: (5, 2)}])


def test_what_nobody_inherits_counts_too(table):
    one, ended = {CHILD: (1, 0)}, {CHILD: None}
    assert not is_over(table, [one, ended, one, ended])
    assert is_over(table, [one, ended, one, ended, one])


def test_children_that_nobody_saw_count_when_inherited(table):
    assert is_over(table, [{PARENT: (5, 3)}])


def test_a_child_that_ends_while_it_is_read_counts_once(table, monkeypatch):
    ends = iter([False, False, True])
    read = stopwatch._read

    def read_late(pid):
        if pid == CHILD and next(ends, False):
            table[PARENT] = (5, 2)
            del table[CHILD]
        return read(pid)

    monkeypatch.setattr(stopwatch, "_read", read_late)
    assert not is_over(table, [{CHILD: (2, 0)}, {}, {}, {}])


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [0.0]
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize(
    ("states", "worked", "glances", "idles"),
    [
        ("SS", 0.0, 0.1, True),
        ("ST", 0.003, 0.1, True),
        ("SR", 0.0, 0.1, False),  # it waits for a processor
        ("SD", 0.0, 0.1, False),  # it waits for a disk
        ("SS", 0.02, 0.1, True),  # it dozes: works a little, and sleeps again
        ("SS", 0.06, 0.1, False),
        ("SS", 0.0, 1.0, False),  # it is unknown what happened meanwhile
    ],
)
def test_a_moment_is_idle_if_nothing_wants_to_run(
    clock, monkeypatch, states, worked, glances, idles
):
    tasks = {f"/proc/{PARENT}/task/{number}": state for number, state in enumerate(states)}
    monkeypatch.setattr(stopwatch, "glob", lambda pattern: list(tasks))
    monkeypatch.setattr(stopwatch, "_state", tasks.get)
    used = [0.0]
    watch = Stopwatch(1000, 1000, 2, lambda: [PARENT], lambda: used[0])
    for _ in range(30):
        clock[0] += glances
        used[0] += worked
        excess = watch.excess()
    assert (excess is not None) == idles
    assert not idles or excess == ("more than 2 seconds in which nothing ran", False)


def test_a_sleeping_process_rests_and_a_busy_one_does_not():
    sleeping = subprocess.Popen(["sleep", "600"])
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        wait_until(lambda: all_rest([sleeping.pid]) and not all_rest([busy.pid]))
    finally:
        for process in (sleeping, busy):
            process.kill()
            process.wait()
