"""When learners handed in, from Canvas: its API's answer, or a table with the same columns.

The answer of GET /api/v1/courses/:course/assignments/:assignment/submissions is a list of objects
with `user_id` and `submitted_at`, which is null for those who handed in nothing (its documentation:
Submissions API). A large class has several such answers, one for each page.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.grading.term.dates import read_date
from autograder.grading.term.file_kinds import JSON, kind_of, refuse_others
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
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path.name} can't be read ({error.strerror}).") from error
    if path.suffix != ".json" and kind_of(data) != JSON:
        yield from (row.cells for row in read_foreign_table(path))
        return
    refuse_others(path.name, data, "Download the answer of Canvas's Submissions API.", JSON)
    try:
        answers = list(_answers(data.decode(json.detect_encoding(data))))
    except ValueError as error:
        raise CourseError(f"{path.name} is not JSON ({error}).") from None
    for answer in answers:
        for row in answer if isinstance(answer, list) else [answer]:
            yield row if isinstance(row, dict) else {}


def _answers(text: str) -> Iterator[Any]:
    """Yield the answers in a file, one after another. Raises ValueError."""
    decoder, text = json.JSONDecoder(), text.strip()
    while True:
        answer, end = decoder.raw_decode(text)
        yield answer
        text = text[end:].lstrip()
        if not text:
            return
