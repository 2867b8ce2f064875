"""Grading on a Dask cluster: a real scheduler, and two worker processes with two threads each."""

import socket

import psutil
import pytest
from nbformat.v4 import new_code_cell

from autograder.errors import CourseError
from autograder.grading.engine import pool
from tests.demo.made_up_class import MadeUpSubmission
from tests.support.classroom import (
    LESSON,
    autograded,
    gradebook,
    hand_in,
    make_course,
    nbgrader,
    scores,
)
from tests.support.processes import is_first_in_sandbox, those
from tests.support.servers import dask_scheduler, dask_workers

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("sandbox")]
PROWLING = "from pathlib import Path\nprint(Path({path!r}).exists(), Path('/scratch').exists())"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def scheduler(place):
    with dask_scheduler(place) as address:
        yield address


@pytest.fixture(scope="module")
def cluster(scheduler, place):
    with dask_workers(scheduler, place, 2, threads=2) as client:
        yield client


def sandboxes():
    """Count a worker's sandboxes; runs on the worker."""
    return len(those(psutil.Process().children(), is_first_in_sandbox))


def submission(source):
    """Make the released lesson with an extra first cell."""
    notebook = MadeUpSubmission("").notebook(LESSON)
    notebook.cells.insert(0, new_code_cell(source))
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    grades = make_course(course, 3)
    hand_in(course, "endless", submission("while True: pass"))
    hand_in(course, "prowling", submission(PROWLING.format(path=str(course))))
    return course, grades | {"endless": 0, "prowling": 0}


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(pool, "SCHEDULER_SECONDS", 1)
    with socket.socket() as taken:  # but nothing listens there
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CourseError, match=f"No Dask scheduler answers at {address}"):
            pool.dask_pool(address)


def test_an_invalid_address():
    with pytest.raises(CourseError, match="No Dask scheduler answers at nonsense://"):
        pool.dask_pool("nonsense://")


def test_no_workers(scheduler):
    with pytest.raises(CourseError, match=f"has no workers.*dask worker {scheduler}"):
        pool.dask_pool(scheduler)


@pytest.fixture(scope="module")
def graded(course, scheduler, cluster):
    """The course, graded on the cluster, the true grades, and what the grader said."""
    folder, grades = course
    options = (f"--Autograde.scheduler={scheduler}", "--Autograde.cell_seconds=3")
    return folder, grades, nbgrader(folder, "autograde", LESSON.name, *options)


def test_the_grades_are_the_true_ones(graded):
    course, grades, said = graded
    assert "Traceback" not in said
    assert scores(gradebook(course)) == grades


@pytest.mark.usefixtures("graded")
def test_each_thread_of_each_worker_had_a_sandbox_of_its_own(cluster):
    assert [1 <= count <= 2 for count in cluster.run(sandboxes).values()] == [True, True]


def test_the_limits_hold_on_the_workers(graded):
    *_, output = autograded(graded[0], "endless").cells[0].outputs
    assert output.evalue == "this cell took more than 3 seconds of processor time"


def test_the_walls_stand_on_the_workers(graded):
    [output] = autograded(graded[0], "prowling").cells[0].outputs
    assert output.text == "False True\n"
