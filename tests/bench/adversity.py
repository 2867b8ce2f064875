"""The demo class of every lesson gets its true marks under adversity.

Four processes burn the processors meanwhile. First the grader is killed in the middle, and started
again; then the disk fills up in the middle, and has room again.
"""

import multiprocessing
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from autograder.lessons.lesson import Lesson, lesson_names
from tests.demo.made_up_class import make_class
from tests.support import kills
from tests.support.classroom import gradebook, hand_in, release, scores
from tests.support.full_disk import grade_on_full_disk

BURNERS = 4
LEFT = 600_000  # bytes: enough for some of the submissions


def report() -> None:
    """Print for each lesson how many marks are true, and how many were graded only again."""
    with burners():
        for name in tqdm(lesson_names(), desc="adversity", disable=None):
            with tempfile.TemporaryDirectory() as folder:
                _run(Lesson(name), Path(folder))


@contextmanager
def burners() -> Iterator[None]:
    """Keep all processors busy, and more."""
    burning = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(BURNERS)]
    for process in burning:
        process.start()
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.join()


def _burn() -> None:
    while True:
        pass


def _run(lesson: Lesson, folder: Path) -> None:
    made = make_class(lesson)
    true = {submission.learner: submission.true_grade for submission in made}
    for trouble in (_killed, _full):
        course = folder / trouble.__name__.strip("_")
        course.mkdir()
        release(course, lesson)
        for submission in made:
            hand_in(course, submission.learner, submission.notebook(lesson), lesson)
        happened = trouble(course, lesson, len(made))
        given = scores(gradebook(course), lesson)
        agreed = sum(given.get(learner) == mark for learner, mark in true.items())
        print(f"  {lesson.name:<25} {happened}: {agreed} of {len(true)} true", flush=True)


def _killed(course: Path, lesson: Lesson, count: int) -> str:
    grader = kills.start_grading(course, lesson=lesson)
    kills.wait_for(lambda: kills.graded(course, lesson) >= count // 2, grader)
    kills.kill(grader, course)
    done = kills.graded(course, lesson)
    status = kills.start_grading(course, lesson=lesson).wait()
    return f"killed when {done} were graded; exit status {status}"


def _full(course: Path, lesson: Lesson, count: int) -> str:
    size = sum(path.stat().st_size for path in course.rglob("*") if path.is_file())
    said = grade_on_full_disk(course, lesson, 3 * size + 20_000_000, LEFT)
    full, status, _ = said.partition("exit status 1")
    named = sum("not graded: " in line for line in full.splitlines())
    again = "exit status 0" if said.rstrip().endswith("exit status 0") else "OTHER EXIT STATUS"
    return f"disk full: {named} of {count} named as not graded, {status}; then {again}"


if __name__ == "__main__":
    report()
