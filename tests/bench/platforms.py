"""Whether Gradescope and PrairieLearn give a made-up class its true points, and how long they take.

In containers, without a network; what pip would install is already there.
"""

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import nbformat

from autograder.lessons.lesson import Lesson
from tests.demo.made_up_class import MadeUpSubmission, make_class
from tests.support.platforms import PLACES, Place, points_by_exercise

LESSONS = ("01_dot_product_attention", "04_masks")


def report() -> None:
    for name in LESSONS:
        lesson = Lesson(name)
        submissions = make_class(lesson)
        for platform, set_up in PLACES.items():
            with tempfile.TemporaryDirectory() as folder:
                place = set_up(Path(folder), name)
                graded = [_grade(place, one, lesson) for one in submissions]
            right = sum(is_right for is_right, _ in graded)
            seconds = statistics.median(taken for _, taken in graded)
            print(f"{name} on {platform}: {right} of {len(graded)} right, {seconds:.1f} s each")


def _grade(place: Place, submission: MadeUpSubmission, lesson: Lesson) -> tuple[bool, float]:
    """Return whether the points are right, and how many seconds it took."""
    start = time.perf_counter()
    results, _ = place.grade(partial(_hand_in, submission, lesson))
    return points_by_exercise(results) == submission.true_points, time.perf_counter() - start


def _hand_in(submission: MadeUpSubmission, lesson: Lesson, folder: Path) -> None:
    nbformat.write(submission.notebook(lesson), folder / f"{lesson.name}.ipynb")
