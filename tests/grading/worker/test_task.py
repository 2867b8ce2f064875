"""Grading a submission as a task: what is run, and where its outputs go."""

from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker import task
from autograder.grading.worker.graded_cells import NOT_RUN, SHOWN
from autograder.grading.worker.job import Job
from autograder.grading.worker.own_sandbox import close_own_sandbox
from autograder.sandbox.limits import Limits

pytestmark = pytest.mark.usefixtures("sandbox")
HELPER, SHOW = "helper = 5", "print('a demonstration')"
GIVE_UP = 'give_up = print\ngive_up("f")'
COURSE = {HELPER: [], SHOW: [new_output("stream", name="stdout", text="as released")]}


@pytest.fixture(scope="module", autouse=True)
def _sandbox_ends():
    yield
    close_own_sandbox()


def graded(*sources, **options):
    """Grade a notebook with these cells; return their outputs' text, and which were only shown."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    data = nbformat.writes(notebook).encode()
    solutions = {"f": "print(helper)"}
    job = Job("", Blueprint([]), data, solutions=solutions, course=COURSE)
    done = task.grade(replace(job, **options))
    cells = nbformat.reads(done.notebook, as_version=4).cells
    texts = ["".join(o.get("text", o.get("ename", "")) for o in cell.outputs) for cell in cells]
    return texts, [SHOWN in cell.metadata for cell in cells]


def test_a_demonstration_shows_what_the_course_shows():
    assert graded(SHOW, "print('mine')") == (["as released", "mine\n"], [True, False])


def test_a_notebook_may_import_helpers_by_their_former_name():
    source = "from utils.data import six_words\nprint(six_words()[1].shape)"
    texts, _ = graded(source)
    assert texts == ["torch.Size([6, 3])\n"]


def test_each_output_is_in_its_cell_where_a_given_up_exercise_needs_more():
    texts, shown = graded(HELPER, SHOW, GIVE_UP, "check(f)", "print('end')")
    assert texts == ["", "as released", "f\n", "5\n", "end\n"]
    assert shown == [False, True, False, False, False]


def test_a_cell_that_outlives_an_interrupt_is_left_out():
    endless = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    limits = Limits(cell_seconds=0.5)
    texts, _ = graded("number = 1", endless, "print(number)", limits=limits)
    assert texts == ["", "CellTimeoutError", "1\n"]


def test_but_only_two_of_them():
    endless = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    texts, _ = graded(*[endless] * 3, "print(1)", limits=Limits(cell_seconds=0.3))
    assert texts == [*["CellTimeoutError"] * 3, NOT_RUN]


@pytest.mark.parametrize("count", [1, 6])
def test_a_cell_runs_without_whatever_modules_are_lacking(count):
    imports = "".join(f"import no_such_{number}\n" for number in range(count))
    texts, _ = graded(f"{imports}print('here')", "print('below')")
    assert texts == ["here\n", "below\n"]
