"""Grade one submission, as a task for any process: plain data in, plain data out.

It needs no gradebook and no course directory. Only the sandbox that runs the cells is kept from one
task to the next.
"""

from dataclasses import replace
from functools import cache

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.asking.codec import decode
from autograder.asking.hand_in import encode_questions
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.given_up import solutions_for_checks
from autograder.grading.submission.handed_in import MOST_NOTEBOOK_BYTES
from autograder.grading.submission.needed import needed
from autograder.grading.submission.read_notebook import (
    BrokenSubmission,
    read_notebook,
    require_any_of,
)
from autograder.grading.submission.restore import empty_submission, restore
from autograder.grading.worker.job import NOT_GRADED, NOT_RUN, RUN, SHOWN, Graded, Job
from autograder.grading.worker.judge_notebook import judge_notebook, tidy
from autograder.grading.worker.own_sandbox import QUESTIONS, own_sandbox
from autograder.judging.verdict import Verdict
from autograder.lessons.nbgrader_metadata import grade_id_of
from autograder.references.store import LessonReference
from autograder.sandbox.sandbox import Cell, Run
from autograder.sandbox.walls import HOME

CHECK_GRACE = 10.0  # seconds of processor time beyond what an exercise allows


def grade(job: Job) -> Graded:
    """Run and judge a submission. Returns a result whatever the submission holds.

    Raises NoSandbox if this machine can't have one.
    """
    notebook, broken = _restored(job)
    reference = _reference(job.reference) if job.reference else None
    with solutions_for_checks(notebook, job.solutions):
        cells = _runnable(notebook, job)
        run = Run([], broken, job.doubtful) if broken else _run(cells, job, reference)
    _show_course_outputs(notebook, job)
    _fill_in(cells, run)
    tidy(notebook)
    verdicts = judge_notebook(notebook, job.blueprint.checks, reference) if reference else []
    outcome, reason = _outcome(run, verdicts, _wrote(notebook, job.blueprint))
    if broken:
        _leave_to_a_person(notebook)
    about = {
        "outcome": outcome,
        "reason": reason,
        "seconds": round(sum(cell.seconds for cell in run.cells), 3),
        "doubtful": run.doubtful or any(map(_waited, verdicts)),
        "submitted": job.digest,
    }
    notebook.metadata[RUN] = about | {"made_from": job.made_from}
    return Graded(job.path, nbformat.writes(notebook), **about)


def not_graded(job: Job, reason: str) -> Graded:
    """Return the result for a submission that the grader, not the learner, broke."""
    graded = grade(replace(job, data=b"", broken=reason, doubtful=True))
    return replace(graded, submitted=job.digest)


def _outcome(run: Run, verdicts: list[Verdict], wrote: bool) -> tuple[str, str]:
    """Return the outcome, and the reason why something is not graded.

    wrote: whether there is an answer in words.
    """
    unknown = [verdict for verdict in verdicts if not verdict.graded]
    if run.stopped or unknown:
        return NOT_GRADED, run.stopped or " ".join(verdict.sentence for verdict in unknown)
    answered = not verdicts or wrote or any(verdict.answered for verdict in verdicts)
    return "graded" if answered else "unanswered", ""


def _wrote(notebook: NotebookNode, blueprint: Blueprint) -> bool:
    """Whether a cell that a person marks has an answer."""
    sources = {grade_id_of(cell): cell.source for cell in notebook.cells}
    return any(cell.is_answer and sources[cell.name] != cell.source for cell in blueprint.cells)


def _leave_to_a_person(notebook: NotebookNode) -> None:
    """Keep stubs that stand in for what was not read from counting as unanswered."""
    for cell in notebook.cells:
        cell.metadata.get("nbgrader", {}).pop("checksum", None)


def _waited(verdict: Verdict) -> bool:
    return any(problem.kind == "waiting" for problem in verdict.problems)


def _restored(job: Job) -> tuple[NotebookNode, str]:
    """Return the restored submission, and why it could not be read, or ""."""
    try:
        if job.broken:
            raise BrokenSubmission(job.broken)
        notebook = read_notebook(job.data, MOST_NOTEBOOK_BYTES)
        require_any_of(notebook, job.blueprint.by_name)
        return restore(notebook, job.blueprint), ""
    except BrokenSubmission as error:
        return empty_submission(job.blueprint, str(error)), str(error)


def _run(cells: list[NotebookNode], job: Job, reference: LessonReference | None) -> Run:
    files = {f"{HOME}/{name}": data for name, data in job.files.items()}
    if reference:
        files[QUESTIONS] = encode_questions(reference.questions.values())
    timed = [Cell(cell.source, _seconds(cell, job, reference)) for cell in cells]
    return own_sandbox(job).run(timed, files)


def _seconds(cell: NotebookNode, job: Job, reference: LessonReference | None) -> float:
    """Return how long a cell may take: for a check, at least as long as its exercise allows."""
    exercise = job.blueprint.checks.get(grade_id_of(cell))
    if reference is None or exercise is None:
        return job.limits.cell_seconds
    return max(job.limits.cell_seconds, reference.questions[exercise].seconds + CHECK_GRACE)


def _runnable(notebook: NotebookNode, job: Job) -> list[NotebookNode]:
    """List the cells that nbclient would run, without the course's demonstrations."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code"
        and cell.source.strip()
        and "skip-execution" not in cell.metadata.get("tags", [])
    ]
    running = needed([cell.source for cell in cells], job.course)
    return [cell for cell, runs in zip(cells, running, strict=True) if runs]


def _show_course_outputs(notebook: NotebookNode, job: Job) -> None:
    """Let the course's cells show what they showed in the course."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source in job.course:
            cell.outputs, cell.metadata[SHOWN] = job.course[cell.source], True


def _fill_in(cells: list[NotebookNode], run: Run) -> None:
    """Give the cells that were to be run their results."""
    for cell, done in zip(cells, run.cells, strict=False):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count
        cell.metadata.pop(SHOWN, None)
    for cell in cells[len(run.cells) :]:
        said = f"{NOT_RUN}: {run.stopped}"
        cell.outputs = [new_output("error", ename=NOT_RUN, evalue=run.stopped, traceback=[said])]
        cell.metadata.pop(SHOWN, None)


@cache
def _reference(data: bytes) -> LessonReference:
    return LessonReference.from_tree(decode(data))
