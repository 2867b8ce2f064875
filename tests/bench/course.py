"""The whole course: the cost of a submission to each lesson, sealed and with stock nbgrader.

Then a class of 100 hands in every lesson. Stock is what `--Autograde.unsealed=True` runs: the loop
and the kernel of nbgrader on the whole notebook, with the course's judge as a plug-in. Both are
timed as whole commands, not counting startup.
"""

import shutil
import tempfile
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import psutil

from autograder.lessons.lesson import Lesson, lesson_names
from tests.demo.made_up_class import COUNT, make_class
from tests.support.classroom import command, gradebook, hand_in, release, scores, start_program

WORKERS = 2
STOCK_COUNT = 6
CLASS = 100
AIM_EACH, AIM_ALL = 10, 20  # times as fast as stock


@dataclass(frozen=True)
class Cost:
    """Seconds of a worker and of a processor that one submission takes."""

    worker: float
    processor: float


@dataclass(frozen=True)
class Spent:
    """Seconds that a command took: wall time, and time of all processors."""

    clock: float
    processor: float


def report() -> None:
    """Print a line for each lesson, and the time of a class in all lessons."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        costs = {name: compare(Lesson(name), course) for name in lesson_names()}
        sealed, stock = (sum(pair[i].worker for pair in costs.values()) for i in (0, 1))
        print(f"  the course, one worker: {stock / sealed:.1f} times stock's speed")
        print_class(course, {name: stock.worker for name, (_, stock) in costs.items()})


def compare(lesson: Lesson, course: Path) -> tuple[Cost, Cost]:
    """Time both engines on the same submissions, and compare the grades."""
    release(course, lesson)
    sealed = cost(lesson, course, COUNT, f"--Autograde.jobs={WORKERS}")
    grades = scores(gradebook(course), lesson)
    stock = cost(lesson, course, STOCK_COUNT, "--Autograde.unsealed=True")
    same = scores(gradebook(course), lesson) == grades
    print(
        f"  {lesson.name:<25} sealed {sealed.worker:5.2f} s of a worker, {sealed.processor:5.2f} s "
        f"of a processor; stock {stock.worker:5.2f} and {stock.processor:5.2f}: "
        f"{stock.worker / sealed.worker:.1f} times (aim: {AIM_EACH}); "
        f"{'the same grades' if same else 'DIFFERENT GRADES'}",
        flush=True,
    )
    return sealed, stock


def cost(lesson: Lesson, course: Path, count: int, *options: str) -> Cost:
    """Measure what one more submission takes, so that starting up does not count."""
    workers = 1 if "--Autograde.unsealed=True" in options else WORKERS
    submit(lesson, course, 1)
    alone = grade(lesson, course, *options)
    submit(lesson, course, count)
    together = grade(lesson, course, *options)
    return Cost(
        worker=(together.clock - alone.clock) * workers / (count - 1),
        processor=(together.processor - alone.processor) / (count - 1),
    )


def print_class(course: Path, stock: dict[str, float]) -> None:
    """Print how long grading a class takes in each lesson and in all, startup included.

    stock: seconds that stock, which has one worker, takes for a submission, by lesson.
    """
    seconds = {}
    for name in stock:
        submit(Lesson(name), course, CLASS)
        seconds[name] = grade(Lesson(name), course, f"--Autograde.jobs={WORKERS}").clock
        _print_total(name, seconds[name], stock[name])
    _print_total(f"{len(stock)} lessons", sum(seconds.values()), sum(stock.values()))


def _print_total(name: str, seconds: float, stock: float) -> None:
    print(
        f"  {name:<25} {CLASS} learners in {seconds:6.1f} s, {WORKERS} workers: "
        f"{CLASS * stock / seconds:.1f} times stock's speed (aim for all: {AIM_ALL})",
        flush=True,
    )


def submit(lesson: Lesson, course: Path, count: int) -> None:
    """Hand in `count` notebooks of a made-up class, repeating them if it is smaller."""
    shutil.rmtree(course / "submitted", ignore_errors=True)
    for number, submission in enumerate(islice(cycle(make_class(lesson)), count)):
        hand_in(course, f"learner_{number:03}", submission.notebook(lesson), lesson)


def grade(lesson: Lesson, course: Path, *options: str) -> Spent:
    """Grade everything that was handed in, from scratch."""
    shutil.rmtree(course / "autograded", ignore_errors=True)
    begin, before = time.perf_counter(), _processor_seconds()
    said = course / "said.txt"
    if start_program(command(course, "autograde", lesson.name, *options), said).wait():
        raise RuntimeError(said.read_text(encoding="utf-8")[-2000:])
    return Spent(time.perf_counter() - begin, _processor_seconds() - before)


def _processor_seconds() -> float:
    """Return the seconds that all processors worked: the machine should do nothing else."""
    used = psutil.cpu_times()
    return used.user + used.nice + used.system
