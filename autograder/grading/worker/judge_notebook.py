"""Judge a notebook that has been run: turn what its kernel sent into verdicts and cards."""

import re
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.asking import MIME
from autograder.asking.answer import Answer, Problem
from autograder.asking.hand_in import HandedIn, unpack
from autograder.grading.submission.given_up import given_up
from autograder.grading.worker.job import NOT_RUN, VERDICT
from autograder.judging.card import verdict_card
from autograder.judging.judge import blame, judge, verdict_given_up
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict
from autograder.lessons.nbgrader_metadata import grade_id_of
from autograder.references.store import LessonReference

ANSI = re.compile(r"\x1b\[[0-9;]*m")
PROBLEMS = {
    "NameError": "undefined",
    "CellTimeoutError": "check timed out",
    "CellWaitedError": "check waited",
    NOT_RUN: "not run",
}


def judge_notebook(
    notebook: NotebookNode, checks: Mapping[str, str], reference: LessonReference
) -> list[Verdict]:
    """Give each check cell its verdict: a card as its output, and the facts in its metadata.

    checks: by grade_id, the exercise that the cell checks. They come from the source notebook;
    what the submission says about itself does not matter.
    """
    by_id = {grade_id_of(cell): cell for cell in notebook.cells}
    cells = {exercise: by_id[name] for name, exercise in checks.items() if name in by_id}
    surrendered = given_up(notebook, reference.keys)
    verdicts: dict[str, Verdict] = {}
    for exercise, key in reference.keys.items():  # in the lesson's order, not the learner's
        if exercise in cells:
            verdicts[exercise] = (
                verdict_given_up(key)
                if exercise in surrendered
                else _judge(read_answers(cells[exercise], key), key, verdicts)
            )
            _show(cells[exercise], verdicts[exercise])
    for cell in notebook.cells:
        _drop_answers(cell)
    return list(verdicts.values())


def _judge(handed_in: HandedIn, key: AnswerKey, earlier: Mapping[str, Verdict]) -> Verdict:
    needed = [name for name in key.builds_on if name in handed_in.uses]
    unfinished = [name for name in needed if name not in earlier or not earlier[name].finished]
    return blame(judge(key, handed_in.answers), unfinished)


def tidy(notebook: NotebookNode) -> None:
    """Remove verdicts that the submission brought, and this machine's paths in tracebacks."""
    for cell in notebook.cells:
        cell.metadata.pop(VERDICT, None)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [t for t in output.traceback if not _is_library_frame(t)]


def read_answers(cell: NotebookNode, key: AnswerKey) -> HandedIn:
    """Read the answers that a check cell sent; if there are none, give the reason as a problem."""
    count = len(key.cases)
    for sent in _sent(cell):
        try:
            return unpack(sent, key.exercise, count)
        except ValueError as error:
            return _nothing(Problem("unreadable", str(error)), count)
    return _nothing(_why_nothing(cell), count)


def _nothing(problem: Problem, count: int) -> HandedIn:
    return HandedIn([Answer(problem=problem)] * count, set())


def _show(cell: NotebookNode, verdict: Verdict) -> None:
    card = verdict_card(verdict)
    cell.outputs = [new_output("display_data", {"text/html": card.html, "text/plain": card.text})]
    cell.metadata[VERDICT] = verdict.summary()


def _drop_answers(cell: NotebookNode) -> None:
    """Remove answers that a cell sent unasked."""
    if "outputs" in cell:
        cell.outputs = [o for o in cell.outputs if MIME not in o.get("data", {})]


def _is_library_frame(part: str) -> bool:
    return ANSI.sub("", part).startswith("File ")


def _sent(cell: NotebookNode) -> Iterator[object]:
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if MIME in data:
            yield data[MIME]


def _why_nothing(cell: NotebookNode) -> Problem:
    errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
    if not errors:
        return Problem("no answer")
    error = errors[0]
    if error.ename in PROBLEMS:
        return Problem(PROBLEMS[error.ename], error.evalue)
    return Problem("raised", f"{error.ename}: {error.evalue}")
