"""Read a submission, judge it and give it points, all in a confined process.

Its cells run elsewhere: the clerk asks for that, and gets what they showed.
"""

import json

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from traitlets import import_item
from traitlets.config import Config

from autograder.asking import sending
from autograder.asking.problem import ProblemKind
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.folder import MOST_NOTEBOOK_BYTES
from autograder.grading.submission.given_up import solutions_for_checks
from autograder.grading.submission.lacking import lacked_modules, without_module
from autograder.grading.submission.needed import needed
from autograder.grading.submission.read_notebook import (
    BrokenSubmission,
    read_notebook,
    require_any_of,
)
from autograder.grading.submission.restore import absent_answers, empty_submission, restore
from autograder.grading.worker.graded_cells import NOT_RUN, SHOWN, notebook_points
from autograder.grading.worker.job import Job, Outcome
from autograder.grading.worker.judge_notebook import judge_notebook, tidy
from autograder.judging.verdict import Verdict
from autograder.lessons.cells import exercise_checked, grade_id_of
from autograder.references.store import LessonReference
from autograder.sandbox.confined import Ask
from autograder.sandbox.sandbox import CellRun, NotebookRun

CHECK = f"from {sending.__name__} import check; "
# Seconds of processor time: what a check has beyond its exercise's own limit, and what any other
# cell has that a grade may depend on. Such cells work on a few small tensors.
CHECK_GRACE, LESSON_SECONDS = 3.0, 4.0
MOST_RUNS = 20  # of one submission: each but the first leaves out something more
MOST_ENDLESS = 2  # cells that go on after an interrupt, and are left out
LEFT_OUT = "pass"  # runs in place of such a cell


def grade(job: Job, reference: LessonReference | None, ask: Ask) -> list[bytes]:
    """Grade a submission. Returns the facts about it, as JSON, and the graded notebook.

    reference: the lesson's, with hidden cases, if it is a lesson of the course.
    """
    notebook, broken, absent = _restored(job)
    with solutions_for_checks(notebook, job.solutions):
        cells = _runnable(notebook, job)
        not_run: tuple[NotebookRun, list[str]] = NotebookRun([], str(broken), job.doubtful), []
        run, lacking = not_run if broken else _run(cells, job, reference, ask)
    _show_course_outputs(notebook, job)
    _fill_in(cells, run)
    tidy(notebook)
    verdicts = judge_notebook(notebook, job.blueprint.checks, reference) if reference else []
    outcome, reason = _outcome(run, verdicts, _wrote(notebook, job.blueprint))
    if broken:
        _leave_to_a_person(notebook)
    points = notebook_points(notebook)
    facts = {
        "outcome": outcome,
        "reason": reason,
        "cause": broken.cause if broken else reason,
        "points": points.by_name,
        "unanswered": sorted(points.unanswered),
        "lacking": lacking,
        "absent": [name for name in absent if points.by_name[name] == 0],
        "seconds": round(sum(cell.seconds for cell in run.cells), 3),
        "doubtful": run.doubtful or any(map(_waited, verdicts)),
    }
    for step in tidying_steps(job):
        notebook, _ = step(notebook, {})
    return [json.dumps(facts).encode(), nbformat.writes(notebook).encode()]


def tidying_steps(job: Job) -> list[Preprocessor]:
    """Make nbgrader's steps for a graded notebook."""
    return [import_item(name)(config=Config(settings)) for name, settings in job.tidying.items()]


def _restored(job: Job) -> tuple[NotebookNode, BrokenSubmission | None, list[str]]:
    """Return the restored submission, why it could not be read, if so, and what it lacks.

    It lacks the graded cells, listed by name, whose answer has no cell.
    """
    try:
        if job.broken:
            raise job.broken
        notebook = read_notebook(job.data, MOST_NOTEBOOK_BYTES)
        require_any_of(notebook, job.blueprint.by_name)
        return restore(notebook, job.blueprint), None, absent_answers(notebook, job.blueprint)
    except BrokenSubmission as error:
        return empty_submission(job.blueprint, str(error)), error, []


def _run(
    cells: list[NotebookNode], job: Job, reference: LessonReference | None, ask: Ask
) -> tuple[NotebookRun, list[str]]:
    """Run the cells; if one fails for a module that isn't here, run them again without it.

    The same for a cell that goes on after an interrupt: its kernel ends with it, and the others run
    again in a new one. Returns the last run, and the names of the modules, even of those that it
    could not leave out.
    """
    code = [_code(cell, job) if reference else cell.source for cell in cells]
    seconds = [_seconds(cell, job, reference) for cell in cells]
    lacking: dict[str, None] = {}
    endless: dict[int, CellRun] = {}
    spent = 0.0
    for _ in range(MOST_RUNS):
        run, before = _run_once(code, seconds, ask), list(code)
        spent += sum(cell.seconds for cell in run.cells)
        if run.outlived and len(endless) < MOST_ENDLESS:
            last = len(run.cells) - 1
            endless[last], code[last] = run.cells[last], LEFT_OUT
        found = [(n, m) for n, cell in enumerate(run.cells) for m in lacked_modules(cell.outputs)]
        for number, module in found:
            code[number] = without_module(code[number], module)
        lacking |= dict.fromkeys(module for _, module in found)
        if code == before or spent > job.limits.notebook_seconds:
            break
    for number, cell in endless.items():
        if number < len(run.cells):
            run.cells[number] = cell
    return run, [*lacking]


def _run_once(code: list[str], seconds: list[float], ask: Ask) -> NotebookRun:
    told, *outputs = ask({"cells": [list(one) for one in zip(code, seconds, strict=True)]})
    told = json.loads(told)
    done = [CellRun(sent, **about) for sent, about in zip(outputs, told["cells"], strict=True)]
    return NotebookRun(done, told["stopped"], told["doubtful"], told["outlived"])


def _code(cell: NotebookNode, job: Job) -> str:
    """Return what to run for a cell. The course's check is called, whatever `check` now names.

    A solution that is lent takes the place of its check.
    """
    checks = grade_id_of(cell) in job.blueprint.checks and exercise_checked(cell.source)
    return CHECK + cell.source if checks else cell.source


def _seconds(cell: NotebookNode, job: Job, reference: LessonReference | None) -> float:
    """Return how long a cell may take, in seconds of processor time."""
    if not reference:
        return job.limits.cell_seconds
    if exercise := job.blueprint.checks.get(grade_id_of(cell)):
        return reference.questions[exercise].seconds + CHECK_GRACE
    return min(LESSON_SECONDS, job.limits.cell_seconds)


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


def _fill_in(cells: list[NotebookNode], run: NotebookRun) -> None:
    """Give the cells that were to be run their results."""
    for cell, done in zip(cells, run.cells, strict=False):
        cell.outputs, cell.execution_count = done.outputs, done.execution_count
        cell.metadata.pop(SHOWN, None)
    for cell in cells[len(run.cells) :]:
        said = f"{NOT_RUN}: {run.stopped}"
        cell.outputs = [new_output("error", ename=NOT_RUN, evalue=run.stopped, traceback=[said])]
        cell.metadata.pop(SHOWN, None)


def _outcome(run: NotebookRun, verdicts: list[Verdict], wrote: bool) -> tuple[Outcome, str]:
    """Return the outcome, and the reason if something is not graded.

    wrote: whether there is an answer in words.
    """
    unknown = [verdict for verdict in verdicts if not verdict.graded]
    if run.stopped or unknown:
        return Outcome.NOT_GRADED, run.stopped or " ".join(verdict.sentence for verdict in unknown)
    answered = not verdicts or wrote or any(verdict.answered for verdict in verdicts)
    return Outcome.GRADED if answered else Outcome.UNANSWERED, ""


def _wrote(notebook: NotebookNode, blueprint: Blueprint) -> bool:
    """Whether a cell that a person grades has an answer."""
    sources = {grade_id_of(cell): cell.source for cell in notebook.cells}
    return any(cell.is_answer and sources[cell.name] != cell.source for cell in blueprint.cells)


def _leave_to_a_person(notebook: NotebookNode) -> None:
    """Keep stubs that stand in for what was not read from counting as unanswered."""
    for cell in notebook.cells:
        cell.metadata.get("nbgrader", {}).pop("checksum", None)


def _waited(verdict: Verdict) -> bool:
    return any(problem.kind == ProblemKind.WAITING for problem in verdict.problems)
