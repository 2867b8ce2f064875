"""Many submissions: 10,000 on this machine, and 1,000 on a Dask cluster with PostgreSQL.

They repeat those of a made-up class in lesson 1. Memory is the whole machine's.
"""

import tempfile
from pathlib import Path

from nbgrader.api import Gradebook

from tests.bench.grading import WORKERS, Timing, grade, print_timing
from tests.support.classroom import gradebook, make_course, scores
from tests.support.servers import dask_scheduler, dask_workers, postgresql

HERE, THERE = 10_000, 1_000
NODES = 4
PARTS = 10


def report() -> None:
    """Print the times, the memory in each tenth of the run, and how many grades are true."""
    with tempfile.TemporaryDirectory() as folder:
        on_this_machine(Path(folder, "here"))
    with tempfile.TemporaryDirectory() as folder:
        on_a_cluster(Path(folder, "there"), Path(folder))


def on_this_machine(course: Path) -> None:
    course.mkdir()
    grades = make_course(course, HERE)
    timing = grade(course, parts=PARTS)
    _print(f"{WORKERS} workers", timing, grades, scores(gradebook(course)))


def on_a_cluster(course: Path, place: Path) -> None:
    course.mkdir()
    with (
        postgresql() as db_url,
        dask_scheduler(place) as scheduler,
        dask_workers(scheduler, place, NODES, threads=1),
    ):
        book = f"--CourseDirectory.db_url={db_url}"
        grades = make_course(course, THERE, book)
        timing = grade(course, book, f"--Autograde.scheduler={scheduler}", parts=PARTS)
        found = scores(Gradebook(db_url, "attention-from-scratch"))
    _print(f"{NODES} Dask workers, PostgreSQL", timing, grades, found)


def _print(name: str, timing: Timing, grades: dict[str, float], found: dict[str, float]) -> None:
    print_timing(f"{len(grades)} with {name}", len(grades), timing)
    agreed = sum(found.get(learner) == grade for learner, grade in grades.items())
    print(f"    true grades: {agreed} of {len(grades)}", flush=True)
