"""Eight workers, two hundred submissions, one SQLite gradebook, and someone else working in it."""

import os
import tempfile
import time
from pathlib import Path

from tests.support import beside
from tests.support.classroom import LESSON, gradebook, make_course, nbgrader

COUNT, WORKERS = 200, 8


def report() -> None:
    """Print how long grading took, how often the gradebook was read, and whether data was lost."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "course")
        marks = make_course(course, COUNT)
        start = time.monotonic()
        with beside.at_work(f"sqlite:///{course}/gradebook.db") as other:
            said = nbgrader(course, "autograde", LESSON.name, f"--Autograde.jobs={WORKERS}")
        seconds = time.monotonic() - start
        found, by_hand = beside.marks(gradebook(course))
    wrong = sum(found.get(student) != mark for student, mark in marks.items())
    lost = set(other["given"]) - by_hand
    print(f"{COUNT} submissions, {WORKERS} workers on {os.cpu_count()} cores: {seconds:.0f} s")
    print(f"  meanwhile read {other['reads']} times; {len(other['given'])} grades by hand")
    print(f"  lock errors: {said.count('locked')}, marks not the true ones: {wrong}")
    print(f"  grades by hand that were lost: {len(lost)}")


if __name__ == "__main__":
    report()
