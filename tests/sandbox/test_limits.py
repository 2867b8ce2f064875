"""A submission's own processor time is limited, and so, much more generously, is wall time."""

from contextlib import closing

import pytest

from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Cell, Sandbox

pytestmark = pytest.mark.usefixtures("sandbox")
SPIN = "while True: pass"
SLEEP = "import time\ntime.sleep(1e6)"
NAP = "import time\ntime.sleep(3)\nprint('awake')"
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SPIN!r}])"
SHORT, LONG = 1.0, 1e5


def run(source, cell_seconds=LONG, notebook_seconds=LONG, patience=LONG):
    limits = Limits(cell_seconds=cell_seconds, notebook_seconds=notebook_seconds, patience=patience)
    with closing(Sandbox(limits=limits)) as sandbox:
        done = sandbox.run([Cell(source, cell_seconds), Cell("print('next')", cell_seconds)])
    # A busy machine makes waiting longer, not computing.
    assert done.doubtful is (source == SLEEP)
    return done


def said(cell):
    return [output.get("evalue") or output.get("text") for output in cell.outputs]


@pytest.mark.parametrize("source", [SPIN, CHILD], ids=["itself", "in a child"])
def test_a_cell_that_computes_too_long(source):
    first, second = run(source, cell_seconds=SHORT).cells
    assert said(first)[-1] == "this cell took more than 1 seconds of processor time"
    assert said(second) == ["next\n"]


def test_a_cell_that_waits_too_long():
    first, second = run(SLEEP, cell_seconds=SHORT, patience=1.0).cells
    assert said(first)[-1] == "this cell took more than 1 seconds, most of them waiting"
    assert said(second) == ["next\n"]


def test_waiting_uses_no_processor_time():
    first, second = run(NAP, cell_seconds=SHORT, notebook_seconds=SHORT).cells
    assert said(first) == ["awake\n"] and said(second) == ["next\n"]


@pytest.mark.parametrize(
    ("source", "patience", "told"),
    [(SPIN, LONG, " of processor time"), (SLEEP, 1.0, ", most of them waiting")],
    ids=["computing", "waiting"],
)
def test_a_notebook_that_takes_too_long(source, patience, told):
    stopped = run(source, notebook_seconds=2.0, patience=patience).stopped
    assert stopped == f"the notebook took more than 2 seconds{told} in all"
