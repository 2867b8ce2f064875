"""Ctrl-C ends a run wherever it arrives, even where Python would lose it."""

import os
import signal
import sys
from concurrent.futures import Future

import pytest

from autograder.grading.engine.ctrl_c import CtrlC
from autograder.grading.engine.pool import Pool
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker.job import Job

ENDLESS = Job("endless", Blueprint([]), b"")


class Executor:
    """Takes jobs and never does them."""

    def submit(self, *_):
        return Future()


class PressesCtrlC:
    """Gets Ctrl-C in its finalizer, which lets no exception through."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def lost(monkeypatch):
    """What Python printed and forgot."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: found.append(about.exc_type))
    return found


def test_ctrl_c_that_python_loses_ends_a_run_that_would_never_end(lost):
    pool = Pool(Executor, lambda executor: None, 2)
    with pytest.raises(KeyboardInterrupt), CtrlC() as ctrl_c:
        PressesCtrlC()
        assert lost == [KeyboardInterrupt]
        list(pool.grade_all([ENDLESS], ctrl_c.check))


def test_ctrl_c_arrives_at_once_where_it_can():
    with pytest.raises(KeyboardInterrupt), CtrlC():
        signal.raise_signal(signal.SIGINT)


def test_without_ctrl_c_nothing_is_raised_and_afterwards_all_is_as_before():
    before = signal.getsignal(signal.SIGINT)
    with CtrlC() as ctrl_c:
        ctrl_c.check()
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with CtrlC() as ctrl_c:
            signal.raise_signal(signal.SIGINT)
            ctrl_c.check()
    finally:
        signal.signal(signal.SIGINT, before)
