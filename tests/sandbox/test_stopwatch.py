"""The stopwatch counts what processes used, whoever inherits it when they end."""

import pytest

from autograder.sandbox.inside import stopwatch
from autograder.sandbox.inside.stopwatch import TICKS, ProcessorTime, Stopwatch

PARENT, CHILD, OTHER = 2, 3, 4


@pytest.fixture
def table(monkeypatch):
    """A process table: seconds by process, its own and those it inherited."""
    seconds = {PARENT: (5, 0)}

    def read(pid):
        return tuple(TICKS * used for used in seconds[pid]) if pid in seconds else None

    monkeypatch.setattr(stopwatch, "_read", read)
    return seconds


def is_over(table, moments):
    """Whether more than 2 seconds are used, at the end of moments that change the table."""
    watch = Stopwatch(2, 1000, ProcessorTime(lambda: list(table)))
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
