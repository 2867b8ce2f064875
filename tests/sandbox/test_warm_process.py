"""The process that notebooks are forked from: who may use it, and what ends with what."""

import os
import subprocess
import sys
from contextlib import closing

import pytest

from autograder.places import ROOT
from autograder.sandbox import warm_process
from autograder.sandbox.inside import frames
from autograder.sandbox.limits import Limits
from autograder.sandbox.warm_process import WarmProcess
from tests.support.processes import descendants, running
from tests.support.waiting import HANG, wait_until

pytestmark = pytest.mark.usefixtures("sandbox")
# Root may pass any number of descriptors.
AS_A_USER = [] if os.getuid() else ["setpriv", "--bounding-set=-sys_admin,-sys_resource"]
IN_FLIGHT = """
import resource, socket
from contextlib import closing
from autograder.sandbox.sandbox import Cell, Sandbox

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
ends = socket.socketpair()
try:
    while True:
        socket.send_fds(ends[0], [b"x"], [0] * 250)
except OSError as error:
    print(error)
with closing(Sandbox()) as sandbox:
    print(sandbox.run([Cell("6 * 7", 10.0)]).cells[0].outputs[0].data["text/plain"])
"""
EACH = 3  # processes per fork: keeper, supervisor and kernel


@pytest.fixture
def warm():
    with closing(WarmProcess([], Limits(), {}, ahead=2)) as warm:
        yield warm


def forks(warm):
    """Count the forks, waiting or at work."""
    below = running(descendants(warm.pid))
    return (len(below) - 2) / EACH  # without bwrap and the warm process itself


def wait_for_forks(count, warm):
    wait_until(lambda: forks(warm) == count, f"there are never {count} forks")


def begin(warm, *sources):
    """Give a fork cells to run; return its number, and the socket to reach it."""
    number, channel = warm.take_fork()
    frames.send(channel, {"cells": [[source, HANG] for source in sources], "files": {}})
    return number, channel


def printed(channel):
    """Wait until a fork has run a cell; return what that printed."""
    channel.settimeout(HANG)
    inbox = frames.FrameInbox(channel, 10_000)
    inbox.next()
    return inbox.next()["outputs"][0]["text"]


def test_it_keeps_forks_ready_and_each_is_another(warm):
    wait_for_forks(2, warm)
    (first, one), (second, other) = begin(warm, "6 * 7"), begin(warm, "7 * 8")
    assert first != second
    with one, other:
        for channel, product in ((other, "56"), (one, "42")):
            channel.settimeout(HANG)
            inbox = frames.FrameInbox(channel, 10_000)
            about, shown = inbox.next(), inbox.next()
            assert about["execution_count"] == 1
            assert shown["outputs"][0]["data"]["text/plain"] == product
    wait_for_forks(2, warm)


def test_no_fork_sees_the_terminals_of_another(warm):
    look = "import os; print(os.listdir('/dev/pts'))"
    _, holder = begin(warm, f"import os; ends = os.openpty(); {look}", "while True: pass")
    with holder:
        assert printed(holder) == "['0', 'ptmx']\n"
        _, other = begin(warm, look)
        with other:
            assert printed(other) == "['ptmx']\n"


def test_a_fork_ends_when_it_is_told_to(warm):
    number, channel = begin(warm, "while True: pass")
    with channel:
        wait_for_forks(3, warm)
        warm.end_fork(number)
        wait_for_forks(2, warm)
        warm.end_fork(number)  # as happens if it exceeds a limit and is done


def test_a_fork_ends_with_whoever_asked_for_it(warm):
    _, channel = begin(warm, "while True: pass")
    wait_for_forks(3, warm)
    channel.close()
    wait_for_forks(2, warm)


def test_when_it_is_lost_it_is_known(warm, monkeypatch):
    _, channel = begin(warm, "while True: pass")
    assert not warm.is_lost()
    monkeypatch.setattr(warm_process, "LOST_SECONDS", HANG)
    warm.kill()
    assert warm.is_lost()
    channel.close()
    with pytest.raises(OSError, match=r"ended|refused|Broken pipe"):
        warm.take_fork()


def test_it_passes_no_descriptors_which_are_counted_by_user():
    program = [*AS_A_USER, sys.executable, "-c", IN_FLIGHT]
    ran = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert ran.stdout == "[Errno 109] Too many references: cannot splice\n42\n", ran.stderr
