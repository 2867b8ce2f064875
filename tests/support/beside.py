"""Act as someone else who works in a gradebook, until the input ends.

    python -m tests.support.beside DB_URL

Reads all grades over and over, as formgrader does, and gives a manual grade to every graded learner
who does not have one from it yet. At the end it prints who got one, and how many had grades each
time it looked. It waits for a locked gradebook as the course's own commands do.
"""

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nbgrader.api import Grade, Gradebook
from nbgrader.apps import NbGraderAPI  # noqa: F401 - takes seconds, and formgrader has it

from autograder.grading.gradebook.opening import wait_for_sqlite
from autograder.places import ROOT
from tests.support.classroom import LESSON

BY_HAND = 1.5


@contextmanager
def at_work(db_url: str) -> Iterator[dict[str, Any]]:
    """Run another process that uses the gradebook; yield its report, filled in at the end."""
    report = {}
    arguments = [sys.executable, "-m", "tests.support.beside", db_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(arguments, cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        yield report
        said, _ = process.communicate("")
    assert process.returncode == 0
    report.update(json.loads(said))


def grades_in(book: Gradebook) -> tuple[dict[str, float], set[str]]:
    """Return the grades that grading gave, by learner, and who has a manual one."""
    with book:
        grades = {
            found.student.id: found.notebooks[0].grades
            for found in book.assignment_submissions(LESSON.name)
        }
        by_hand = {name for name, found in grades.items() if _last(found).manual_score == BY_HAND}
        return {name: sum(g.auto_score for g in found) for name, found in grades.items()}, by_hand


def main() -> None:
    wait_for_sqlite()
    given: list[str] = []
    seen: set[int] = set()
    with Gradebook(sys.argv[1], "attention-from-scratch") as book:
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], 0.05)[0]:
            scores = {s.student.id: s.score for s in book.assignment_submissions(LESSON.name)}
            seen.add(len(scores))
            for learner in sorted(scores.keys() - set(given))[:1]:
                _give(book, learner)
                given.append(learner)
            book.db.rollback()  # so that the next query sees new data
    print(json.dumps({"given": given, "seen": sorted(seen)}))


def _give(book: Gradebook, learner: str) -> None:
    """Grade one of a learner's check cells manually; the transaction takes a while, as some do."""
    grade = _last(book.find_submission_notebook(LESSON.name, LESSON.name, learner).grades)
    grade.manual_score = BY_HAND
    book.db.flush()
    time.sleep(0.1)
    book.db.commit()


def _last(grades: list[Grade]) -> Grade:
    """Return the last grade by name: PostgreSQL reorders rows after each change."""
    return max(grades, key=lambda grade: grade.name)


if __name__ == "__main__":
    main()
