"""What a mark is made from besides what was handed in, and what of it has changed since.

Each part is a short string, under the words that name it: a digest, or a date.
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
from autograder.grading.worker.job import NOT_GRADED, Graded, Job
from autograder.lessons.lesson import ROOT, Lesson, lesson_names
from autograder.lessons.written_questions import asked_in

NOTEBOOK, POINTS, CHECKS = "the released notebook", "the points", "the checks"
CELLS = "each cell"  # a digest by name, as JSON: part of the notebook and the points
SECRET, GRADER, LIMITS = "the secret", "the grader", "the limits"
DUE, WHEN = "the due date", "when it was handed in"
SAME_TO_MARK = "same_to_mark"  # in nbgrader's resources: what `same_to_mark` returned
LIBRARIES = ("torch", "numpy", "keras", "nbgrader")
GRADER_STARTS = ("grading/worker/task.py", "grading/engine/save_marks.py")


def made_from(template: Job, assignment: str, secret: str, due: str) -> dict[str, str]:
    """Return what the marks of a notebook's submissions are made from.

    template: what the submissions have in common. due: the due date, "" if there is none.
    """
    cells = template.blueprint.cells
    notebook = [
        [(c.name, c.cell_type, c.source, c.locked, c.grade, c.solution, c.task) for c in cells],
        sorted(template.files.items()),
    ]
    return {
        NOTEBOOK: _digest(notebook),
        POINTS: _digest([(cell.name, cell.points) for cell in cells]),
        CELLS: json.dumps({cell.name: _of_cell(cell, template.blueprint) for cell in cells}),
        CHECKS: _checks(assignment),
        SECRET: _digest(secret),
        GRADER: _grader(),
        LIMITS: _digest(template.limits),
        DUE: due,
    }


def why_again(before: Mapping[str, Any], job: Job) -> str:
    """Return why a submission that has been graded is due again; "" if it is not.

    before: facts about the run that graded it, {} if it was not this engine's.
    """
    if not before:
        return "another version of the grader made the grade"
    if before.get("outcome") == NOT_GRADED and before.get("doubtful") is True:
        return "the machine may have been to blame"
    if before.get("submitted") != job.digest:
        return "what was handed in has changed"
    known, now = _made_from(before), job.made_from
    changed = [part for part in now if part != CELLS and known.get(part) != now[part]]
    return f"{' and '.join(changed)} changed" if changed else ""


def same_to_mark(before: Mapping[str, Any], now: Graded) -> frozenset[str]:
    """Name the cells in which a person marks what it was: what was handed in, and the cell.

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
    return _digest((cell.cell_type, cell.source, cell.points, asks and asks.source))


def _checks(assignment: str) -> str:
    return source_digest(Lesson(assignment)) if assignment in lesson_names() else ""


def _grader() -> str:
    code = Path(autograder.__file__).parent
    starts = [*(code / start for start in GRADER_STARTS), *code.glob("sandbox/inside/*.py")]
    versions = " ".join(map(version, LIBRARIES))
    return digest_of(needed_files(starts, ROOT), ROOT, versions)


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
