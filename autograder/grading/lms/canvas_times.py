"""When learners handed in, from Canvas: its API's answer, or a table with the same columns.

The answer of GET /api/v1/courses/:course/assignments/:assignment/submissions is a list of objects
with `user_id` and `submitted_at`, which is null for those who handed in nothing (its documentation:
Submissions API).
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.grading.term.dates import read_date
from autograder.grading.term.read_table import read_foreign_table

WHO, WHEN = "user_id", "submitted_at"


def read_canvas_times(path: Path) -> dict[str, datetime]:
    """Read when people handed in, in UTC, by Canvas's number for them. Raises CourseError."""
    found = {}
    for row in _rows(path):
        if WHO not in row or WHEN not in row:
            raise CourseError(
                f"{path.name} has no {WHO} or {WHEN}: name the answer of Canvas's Submissions API, "
                "or a table with these two columns."
            )
        if when := row[WHEN]:
            if not (who := _number(row[WHO])):
                raise CourseError(
                    f"{path.name}: the row with the time {when} has no {WHO}. Fill it in, or take "
                    "the row out."
                )
            try:
                found[who] = read_date(str(when))
            except ValueError as error:
                raise CourseError(f"{path.name}, {WHO} {who}: {error}.") from None
    return found


def _number(value: Any) -> str:
    """Return Canvas's number for somebody as it is in tables; "" if it is none."""
    return "" if value is None else str(value).strip()


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.suffix != ".json":
        yield from (row.cells for row in read_foreign_table(path))
        return
    try:
        rows = json.loads(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path.name} can't be read ({error.strerror}).") from error
    except ValueError as error:
        raise CourseError(f"{path.name} is not JSON ({error}).") from None
    for row in rows if isinstance(rows, list) else [rows]:
        yield row if isinstance(row, dict) else {}
