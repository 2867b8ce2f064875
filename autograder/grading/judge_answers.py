"""Judging a submission that has been run: from what its kernel sent to verdicts and cards."""

import re
from collections.abc import Iterator

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.answer import Answer, Problem
from autograder.authoring.lesson import exercise_checked, lesson_names
from autograder.card import verdict_card
from autograder.grading.hidden import grading_reference
from autograder.hand_in import MIME, unpack
from autograder.judge import blame, judge
from autograder.question import AnswerKey
from autograder.verdict import Verdict

VERDICT = "attention_verdict"
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class JudgeAnswers(NbGraderPreprocessor):
    """Gives each check cell its verdict: a card as its output, and the facts in its metadata.

    Which cell checks what is read from the gradebook's copy of the released notebook; what the
    submission says of itself has no part in it.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        for cell in nb.cells:
            cell.metadata.pop(VERDICT, None)
            shorten_tracebacks(cell)
        if about["assignment"] not in lesson_names():
            return nb, resources
        reference = grading_reference(about["assignment"])
        with Gradebook(about["db_url"]) as gradebook:
            source = gradebook.find_notebook(about["notebook"], about["assignment"])
            checks = {cell.name: exercise_checked(cell.source) for cell in source.source_cells}
        sources = {
            cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in nb.cells
        }
        right: set[str] = set()
        for cell in nb.cells:
            exercise = checks.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            if exercise:
                key = reference.keys[exercise]
                used = re.findall(r"\w+", sources.get(exercise, ""))
                unfinished = [n for n in key.builds_on if n in used and n not in right]
                verdict = blame(judge(key, read_answers(cell, key)), unfinished)
                right |= {exercise} if verdict.passed else set()
                self._show(cell, verdict)
        return nb, resources

    def _show(self, cell: NotebookNode, verdict: Verdict) -> None:
        card = verdict_card(verdict)
        data = {"text/html": card.html, "text/plain": card.text}
        cell.outputs = [new_output("display_data", data)]
        cell.metadata[VERDICT] = verdict.summary()


def shorten_tracebacks(cell: NotebookNode) -> None:
    """Leave out the frames that are not the notebook's, and with them this machine's paths."""
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            output.traceback = [part for part in output.traceback if not _is_library_frame(part)]


def _is_library_frame(part: str) -> bool:
    return ANSI.sub("", part).startswith("File ")


def read_answers(cell: NotebookNode, key: AnswerKey) -> list[Answer]:
    """The answers that a check cell sent; where there are none, the reason as a problem."""
    count = len(key.cases)
    for sent in _sent(cell):
        try:
            return unpack(sent, key.exercise, count)
        except ValueError as error:
            return [Answer(problem=Problem("unreadable", str(error)))] * count
    return [Answer(problem=_why_nothing(cell))] * count


def _sent(cell: NotebookNode) -> Iterator[object]:
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if MIME in data:
            yield data[MIME]


def _why_nothing(cell: NotebookNode) -> Problem:
    errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
    if not errors:
        return Problem("no answer")
    if errors[0].ename == "NameError":
        return Problem("undefined")
    return Problem("raised", f"{errors[0].ename}: {errors[0].evalue}")
