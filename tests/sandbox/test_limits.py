"""A submission's processor time is limited, and so, much more generously, is its wall time."""

from contextlib import closing

import pytest

from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Cell, Sandbox
from autograder.sandbox.watch import Watch
from tests.support.sharing import every

pytestmark = pytest.mark.usefixtures("sandbox")
SPIN = "while True: pass"
SLEEP = "import time\ntime.sleep(1e6)"
NAP = "import time\ntime.sleep(1.5)\nprint('awake')"
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SPIN!r}])"
THREADS = """
import threading, time
try:
    for _ in range(100):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
except RuntimeError:
    print("refused")
"""
SHORT, LONG = 1.0, 1e5


def run(source, count=1, **limits):
    long = dict.fromkeys(("cell_seconds", "notebook_seconds", "patience", "idle_seconds"), LONG)
    limits = Limits(**long | limits)
    cells = [Cell(each, limits.cell_seconds) for each in [source] * count + ["print('next')"]]
    with closing(Sandbox(limits=limits)) as sandbox:
        return sandbox.run(cells)


def said(cell):
    return [output.get("evalue") or output.get("text") for output in cell.outputs]


@pytest.mark.parametrize(
    ("source", "limits", "told", "doubtful"),
    [
        (SPIN, {"cell_seconds": SHORT}, " of processor time", False),
        (CHILD, {"cell_seconds": SHORT}, " of processor time", False),
        # A busy machine makes waiting longer, but not idling.
        (SLEEP, {"cell_seconds": SHORT, "patience": 1.0}, ", most of them waiting", True),
        (SLEEP, {"idle_seconds": SHORT}, " in which nothing ran", False),
    ],
    ids=["computing", "computing in a child", "waiting", "idling"],
)
def test_a_cell_that_takes_too_long(source, limits, told, doubtful):
    ran = run(source, **limits)
    first, second = ran.cells
    assert said(first)[-1] == f"this cell took more than 1 seconds{told}"
    assert said(second) == ["next\n"] and ran.doubtful is doubtful


def test_sleeping_cells_end_the_notebook_in_the_end():
    ran = run(SLEEP, idle_seconds=SHORT, count=5)
    assert ran.stopped == "the notebook took more than 3 seconds in which nothing ran in all"
    assert len(ran.cells) >= 2 and not ran.doubtful


def test_waiting_uses_no_processor_time():
    first, second = run(NAP, cell_seconds=SHORT, notebook_seconds=SHORT).cells
    assert said(first) == ["awake\n"] and said(second) == ["next\n"]


@pytest.mark.parametrize(
    ("source", "patience", "told"),
    [(SPIN, LONG, " of processor time"), (SLEEP, 1.0, ", most of them waiting")],
    ids=["computing", "waiting"],
)
def test_a_notebook_that_takes_too_long(source, patience, told):
    ran = run(source, notebook_seconds=SHORT, patience=patience)
    assert ran.stopped == f"the notebook took more than 1 seconds{told} in all"
    assert ran.doubtful is (source == SLEEP)


@pytest.mark.parametrize("name", every(3, ["RssAnon: 0", "Threads:", "²"]))
def test_the_name_of_a_process_says_nothing_about_it(name):
    source = f"open('/proc/self/comm', 'w').write({name!r})\n{SPIN}"
    ran = run(source, notebook_seconds=SHORT)
    assert ran.stopped == "the notebook took more than 1 seconds of processor time in all"


def test_nothing_goes_on_unwatched(monkeypatch):
    def fails(self):
        raise ValueError("unheard of")

    monkeypatch.setattr(Watch, "_excess", fails)
    ran = run(NAP)
    assert ran.stopped == "the watch over it failed (ValueError: unheard of)"


def test_a_notebook_with_too_many_threads():
    ran = run(THREADS, threads=80)
    # The kernel itself refuses them, unless the grader is root.
    refused = ran.cells and said(ran.cells[0]) == ["refused\n"]
    assert refused or ran.stopped == "it started more than 80 processes and threads"
