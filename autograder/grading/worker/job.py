"""The input and output of grading a submission, as plain data. This module is quick to import."""

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.folder import TIMESTAMP
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.sandbox.limits import Limits

RUN = ".run.json"  # ends the name of the file about a run, after the notebook's name


class Outcome(StrEnum):
    """What became of a notebook. Of a submission's notebooks, the worst counts, the last here."""

    GRADED = "graded"
    UNANSWERED = "unanswered"
    NOT_GRADED = "not graded"


OUTCOMES = tuple(Outcome)
# What a worker does to a notebook that it has judged, unless nbgrader is configured otherwise.
TIDYING = (
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
)


@dataclass(frozen=True)
class Job:
    """A submission to grade.

    path: where the notebook was submitted.
    data: its content.
    broken: why there is no content, if so.
    doubtful: whether the machine may be to blame for that.
    files: the files next to the notebook, by name.
    reference: the lesson's, as bytes, without hidden cases; empty for an instructor's own
        assignment.
    seed: what its hidden cases are drawn from; "" for none.
    solutions: the course's, by exercise, for those that a learner gave up.
    imports: modules that the released notebook imports, for the sandbox to preload.
    course: what the course's own cells showed, by source, for cells that need not run.
    figures: whether the course's figures are drawn, not only described.
    tidying: nbgrader's steps for a graded notebook, and their settings.
    made_from: what else the grade depends on (`engine.provenance`).
    """

    path: str
    blueprint: Blueprint
    data: bytes = b""
    broken: BrokenSubmission | None = None
    doubtful: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    reference: bytes = b""
    seed: str = ""
    solutions: dict[str, str] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    course: dict[str, list[NotebookNode]] = field(default_factory=dict)
    figures: bool = False
    tidying: dict[str, dict[str, Any]] = field(default_factory=dict)
    made_from: dict[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of the submission: the notebook and the files next to it."""
        digest = hashlib.sha256(self.data)
        digest.update(str(self.broken or "").encode())
        for name, data in sorted(self.files.items()):
            if name != TIMESTAMP:
                digest.update(repr((name, len(data))).encode() + data)
        return digest.hexdigest()


@dataclass(frozen=True)
class NotebookPoints:
    """The points of a notebook's cells.

    by_name: for each graded cell; None if a person has to give them.
    unanswered: the cells whose answer is as it was released.
    """

    by_name: dict[str, float | None] = field(default_factory=dict)
    unanswered: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Graded:
    """A graded submission.

    path: the job's path.
    notebook: as nbformat's JSON, with outputs, verdicts and cards. Nobody has checked it.
    reason: why it is not graded, if so, and what its learner can do about it.
    cause: the reason without that advice.
    doubtful: whether the machine may be to blame for what went wrong.
    absent: the graded cells with no points whose answer has no cell in the submission.
    submitted: the job's digest.
    made_from: as for the job.
    attempts: in how many runs in a row the same submission was doubtful.
    lacking: modules that it imports and this machine lacks; it ran without them.
    """

    path: str
    notebook: bytes
    outcome: Outcome
    points: NotebookPoints = field(default_factory=NotebookPoints)
    reason: str = ""
    cause: str = ""
    absent: frozenset[str] = frozenset()
    seconds: float = 0.0
    doubtful: bool = False
    submitted: str = ""
    made_from: dict[str, str] = field(default_factory=dict)
    attempts: int = 0
    lacking: tuple[str, ...] = ()

    @property
    def run(self) -> dict[str, Any]:
        """The facts to keep about the run that graded it."""
        facts = (
            *("outcome", "reason", "cause", "seconds", "doubtful", "attempts"),
            *("submitted", "made_from"),
        )
        return {name: getattr(self, name) for name in facts} | {"absent": sorted(self.absent)}


def run_path(notebook: Path) -> Path:
    """Return where the facts about the run that made a graded notebook are, beside it."""
    return notebook.with_name(f"{notebook.stem}{RUN}")


def write_graded(graded: Graded, notebook: Path) -> None:
    """Write a graded notebook, and beside it the facts about the run. Raises OSError."""
    notebook.write_bytes(graded.notebook)
    run_path(notebook).write_text(json.dumps(graded.run, indent=1), encoding="utf-8")


def earlier_run(notebook: Path) -> dict[str, Any]:
    """Read the facts about the run that made a graded notebook; {} if there are none."""
    try:
        run = json.loads(run_path(notebook).read_bytes())
    except (OSError, ValueError):
        return {}
    return run if isinstance(run, dict) else {}
