"""Grade one submission, as a task for any process: plain data in, plain data out.

It needs no gradebook and no course directory, and reads nothing that a submission wrote: a confined
clerk does that, and the cells run in a sandbox. Only the sandbox is kept from one task to the next.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch

from autograder.asking.codec import decode
from autograder.asking.sending import encode_questions
from autograder.building.hidden import with_hidden
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term.learner_names import printable
from autograder.grading.worker import clerk
from autograder.grading.worker.job import OUTCOMES, Graded, Job, NotebookPoints, Outcome
from autograder.grading.worker.own_sandbox import QUESTIONS, own_sandbox
from autograder.references.store import LessonReference
from autograder.sandbox.confined import Bounds, Message, Unfinished, confined
from autograder.sandbox.sandbox import Cell
from autograder.sandbox.walls import HOME

LONGEST_REASON = 2000
MOST_NAMES, LONGEST_NAME = 20, 60
BOUNDS = Bounds(seconds=60)  # of which each answer may take a part


def grade(job: Job) -> Graded:
    """Run and judge a submission. Returns a result whatever the submission holds.

    Raises NoSandbox if this machine can't have one.
    """
    reference = get_ready(job)
    try:
        work, serve = partial(clerk.grade, job, reference), partial(_run, job, reference)
        told = confined(work, serve, BOUNDS)
        return _checked(job, *told)
    except Unfinished as error:
        return not_graded(job, f"reading and judging it did not end: {error}", error.doubtful)
    except ValueError as error:
        return not_graded(job, f"judging it gave no valid result: {error}", False)


def get_ready(job: Job) -> LessonReference | None:
    """Import what forks of this process need for a job; return its reference, if it has one.

    The first one of a lesson takes longest.
    """
    torch.set_num_threads(1)  # threads do not survive a fork
    clerk.tidying_steps(job)
    return _reference(job)


def not_graded(job: Job, reason: str, doubtful: bool = True) -> Graded:
    """Return the result for a submission that could not be graded. It is not read."""
    unread = replace(job, data=b"", broken=BrokenSubmission(reason), doubtful=doubtful, seed="")
    facts, notebook = clerk.grade(unread, _reference(unread), lambda message: [])
    return replace(_checked(unread, facts, notebook), submitted=job.digest)


def failed(job: Job, error: Exception) -> Graded:
    """Return the result for a submission whose grading met an error of the grader's own."""
    return not_graded(job, f"grading it met an error of its own ({type(error).__name__}: {error})")


def _reference(job: Job) -> LessonReference | None:
    """Return the job's reference, if it has one, with the hidden cases for its seed."""
    if not job.reference:
        return None
    shown = _shown_reference(job.reference)
    return with_hidden(shown, job.seed) if job.seed else shown


@cache
def _shown_reference(data: bytes) -> LessonReference:
    return LessonReference.from_tree(decode(data))


def _run(job: Job, reference: LessonReference | None, message: Message) -> Iterator[bytes]:
    """Run the cells that a clerk names; yield a summary as JSON, then what each cell showed."""
    files = {f"{HOME}/{name}": data for name, data in job.files.items()}
    if reference:
        files[QUESTIONS] = encode_questions(reference.questions.values())
    run = own_sandbox(job).run([Cell(str(s), float(t)) for s, t in message["cells"]], files)
    told = {
        "cells": [{"execution_count": c.execution_count, "seconds": c.seconds} for c in run.cells],
        "stopped": run.stopped,
        "doubtful": run.doubtful,
        "outlived": run.outlived,
    }
    yield json.dumps(told).encode()
    for cell in run.cells:
        yield cell.sent


def _checked(job: Job, told: bytes, notebook: bytes) -> Graded:
    """Check the report of a clerk that has read a submission. Raises ValueError."""
    match json.loads(told):
        case {
            "outcome": str(outcome),
            "reason": str(reason),
            "cause": str(cause),
            "seconds": float() | int() as seconds,
            "doubtful": bool(doubtful),
            "points": dict(points),
            "unanswered": list(unanswered),
            "absent": list(absent),
            "lacking": list(lacking),
        } if outcome in OUTCOMES:
            return Graded(
                job.path,
                notebook,
                Outcome(outcome),
                _notebook_points(points, unanswered, job.blueprint),
                reason[:LONGEST_REASON],
                cause[:LONGEST_REASON],
                _names(absent, job.blueprint),
                seconds,
                doubtful,
                job.digest,
                job.made_from,
                lacking=tuple(printable(str(name))[:LONGEST_NAME] for name in lacking[:MOST_NAMES]),
            )
    raise ValueError("the facts about it are not complete")


def _notebook_points(
    points: dict[str, Any], unanswered: list[Any], blueprint: Blueprint
) -> NotebookPoints:
    graded = [cell for cell in blueprint.cells if cell.grade]
    checked = {cell.name: _points(points.get(cell.name), cell.points or 0.0) for cell in graded}
    return NotebookPoints(checked, _names(unanswered, blueprint))


def _names(found: list[Any], blueprint: Blueprint) -> frozenset[str]:
    return frozenset(cell.name for cell in blueprint.cells if cell.name in found)


def _points(found: Any, most: float) -> float | None:
    if found is None:
        return None
    if isinstance(found, int | float) and math.isfinite(found) and 0 <= found <= most:
        return found
    raise ValueError(f"{found!r:.20} points of {most:g}")
