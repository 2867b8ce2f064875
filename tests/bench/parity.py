"""The sealed engine and stock nbgrader give the demo class of every lesson the same grades.

Stock is what `--Autograde.unsealed=True` runs: nbgrader's own loop and kernel, with the course's
judge as a plug-in. Every row of the gradebook is compared, cell by cell.
"""

import tempfile
from pathlib import Path

from tqdm import tqdm

from autograder.lessons.lesson import Lesson, lesson_names
from tests.demo.made_up_class import make_class
from tests.support.classroom import gradebook, hand_in, nbgrader, records, release


def report() -> None:
    """Print, for each lesson, how many rows there are, and those that differ."""
    for name in tqdm(lesson_names(), desc="parity", disable=None):
        with tempfile.TemporaryDirectory() as folder:
            _compare(Lesson(name), Path(folder))


def _compare(lesson: Lesson, course: Path) -> None:
    release(course, lesson)
    submissions = make_class(lesson)
    for submission in submissions:
        hand_in(course, submission.learner, submission.notebook(lesson), lesson)
    nbgrader(course, "autograde", lesson.name)
    sealed = records(gradebook(course))
    nbgrader(course, "autograde", lesson.name, "--force", "--Autograde.unsealed=True")
    stock = records(gradebook(course))
    differ = sorted({*sealed} ^ {*stock})
    print(
        f"  {lesson.name}: {len(submissions)} submissions, {len(sealed)} rows, "
        f"{len(differ)} differ",
        flush=True,
    )
    for row in differ:
        print(f"    {'sealed' if row in sealed else 'stock'}: {row}")
