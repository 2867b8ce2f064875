"""Judge a notebook that has been run: turn what its kernel sent into verdicts and cards."""

import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from types import FrameType

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.asking import MIME
from autograder.asking.answer import Answer
from autograder.asking.problem import Problem, ProblemKind, cut
from autograder.asking.question import Question
from autograder.asking.sending import SentAnswers, unpack
from autograder.grading.submission.definitions import defines
from autograder.grading.submission.given_up import given_up
from autograder.grading.worker.graded_cells import NOT_RUN, VERDICT
from autograder.judging.card import Card, verdict_card
from autograder.judging.judge import blame, judge, unfinished, verdict_given_up
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict
from autograder.lessons.cells import grade_id_of
from autograder.references.store import LessonReference

MOST_SECONDS = 5.0  # of processor time, to judge an answer; an honest one takes a hundredth
ANSI = re.compile(r"\x1b\[[0-9;]*m")
PROBLEMS = {
    "NameError": ProblemKind.UNDEFINED,
    "CellTimeoutError": ProblemKind.CHECK_TIMED_OUT,
    "CellWaitedError": ProblemKind.CHECK_WAITED,
    NOT_RUN: ProblemKind.NOT_RUN,
}


def judge_notebook(
    notebook: NotebookNode, checks: Mapping[str, str], reference: LessonReference
) -> list[Verdict]:
    """Give each check cell its verdict: a card as its output, and the facts in its metadata.

    An answer that can't be judged, or not in time, does not affect the others.

    checks: by grade_id, the exercise that the cell checks. They come from the source notebook;
        what the submission says about itself does not matter.
    """
    by_id = {grade_id_of(cell): cell for cell in notebook.cells}
    cells = {exercise: by_id[name] for name, exercise in checks.items() if name in by_id}
    surrendered = given_up(notebook, reference.keys)
    verdicts: dict[str, Verdict] = {}
    for exercise, key in reference.keys.items():  # in the lesson's order, not the learner's
        if exercise not in cells:
            continue
        if exercise in surrendered:
            verdict = verdict_given_up(key)
            card = verdict_card(verdict)
        else:
            question = reference.questions[exercise]
            verdict, card = _judged(cells[exercise], question, reference.keys, verdicts)
        if any(problem.kind == ProblemKind.UNDEFINED for problem in verdict.problems):
            verdict = _saying_why(verdict, cells[exercise], notebook)
            card = verdict_card(verdict)
        verdicts[exercise] = verdict
        _show(cells[exercise], verdict, card)
    for cell in notebook.cells:
        _drop_answers(cell)
    return list(verdicts.values())


def _judged(
    cell: NotebookNode,
    question: Question,
    keys: Mapping[str, AnswerKey],
    earlier: Mapping[str, Verdict],
) -> tuple[Verdict, Card]:
    """Judge what a check cell sent, in limited time, and make the card."""
    exercise = question.exercise
    try:
        with _processor_seconds(MOST_SECONDS):
            verdict = _judge(exercise, read_answers(cell, question), keys, earlier)
            return verdict, verdict_card(verdict.with_inputs(question))
    except Exception as error:
        problem = Problem(ProblemKind.NOT_JUDGED, cut(f"{type(error).__name__}: {error}"))
        nothing = _nothing(problem, len(keys[exercise].cases))
        verdict = _judge(exercise, nothing, keys, earlier)
        return verdict, verdict_card(verdict)


def _judge(
    exercise: str,
    handed_in: SentAnswers,
    keys: Mapping[str, AnswerKey],
    earlier: Mapping[str, Verdict],
) -> Verdict:
    def is_finished(other: str) -> bool:
        return other in earlier and earlier[other].finished

    first = unfinished(keys, exercise, handed_in.uses, is_finished)
    return blame(judge(keys[exercise], handed_in.answers), first)


def _saying_why(verdict: Verdict, check: NotebookNode, notebook: NotebookNode) -> Verdict:
    """Say why a check found no answer, from the cells above it that should define it."""
    name = verdict.exercise
    above = takewhile(lambda cell: cell is not check, notebook.cells)
    there = [cell for cell in above if cell.cell_type == "code" and defines(cell.source, name)]
    errors = [output for cell in there for output in _errors(cell)]
    if errors:
        why = cut(f"{errors[-1].ename}: {errors[-1].evalue}")
        sentence = f"{verdict.sentence} It stopped with {why}."
    else:
        why = "no cell above its check defines it"
        sentence = f"There is no `{name}`: {why}."
    return replace(verdict, sentence=sentence, problems=(Problem(ProblemKind.UNDEFINED, why),))


def tidy(notebook: NotebookNode) -> None:
    """Remove verdicts that the submission brought, and this machine's paths in tracebacks."""
    for cell in notebook.cells:
        cell.metadata.pop(VERDICT, None)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [t for t in output.traceback if not _is_library_frame(t)]


def read_answers(cell: NotebookNode, question: Question) -> SentAnswers:
    """Read the answers that a check cell sent; if there are none, return why, as a problem."""
    count = len(question.calls)
    for sent in _sent(cell):
        try:
            return unpack(sent, question)
        except ValueError as error:
            return _nothing(Problem(ProblemKind.UNREADABLE, str(error)), count)
    return _nothing(_why_nothing(cell), count)


def _nothing(problem: Problem, count: int) -> SentAnswers:
    return SentAnswers([Answer(problem=problem)] * count, set())


def _show(cell: NotebookNode, verdict: Verdict, card: Card) -> None:
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
    errors = _errors(cell)
    if not errors:
        return Problem(ProblemKind.NO_ANSWER)
    error = errors[0]
    if error.ename in PROBLEMS:
        return Problem(PROBLEMS[error.ename], error.evalue)
    return Problem(ProblemKind.RAISED, f"{error.ename}: {error.evalue}")


def _errors(cell: NotebookNode) -> list[NotebookNode]:
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


@contextmanager
def _processor_seconds(most: float) -> Iterator[None]:
    """Raise TimeoutError in the body once it has used this much processor time.

    Only the main thread can be interrupted; in any other, the body has no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it took more than {most:g} seconds of processor time")

    before = signal.signal(signal.SIGPROF, expire)
    signal.setitimer(signal.ITIMER_PROF, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
