"""The sealed engine beside stock nbgrader: the same submissions of lesson 1, in one run.

Stock is what `--Autograde.unsealed=True` runs: nbgrader's own loop and kernel, with the course's
judge as a plug-in. Both are timed as whole commands, so that starting up counts.
"""

import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbgrader.api import Gradebook

from autograder.authoring.lesson import ROOT, Lesson
from autograder.grading.made_up_class import make_class
from autograder.grading.task import RUN

LESSON = Lesson("01_dot_product_attention")
COUNT = 40
MORE = (100, 200, 400)
WORKERS = 2
AIM = 10


@dataclass
class Timing:
    """Of one command: seconds, and by quarter the most memory in use beyond what was before.

    Memory is that of the whole machine, in MB.
    """

    seconds: float
    memory: list[float]


def report() -> None:
    """Print what a submission costs with both, and how the engine's cost grows."""
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
    """Time both on the submissions there, and set their marks side by side."""
    print(f"{COUNT} submissions of {LESSON.name}, {WORKERS} workers:")
    drawn = grade(course, "--Autograde.figures=True")
    print_timing("sealed, figures drawn", COUNT, drawn)
    sealed = grade(course)
    print_timing("sealed", COUNT, sealed)
    print_shares(course, sealed)
    marks = read_marks(course)
    stock = grade(course, "--Autograde.unsealed=True")
    print_timing("stock", COUNT, stock)
    print(f"  throughput: {stock.seconds / sealed.seconds:.1f} times stock's (aim: {AIM})", end="")
    print(f"; with figures drawn {stock.seconds / drawn.seconds:.1f} times")
    print(f"  the same marks: {marks == read_marks(course)}")


def release(course: Path) -> None:
    shutil.copytree(LESSON.notebook_path.parent, course / "solutions" / LESSON.name)
    nbgrader(course, "generate_assignment")


def submit(course: Path, count: int) -> None:
    """Hand in `count` notebooks of a made-up class, the same ones again where it is smaller."""
    shutil.rmtree(course / "submitted", ignore_errors=True)
    answered = [submission.notebook(LESSON) for submission in make_class(LESSON, COUNT)]
    for number in range(count):
        place = course / "submitted" / f"learner_{number:03}" / LESSON.name
        place.mkdir(parents=True)
        nbformat.write(answered[number % COUNT], place / f"{LESSON.name}.ipynb")


def grade(course: Path, *options: str) -> Timing:
    shutil.rmtree(course / "autograded", ignore_errors=True)
    start = time.perf_counter()
    memory = nbgrader(course, "autograde", f"--Autograde.jobs={WORKERS}", *options)
    return Timing(time.perf_counter() - start, memory)


def nbgrader(course: Path, command: str, *options: str) -> list[float]:
    """Run a command of nbgrader's; returns its `Timing.memory`."""
    before = _megabytes_in_use()
    arguments = ["nbgrader", command, LESSON.name, f"--CourseDirectory.root={course}", *options]
    with subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE) as process:
        seen: list[float] = []
        watch = threading.Thread(target=_watch, args=(process, seen))
        watch.start()
        said = process.stderr.read()
    watch.join()
    if process.returncode:
        raise RuntimeError(said.decode()[-2000:])
    quarter = -(-len(seen) // 4)
    return [max(seen[i : i + quarter]) - before for i in range(0, len(seen), quarter)]


def read_marks(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(LESSON.name)}


def print_timing(name: str, count: int, timing: Timing) -> None:
    memory = ", ".join(f"{mb:.0f}" for mb in timing.memory)
    print(
        f"  {name:<22} {timing.seconds:6.1f} s, {timing.seconds / count:.2f} s a submission; "
        f"memory by quarter {memory} MB",
        flush=True,
    )


def print_shares(course: Path, timing: Timing) -> None:
    """Of a worker's time for a submission, how much its cells took."""
    paths = (course / "autograded").glob(f"*/{LESSON.name}/{LESSON.name}.ipynb")
    runs = [nbformat.read(path, as_version=4).metadata[RUN]["seconds"] for path in paths]
    each = timing.seconds * WORKERS / COUNT
    print(f"    of {each:.2f} s of a worker, running cells took {statistics.mean(runs):.2f} s")


def _watch(process: subprocess.Popen, seen: list[float]) -> None:
    while process.poll() is None:
        seen.append(_megabytes_in_use())
        time.sleep(1)


def _megabytes_in_use() -> float:
    memory = psutil.virtual_memory()
    return (memory.total - memory.available) / 1e6


if __name__ == "__main__":
    report()
