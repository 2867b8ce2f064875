"""The history of a learner's submissions to a lesson: what was submitted, when, for which grade.

Each entry is a folder `history/<learner>/<lesson>/<number>` in the course directory. It holds the
submission and `grade.json`, which is written last.
"""

import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.atomic_writes import write_whole
from autograder.grading.gradebook.grades import Grade
from autograder.grading.submission.plain_files import read_below, write_below
from autograder.grading.worker.job import Graded, Outcome

FOLDER, ENTRY = "history", "grade.json"
MOST_SHOWN = 10


def entries(course: Path, learner: str, lesson: str) -> list[dict[str, Any]]:
    """Read a learner's entries, oldest first. One that can't be read is left out."""
    found = []
    for path in sorted((course / FOLDER / learner / lesson).glob(f"[0-9]*/{ENTRY}")):
        with suppress(OSError, ValueError):
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return [entry for entry in found if isinstance(entry, dict)]


def earlier_grades(course: Path, learner: str, lesson: str) -> list[float | None]:
    """Return the last grade of each version that was submitted before the current one."""
    known = entries(course, learner, lesson)
    grades = {str(entry.get("digests")): entry.get("grade") for entry in known}
    *earlier, _ = [grade if _is_number(grade) else None for grade in grades.values()] or [None]
    return earlier[-MOST_SHOWN:]


def entry_of(grade: Grade, outcome: Outcome, graded: Iterable[Graded]) -> dict[str, Any]:
    """Return the entry about a submission that has just been graded."""
    return {
        "time": str(grade.submitted or ""),
        "digests": [one.submitted for one in graded],
        "outcome": outcome,
        "grade": None if grade.waiting else grade.before_penalty,
        "penalty": grade.penalty,
        "most": grade.most,
    }


def _is_number(grade: Any) -> bool:
    return isinstance(grade, int | float) and math.isfinite(grade)


def remember(
    course: Path, learner: str, lesson: str, submitted: Path, entry: dict[str, Any]
) -> None:
    """Add an entry, unless it is the same as the last one.

    submitted: the folder of the submission.
    entry: from `entry_of`.
    Raises OSError.
    """
    before = entries(course, learner, lesson)
    if before and before[-1] == entry | {"graded": before[-1].get("graded")}:
        return
    place = course / FOLDER / learner / lesson
    names = (path.name for path in place.glob("[0-9]*"))
    numbers = [int(name) for name in names if re.fullmatch("[0-9]+", name)]
    folder = place / f"{max(numbers, default=0) + 1:03}"
    files = read_below(submitted).files
    write_below(folder, {name: files[name] for name in files if Path(name).parts[0] != ENTRY})
    graded = entry | {"graded": datetime.now(UTC).isoformat(timespec="seconds")}
    write_whole(folder / ENTRY, json.dumps(graded, indent=1).encode())
