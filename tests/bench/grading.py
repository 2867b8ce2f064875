"""The sealed engine versus stock nbgrader: the same submissions of lesson 1, in one run.

Stock is what `--Autograde.unsealed=True` runs: nbgrader's own loop and kernel, with the course's
judge as a plug-in. Both are timed as whole commands, including startup.
"""

import shutil
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.grading.worker.job import earlier_run
from tests.demo.made_up_class import make_class
from tests.support.classroom import LESSON, gradebook, hand_in, release, scores, start

COUNT = 40
MORE = (100, 200, 400)
WORKERS = 2
AIM = 10


@dataclass
class Timing:
    """A command's seconds, and its peak memory in each part of the run.

    Memory is the whole machine's, in MB, beyond what was in use before.
    """

    seconds: float
    memory: list[float]


def report() -> None:
    """Print the cost of a submission with both, and how the engine's cost grows."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder)
        release(course)
        submit(course, COUNT)
        compare(course)
        print(f"with {WORKERS} workers, the same submissions over and over:")
        for count in MORE:
            submit(course, count)
            print_timing(f"{count} submissions", count, grade(course))


def compare(course: Path) -> None:
    """Time both on the existing submissions, and compare the grades."""
    print(f"{COUNT} submissions of {LESSON.name}, {WORKERS} workers:")
    drawn = grade(course, "--Autograde.figures=True")
    print_timing("sealed, figures drawn", COUNT, drawn)
    sealed = grade(course)
    print_timing("sealed", COUNT, sealed)
    print_shares(course, sealed)
    grades = scores(gradebook(course))
    stock = grade(course, "--Autograde.unsealed=True")
    print_timing("stock", COUNT, stock)
    print(f"  throughput: {stock.seconds / sealed.seconds:.1f} times stock's (aim: {AIM})", end="")
    print(f"; with figures drawn {stock.seconds / drawn.seconds:.1f} times")
    print(f"  the same grades: {grades == scores(gradebook(course))}")


def submit(course: Path, count: int) -> None:
    """Hand in `count` notebooks of a made-up class, repeating them if it is smaller."""
    shutil.rmtree(course / "submitted", ignore_errors=True)
    answered = [submission.notebook(LESSON) for submission in make_class(LESSON, COUNT)]
    for number in range(count):
        hand_in(course, f"learner_{number:03}", answered[number % COUNT])


def grade(course: Path, *options: str, parts: int = 4) -> Timing:
    """Grade everything that was handed in, from scratch."""
    shutil.rmtree(course / "autograded", ignore_errors=True)
    before, ended, seen = _megabytes_in_use(), threading.Event(), []
    watch = threading.Thread(target=_watch, args=(ended, seen))
    begin = time.perf_counter()
    grader = start(course, "autograde", LESSON.name, f"--Autograde.jobs={WORKERS}", *options)
    watch.start()
    code = grader.wait()
    seconds = time.perf_counter() - begin
    ended.set()
    watch.join()
    if code:
        raise RuntimeError((course / "said.txt").read_text(encoding="utf-8")[-2000:])
    size = -(-len(seen) // parts)
    return Timing(seconds, [max(seen[i : i + size]) - before for i in range(0, len(seen), size)])


def print_timing(name: str, count: int, timing: Timing) -> None:
    memory = ", ".join(f"{mb:.0f}" for mb in timing.memory)
    print(
        f"  {name:<22} {timing.seconds:6.1f} s, {timing.seconds / count:.2f} s a submission; "
        f"peak memory as it went on {memory} MB",
        flush=True,
    )


def print_shares(course: Path, timing: Timing) -> None:
    """Print how much of a worker's time for a submission its cells took."""
    paths = (course / "autograded").glob(f"*/{LESSON.name}/{LESSON.name}.ipynb")
    runs = [earlier_run(path)["seconds"] for path in paths]
    each = timing.seconds * WORKERS / COUNT
    print(f"    of {each:.2f} s of a worker, running cells took {statistics.mean(runs):.2f} s")


def _watch(ended: threading.Event, seen: list[float]) -> None:
    while not ended.wait(1):
        seen.append(_megabytes_in_use())


def _megabytes_in_use() -> float:
    memory = psutil.virtual_memory()
    return (memory.total - memory.available) / 1e6
