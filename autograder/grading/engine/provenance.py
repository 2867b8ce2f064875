"""What a grade is made from: the submission, and everything else that it depends on.

This is kept beside a graded notebook, so that a later run knows what has changed. Each part is a
short string, a digest or a date, under the words that name it in messages.
"""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import autograder
from autograder.building.sources import digest_of, needed_files, source_digest
from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.worker.job import Graded, Job, Outcome
from autograder.lessons import ROOT
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.lessons.written_questions import asked_in

NOTEBOOK, POINTS, CHECKS = "the released notebook", "the points", "the checks"
CELLS = "each cell"  # a digest by name, as JSON: part of the notebook and the points
SECRET, GRADER, LIMITS = "the secret", "the grader", "the limits"
DUE, WHEN = "the due date", "when it was handed in"
SETTLED_CELLS = "settled_cells"  # in nbgrader's resources: what `settled_cells` returned
LIBRARIES = ("torch", "numpy", "keras", "nbgrader")
GRADER_STARTS = ("grading/worker/task.py", "grading/engine/save_points.py")


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
    return {
        NOTEBOOK: digest(notebook),
        POINTS: digest([(cell.name, cell.points) for cell in cells]),
        CELLS: json.dumps({cell.name: _of_cell(cell, template.blueprint) for cell in cells}),
        CHECKS: _checks(lesson),
        SECRET: digest(secret),
        GRADER: _grader(),
        LIMITS: digest(template.limits),
        DUE: due,
    }


def why_again(before: Mapping[str, Any], job: Job) -> str:
    """Return why a graded submission is due again; "" if it is not.

    before: facts about the run that graded it, {} if another engine did.
    """
    if not before:
        return "another version of the grader made the grade"
    if before.get("outcome") == Outcome.NOT_GRADED and before.get("doubtful") is True:
        return "the machine may have been to blame"
    if before.get("submitted") != job.digest:
        return "what was handed in has changed"
    known, now = _made_from(before), job.made_from
    changed = [part for part in now if part != CELLS and known.get(part) != now[part]]
    return f"{' and '.join(changed)} changed" if changed else ""


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
