"""Whatever ends the grader or a part of it, at any time, the next run repairs everything."""

import multiprocessing
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.errors import CourseError
from autograder.grading.engine import pool as pools
from autograder.grading.engine.pool import Pool, local_pool
from autograder.grading.engine.submissions import only_run
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker.job import Graded, Job, Outcome
from tests.demo.made_up_class import MadeUpSubmission
from tests.support import kills
from tests.support.classroom import (
    LESSON,
    gradebook,
    hand_in,
    make_course,
    nbgrader,
    records,
    verdicts,
)
from tests.support.processes import descendants, is_first_in_sandbox, those
from tests.support.waiting import HANG

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("sandbox")]
COUNT = 4
# How many submissions are done when the grader is killed: none, while processes start, or half.
MOMENTS = [0, COUNT // 2]
TRIES = 10
# Nobody waits for these to end.
FOR_EVER = "import time\ntime.sleep(1e6)"
SLOWLY = [f"--Autograde.{name}_seconds=1e7" for name in ("cell", "notebook")]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A course directory in which nothing is graded, now or later."""
    course = tmp_path_factory.mktemp("released")
    make_course(course, COUNT)
    return course


@pytest.fixture(scope="module")
def course(released, tmp_path_factory):
    """A copy in which the submissions are graded."""
    return shutil.copytree(released, tmp_path_factory.mktemp("killed") / "course")


def results(course):
    return records(gradebook(course)), verdicts(course)


@pytest.fixture(scope="module")
def undisturbed(released, tmp_path_factory):
    """The results of a run that nothing disturbs."""
    course = shutil.copytree(released, tmp_path_factory.mktemp("undisturbed") / "course")
    nbgrader(course, "autograde", LESSON.name)
    return results(course)


@pytest.fixture
def endless(released, tmp_path):
    """A copy whose last submissions, one for each worker, never end."""
    course = shutil.copytree(released, tmp_path / "course")
    notebook = MadeUpSubmission("").notebook(LESSON)
    notebook.cells.insert(0, new_code_cell(FOR_EVER))
    for learner in ("z_endless", "z_endless_too"):
        hand_in(course, learner, notebook)
    return course


def caught(course, done):
    """Start a grader and catch it at work when `done` are graded; retry if it finishes first."""
    for _ in range(TRIES):
        grader = kills.start_grading(course)
        kills.wait_for(lambda g=grader: kills.graded(course) >= done and kills.has_begun(g), grader)
        if grader.poll() is None:
            return grader
        assert grader.returncode == 0, (course / "said.txt").read_text(encoding="utf-8")
        shutil.rmtree(course / "autograded")
    raise AssertionError("it is always done before it is caught")


def test_after_kills_the_gradebook_is_that_of_an_undisturbed_run(course, undisturbed):
    for done in MOMENTS:
        kills.kill(caught(course, done), course)
    killed_at = kills.graded(course)
    said = nbgrader(course, "autograde", LESSON.name)
    assert f"{killed_at} unchanged" in said
    assert not kills.unfinished(course)
    assert results(course) == undisturbed
    assert len(undisturbed[1]) == COUNT


@pytest.mark.parametrize(
    ("done", "options", "then"),
    [(0, [], "goes on from here"), (COUNT, ["--force"], "grades all of them again")],
    ids=["starting", "at work"],
)
def test_ctrl_c_ends_it_at_once_and_says_what_is_done(endless, done, options, then):
    grader = kills.start_grading(endless, *SLOWLY, *options)
    kills.wait_for(lambda: kills.graded(endless) >= done and kills.has_begun(grader), grader)
    own = descendants(grader.pid)
    os.killpg(grader.pid, signal.SIGINT)  # as a terminal does
    status = grader.wait(HANG)
    said = (endless / "said.txt").read_text(encoding="utf-8")
    assert status == 130, said
    assert f"Interrupted. The same command {then}." in said
    assert "0 not graded, 0 unchanged since an earlier run" in said
    assert "Traceback" not in said
    kills.wait_for_end(own, endless)


def is_worker(process):
    """Whether a process is a worker, which is a fork of the grader."""
    return process.cmdline() == process.parent().cmdline()


@pytest.mark.parametrize("is_victim", [is_worker, is_first_in_sandbox])
def test_a_dead_part_of_a_run_costs_nothing_but_time(course, undisturbed, is_victim):
    shutil.rmtree(course / "autograded", ignore_errors=True)
    grader = caught(course, 1)
    those(psutil.Process(grader.pid).children(), is_victim)[0].kill()
    assert grader.wait(HANG) == 0, (course / "said.txt").read_text(encoding="utf-8")
    assert results(course) == undisturbed


def jobs(*sources):
    for number, source in enumerate(sources):
        notebook = new_notebook(cells=[new_code_cell(source)])
        yield Job(str(number), Blueprint([]), nbformat.writes(notebook).encode())


@pytest.fixture
def pool():
    pool = local_pool(2, next(jobs("")), lambda job: job)
    yield pool
    pool.close()


def worker():
    return multiprocessing.active_children()[0]


def warm_process():
    """Return the first process of the pool's sandbox: of those below this process, the newest."""
    below = those(descendants(os.getpid()), is_first_in_sandbox)
    return max(below, key=psutil.Process.create_time)


@pytest.mark.parametrize("victim", [worker, warm_process])
def test_a_dead_part_of_a_pool_costs_nothing_but_time(pool, victim):
    results = []
    for graded in pool.grade_all(jobs(*["import time; time.sleep(0.3); 6 * 7"] * 6)):
        if not results:
            victim().kill()
        results.append(graded)
    assert sorted(graded.path for graded in results) == [str(number) for number in range(6)]
    assert [graded.reason for graded in results] == [""] * 6
    assert all(b"42" in graded.notebook for graded in results)


class Deadly(bytes):
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_what_ends_every_worker_fails_alone(pool):
    first, second, third = jobs("1", "2", "3")
    results = list(pool.grade_all([first, replace(second, data=Deadly()), third]))
    outcomes = {graded.path: (graded.outcome, graded.reason) for graded in results}
    assert outcomes.pop("1") == (
        "not graded",
        "the process that graded it was ended, perhaps for want of memory",
    )
    assert outcomes == {"0": ("graded", ""), "2": ("graded", "")}


def test_what_the_machine_may_be_to_blame_for_is_graded_again_alone(monkeypatch):
    begun, at_work, most = [], set(), {}

    def grade(job):
        at_work.add(job.path)
        time.sleep(0.05)
        again = job.path in begun
        begun.append(job.path)
        most[job.path, again] = len(at_work)
        at_work.remove(job.path)
        doubtful = job.path in "14" and not again
        outcome = Outcome.NOT_GRADED if doubtful else Outcome.GRADED
        return Graded(job.path, "", outcome, doubtful=doubtful)

    monkeypatch.setattr(pools, "_grade", grade)
    pool = Pool(lambda: ThreadPoolExecutor(3), ThreadPoolExecutor.shutdown, 3)
    results = list(pool.grade_all(jobs(*"abcdef")))
    pool.close()
    assert sorted(begun) == list("01123445")
    assert begun[-2:] == [graded.path for graded in results[-2:]]
    assert set(begun[-2:]) == {"1", "4"}
    assert most["1", True] == most["4", True] == 1 < max(most.values())
    assert {graded.outcome for graded in results} == {"graded"}


def test_a_second_run_beside_the_first_is_refused(course):
    refused = pytest.raises(CourseError, match="Another run is grading")
    with only_run(course), refused, only_run(course):
        pass
    with only_run(course):
        pass  # the lock is free again
