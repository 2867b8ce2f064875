"""What a grade is made from: the submission, and everything else that it depends on.

This is kept beside a graded notebook, so that a later run knows what has changed. Each part is a
short string: a digest or a date.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

import autograder
from autograder.building.sources import digest_of, needed_files, source_digest
from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.worker.job import Graded, Job, Outcome
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.lessons.written_questions import asked_in
from autograder.places import ROOT


class _Worded(StrEnum):
    """Ids, each with its words."""

    words: str

    def __new__(cls, id: str, words: str) -> "_Worded":
        member = str.__new__(cls, id)
        member._value_, member.words = id, words
        return member


class Dependency(_Worded):
    """What a grade depends on, apart from the submission."""

    NOTEBOOK = "notebook", "the released notebook"
    POINTS = "points", "the points"
    CHECKS = "checks", "the checks"
    SECRET = "secret", "the secret"
    GRADER = "grader", "the grader"
    LIMITS = "limits", "the limits"
    DUE = "due", "the due date"
    SUBMITTED = "submitted", "when it was handed in"


class Reason(_Worded):
    """Why a submission is to be graded, if not because of a dependency."""

    NEW = "new", "new"
    FORCED = "forced", "forced"
    OTHER_GRADER = "other grader", "another version of the grader made the grade"
    LOST = "lost", "the gradebook has no grade for it, although one was made"
    DOUBTFUL = "doubtful", "the machine may have been to blame"
    OTHER_SUBMISSION = "other submission", "what was handed in has changed"


MOST_ATTEMPTS = 3  # runs in which the machine may have been to blame for the same submission
Why = tuple[Dependency | Reason, ...]
CELLS = "cells"  # among the dependencies: each cell's digest by name, as JSON
LIBRARIES = ("torch", "numpy", "keras", "nbgrader")
GRADER_STARTS = ("grading/worker/task.py", "grading/engine/plugins.py")


def digest(value: object) -> str:
    """Return a digest of anything whose `repr` is complete."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def made_from(template: Job, lesson: str, secret: str, due: str) -> dict[str, str]:
    """Return what a notebook's grades are made from, apart from the submissions.

    template: the job without a submission.
    due: the due date, "" if there is none.
    """
    cells = template.blueprint.cells
    notebook = [
        [(c.name, c.cell_type, c.source, c.locked, c.grade, c.solution, c.task) for c in cells],
        sorted(template.files.items()),
    ]
    parts = {
        Dependency.NOTEBOOK: digest(notebook),
        Dependency.POINTS: digest([(cell.name, cell.points) for cell in cells]),
        Dependency.CHECKS: _checks(lesson),
        Dependency.SECRET: digest(secret),
        Dependency.GRADER: _grader(),
        Dependency.LIMITS: digest(template.limits),
        Dependency.DUE: due,
    }
    by_cell = {cell.name: _of_cell(cell, template.blueprint) for cell in cells}
    # As plain text, so that workers need not know the enum.
    return {part.value: text for part, text in parts.items()} | {CELLS: json.dumps(by_cell)}


def why_again(before: Mapping[str, Any], job: Job) -> Why:
    """Return why a graded submission is due again; () if it is not.

    before: facts about the run that graded it, {} if another engine did.
    """
    if not before:
        return (Reason.OTHER_GRADER,)
    if before.get("submitted") != job.digest:
        return (Reason.OTHER_SUBMISSION,)
    is_doubtful = before.get("outcome") == Outcome.NOT_GRADED and before.get("doubtful") is True
    if is_doubtful and before.get("attempts", 0) < MOST_ATTEMPTS:
        return (Reason.DOUBTFUL,)
    known, now = _made_from(before), job.made_from
    return tuple(part for part in Dependency if known.get(part) != now.get(part))


def is_stale(before: Mapping[str, Any], job: Job) -> bool:
    """Whether what was handed in, or its time, has changed since a run of ours graded it."""
    if not before:
        return False
    then, now = (made.get(Dependency.SUBMITTED) for made in (_made_from(before), job.made_from))
    return before.get("submitted") != job.digest or then != now


def in_words(why: Why) -> str:
    """Say why submissions are graded again."""
    told = " and ".join(one.words for one in why)
    return told if isinstance(why[0], Reason) else f"{told} changed"


def settled_cells(before: Mapping[str, Any], now: Graded) -> frozenset[str]:
    """Name the cells for which points given by hand are still valid: nothing there has changed.

    before: facts about an earlier run.
    """
    if before.get("submitted") != now.submitted:
        return frozenset()
    known, cells = (_cells(made) for made in (_made_from(before), now.made_from))
    return frozenset(name for name in cells if known.get(name) == cells[name])


def _made_from(run: Mapping[str, Any]) -> dict[str, Any]:
    found = run.get("made_from")
    return found if isinstance(found, dict) else {}


def _cells(made: Mapping[str, Any]) -> dict[str, str]:
    try:
        found = json.loads(made.get(CELLS, "{}"))
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_cell(cell: SourceCell, blueprint: Blueprint) -> str:
    """Return a digest of a cell and its points; for an answer in words, of its question too."""
    asks = blueprint.by_name.get(asked_in(cell.name))
    return digest((cell.cell_type, cell.source, cell.points, asks and asks.source))


def _checks(lesson: str) -> str:
    return source_digest(Lesson(lesson)) if lesson in lesson_names() else ""


def _grader() -> str:
    code = Path(autograder.__file__).parent
    starts = [*(code / start for start in GRADER_STARTS), *code.glob("sandbox/inside/*.py")]
    versions = " ".join(map(version, LIBRARIES))
    return digest_of(needed_files(starts, ROOT), ROOT, versions)
