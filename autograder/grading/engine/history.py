"""The history of a learner's submissions to a lesson: what was submitted, when, for which grade.

Each entry is a folder `history/<learner>/<lesson>/<number>` in the course directory. It holds the
submission and `mark.json`, which is written last.
"""

import json
import math
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import SubmittedAssignment

from autograder.atomic_writes import write_whole
from autograder.grading.submission.plain_files import read_below, write_below
from autograder.grading.worker.job import Graded

FOLDER, MARK = "history", "mark.json"
MOST_SHOWN = 10


def entries(course: Path, student: str, assignment: str) -> list[dict[str, Any]]:
    """Read a learner's entries, the first first. One that can't be read is left out."""
    found = []
    for path in sorted((course / FOLDER / student / assignment).glob(f"[0-9]*/{MARK}")):
        with suppress(OSError, ValueError):
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return [entry for entry in found if isinstance(entry, dict)]


def earlier_marks(course: Path, student: str, assignment: str) -> list[float | None]:
    """Return the last mark of each version that was handed in before the current one."""
    known = entries(course, student, assignment)
    marks = {str(entry.get("submitted")): entry.get("mark") for entry in known}
    *earlier, _ = [mark if _is_number(mark) else None for mark in marks.values()] or [None]
    return earlier[-MOST_SHOWN:]


def entry_of(found: SubmittedAssignment, outcome: str, graded: Iterable[Graded]) -> dict[str, Any]:
    """Return the entry about a submission in the gradebook that has just been graded."""
    return {
        "handed_in": str(found.timestamp or ""),
        "submitted": [one.submitted for one in graded],
        "outcome": outcome,
        "mark": None if found.needs_manual_grade else found.score,
        "penalty": found.late_submission_penalty,
        "most": found.max_score,
    }


def _is_number(mark: Any) -> bool:
    return isinstance(mark, int | float) and math.isfinite(mark)


def remember(
    course: Path, student: str, assignment: str, submitted: Path, entry: dict[str, Any]
) -> None:
    """Add an entry, unless it is the same as the last one.

    submitted: the folder that was handed in. entry: as `entry_of` returns.
    Raises OSError.
    """
    before = entries(course, student, assignment)
    if before and before[-1] == entry | {"graded": before[-1].get("graded")}:
        return
    place = course / FOLDER / student / assignment
    numbers = [int(path.name) for path in place.glob("[0-9]*") if path.name.isdigit()]
    folder = place / f"{max(numbers, default=0) + 1:03}"
    files = read_below(submitted).files
    write_below(folder, {name: files[name] for name in files if Path(name).parts[0] != MARK})
    graded = entry | {"graded": datetime.now(UTC).isoformat(timespec="seconds")}
    write_whole(folder / MARK, json.dumps(graded, indent=1).encode())
