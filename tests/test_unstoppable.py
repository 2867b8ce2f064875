"""Whatever ends the grader or a part of it, at any moment: the next run makes all of it good."""

import multiprocessing
import os
import random
import shutil
import signal
import time
from dataclasses import replace

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.errors import CourseError
from autograder.grading.blueprint import Blueprint
from autograder.grading.job import Job
from autograder.grading.neighbours import only_run
from autograder.grading.pool import local_pool
from tests import kills
from tests.classroom import LESSON, descendants, gradebook, make_course, nbgrader, records, verdicts

pytestmark = pytest.mark.usefixtures("sandbox")
COUNT = 6
# How many submissions are done when the grader is killed, and seconds more: from before the
# first, while processes start, to the last.
MOMENTS = [(0, 0.0), (1, 0.15), (COUNT - 2, 0.3)]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course directory in which nothing is graded yet."""
    course = tmp_path_factory.mktemp("killed")
    make_course(course, COUNT)
    return course


def test_after_kills_the_gradebook_is_that_of_an_undisturbed_run(course):
    chance = random.Random(2)
    for done, most_seconds in MOMENTS:
        grader = kills.start_grading(course)
        kills.wait_until(lambda done=done: kills.graded(course) >= done, grader)
        kills.wait_until(lambda grader=grader: descendants(grader.pid), grader)
        time.sleep(chance.uniform(0, most_seconds))
        assert grader.poll() is None, "it was done before it was killed"
        kills.kill(grader, course)
    killed_at = kills.graded(course)
    said = nbgrader(course, "autograde", LESSON.name)
    assert f"{killed_at} untouched" in said
    assert not kills.unfinished(course)
    found = records(gradebook(course)), verdicts(course)
    nbgrader(course, "autograde", LESSON.name, "--force")
    assert found == (records(gradebook(course)), verdicts(course))
    assert len(found[1]) == COUNT


@pytest.mark.parametrize(
    ("processes", "options", "then"),
    [(2, [], "goes on from here"), (10, ["--force"], "grades all of them again")],
    ids=["starting", "at work"],
)
def test_ctrl_c_ends_it_quickly_and_says_what_is_done(course, processes, options, then):
    shutil.rmtree(course / "autograded", ignore_errors=True)
    grader = kills.start_grading(course, *options)
    kills.wait_until(lambda: len(descendants(grader.pid)) >= processes, grader)
    time.sleep(0.3)
    started = time.monotonic()
    own = descendants(grader.pid)
    os.killpg(grader.pid, signal.SIGINT)  # as a terminal does
    assert grader.wait(10) == 130
    assert time.monotonic() - started < 5
    said = (course / "said.txt").read_text()
    assert f"Interrupted. The same command {then}." in said
    assert "untouched since an earlier run" in said
    assert "Traceback" not in said
    kills.wait_for_end(own, course)


@pytest.mark.parametrize("victim", ["nbgrader", "unshare"], ids=["a worker", "the warm process"])
def test_a_dead_part_of_a_run_costs_nothing_but_time(course, victim):
    nbgrader(course, "autograde", LESSON.name)
    before = records(gradebook(course)), verdicts(course)
    shutil.rmtree(course / "autograded")
    grader = kills.start_grading(course)
    kills.wait_until(lambda: kills.graded(course) >= 1, grader)
    parts = psutil.Process(grader.pid).children()
    next(part for part in parts if part.name() == victim).kill()
    assert grader.wait(kills.START_SECONDS) == 0, (course / "said.txt").read_text()
    assert before == (records(gradebook(course)), verdicts(course))


def jobs(*sources):
    for number, source in enumerate(sources):
        notebook = new_notebook(cells=[new_code_cell(source)])
        yield Job(str(number), Blueprint("n", []), nbformat.writes(notebook).encode())


@pytest.fixture
def pool():
    pool = local_pool(2, next(jobs("")))
    yield pool
    pool.close()


def warm_processes():
    """The first process of every sandbox below this one."""
    own = psutil.Process().children(recursive=True)
    return [process for process in own if process.name() == "unshare"]


def test_a_dead_worker_costs_nothing_but_time(pool):
    results = []
    for graded in pool.grade_all(jobs(*["import time; time.sleep(0.3); 6 * 7"] * 6)):
        if not results:
            multiprocessing.active_children()[0].kill()
        results.append(graded)
    assert sorted(graded.path for graded in results) == [str(number) for number in range(6)]
    assert [graded.reason for graded in results] == [""] * 6
    assert all("42" in graded.notebook for graded in results)


def test_a_dead_warm_process_costs_nothing_but_time(pool):
    results = []
    for graded in pool.grade_all(jobs(*["import time; time.sleep(0.3); 6 * 7"] * 6)):
        if not results:
            warm_processes()[0].kill()
        results.append(graded)
    assert [graded.reason for graded in results] == [""] * 6
    assert all("42" in graded.notebook for graded in results)


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_what_ends_every_worker_fails_alone(pool):
    first, second, third = jobs("1", "2", "3")
    results = list(pool.grade_all([first, replace(second, data=Deadly()), third]))
    outcomes = {graded.path: (graded.outcome, graded.reason) for graded in results}
    assert outcomes.pop("1") == (
        "failed",
        "the process that graded it was ended, perhaps for want of memory",
    )
    assert outcomes == {"0": ("graded", ""), "2": ("graded", "")}


def test_a_second_run_beside_the_first_is_refused(course):
    refused = pytest.raises(CourseError, match="Another run is grading")
    with only_run(course), refused, only_run(course):
        pass
    with only_run(course):
        pass  # the lock is free again
