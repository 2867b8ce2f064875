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
from autograder.lessons.lesson import ROOT, Lesson, lesson_names
from autograder.lessons.written_questions import asked_in


class Dependency(StrEnum):
    """What a grade depends on, apart from the submission."""

    NOTEBOOK = "notebook"
    POINTS = "points"
    CELLS = "cells"  # a digest by name, as JSON: part of the notebook and the points
    CHECKS = "checks"
    SECRET = "secret"
    GRADER = "grader"
    LIMITS = "limits"
    DUE = "due"
    SUBMITTED = "submitted"


class Due(StrEnum):
    """Why a submission is to be graded, if no part of what its grade depends on has changed."""

    NEW = "new"
    FORCED = "forced"
    OTHER_GRADER = "other grader"
    DOUBTFUL = "doubtful"
    OTHER_SUBMISSION = "other submission"


Why = tuple[Dependency | Due, ...]
CHANGED = {
    Dependency.NOTEBOOK: "the released notebook",
    Dependency.POINTS: "the points",
    Dependency.CHECKS: "the checks",
    Dependency.SECRET: "the secret",
    Dependency.GRADER: "the grader",
    Dependency.LIMITS: "the limits",
    Dependency.DUE: "the due date",
    Dependency.SUBMITTED: "when it was handed in",
}
REASONS = {
    Due.NEW: "new",
    Due.FORCED: "forced",
    Due.OTHER_GRADER: "another version of the grader made the grade",
    Due.DOUBTFUL: "the machine may have been to blame",
    Due.OTHER_SUBMISSION: "what was handed in has changed",
}
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
        Dependency.CELLS: json.dumps(
            {cell.name: _of_cell(cell, template.blueprint) for cell in cells}
        ),
        Dependency.CHECKS: _checks(lesson),
        Dependency.SECRET: digest(secret),
        Dependency.GRADER: _grader(),
        Dependency.LIMITS: digest(template.limits),
        Dependency.DUE: due,
    }
    return {part.value: text for part, text in parts.items()}  # workers need not know the enum


def why_again(before: Mapping[str, Any], job: Job) -> Why:
    """Return why a graded submission is due again; () if it is not.

    before: facts about the run that graded it, {} if another engine did.
    """
    if not before:
        return (Due.OTHER_GRADER,)
    if before.get("outcome") == Outcome.NOT_GRADED and before.get("doubtful") is True:
        return (Due.DOUBTFUL,)
    if before.get("submitted") != job.digest:
        return (Due.OTHER_SUBMISSION,)
    known, now = _made_from(before), job.made_from
    return tuple(part for part in CHANGED if known.get(part) != now.get(part))


def in_words(why: Why) -> str:
    """Say why submissions are graded again."""
    if isinstance(why[0], Due):
        return REASONS[why[0]]
    return f"{' and '.join(CHANGED[part] for part in why if isinstance(part, Dependency))} changed"


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
        found = json.loads(made.get(Dependency.CELLS, "{}"))
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
