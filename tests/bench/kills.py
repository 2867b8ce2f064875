"""Kill the grader at twenty random moments in a run of forty, and see what a second run leaves.

Each time, the gradebook and the verdicts should equal those of an undisturbed run, and nothing that
the killed grader started should survive.
"""

import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tests.support import kills
from tests.support.classroom import gradebook, make_course, records, verdicts

COUNT, MOMENTS = 40, 20


def report() -> None:
    """Print the result of each kill, and how many ended as without a kill."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "course")
        make_course(course, COUNT)
        shutil.copy(course / "gradebook.db", course / "released.db")
        seconds = _run(course)
        undisturbed = _left(course)
        print(f"{COUNT} submissions, undisturbed: {seconds:.0f} s")
        chance = random.Random(0)
        moments = sorted(chance.uniform(0, seconds) for _ in range(MOMENTS))
        same = 0
        for moment in tqdm(moments, desc="kills", disable=None):
            done, again = _kill_and_rerun(course, moment)
            equal = _left(course) == undisturbed and not kills.unfinished(course)
            same += equal
            verdict = "the same" if equal else "NOT THE SAME"
            print(f"  killed after {moment:5.1f} s, {done:>2} done; {again:5.1f} s more: {verdict}")
        print(f"the same as undisturbed: {same} of {MOMENTS}")


def _kill_and_rerun(course: Path, moment: float) -> tuple[int, float]:
    """Return how many were done at the kill, and how many seconds a second run took."""
    shutil.rmtree(course / "autograded", ignore_errors=True)
    shutil.copy(course / "released.db", course / "gradebook.db")
    grader = kills.start_grading(course)
    time.sleep(moment)
    kills.kill(grader, course)
    return kills.graded(course), _run(course)


def _run(course: Path) -> float:
    """Grade to the end; return the seconds."""
    start = time.monotonic()
    grader = kills.start_grading(course)
    if grader.wait():
        raise RuntimeError((course / "said.txt").read_text(encoding="utf-8")[-3000:])
    return time.monotonic() - start


def _left(course: Path) -> tuple[Any, ...]:
    return records(gradebook(course)), verdicts(course)
