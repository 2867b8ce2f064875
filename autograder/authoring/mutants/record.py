"""Keep each lesson's survey of mutants in git, so that an outdated one is noticed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.atomic_writes import write_whole
from autograder.authoring.mutants import survey
from autograder.building.sources import source_digest
from autograder.lessons.lesson import Lesson

FILE = Path(__file__).with_name("record.json")


def keep(lesson: Lesson, surveys: Iterable[survey.Survey]) -> None:
    """Record the surveys of a lesson whose checks have been found sound."""
    entry = {"source": _source(lesson), "exercises": {s.exercise: s.counts() for s in surveys}}
    record = dict(sorted({**read(), lesson.name: entry}.items()))
    write_whole(FILE, (json.dumps(record, indent=1) + "\n").encode())


def read() -> dict[str, dict[str, Any]]:
    """Read by lesson: a digest of the sources, and the counts by exercise."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def is_fresh(lesson: Lesson) -> bool:
    """Whether lesson, checks and mutation rules are still those of the recorded survey."""
    return read().get(lesson.name, {}).get("source") == _source(lesson)


def _source(lesson: Lesson) -> str:
    return source_digest(lesson, Path(survey.__file__))
