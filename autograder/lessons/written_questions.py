"""Questions that learners answer in words, and that a person grades.

In a lesson's text, a question is two markdown cells. The first one asks: its heading states the
points, and its mark scheme is for instructors alone. The second one holds a model answer, which
may be empty. The markers around both are nbgrader's, and a release removes what is between them.

    ### Question 1: `why_scale` (4 points, 5 minutes)

    Why do we divide the scores by √d_k?

    ### BEGIN MARK SCHEME
    - 2 points: the variance of a score grows with d_k
    - 2 points: large scores leave softmax without a gradient
    ### END MARK SCHEME

    ### BEGIN SOLUTION
    A score is a sum of d_k products, so …
    ### END SOLUTION
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.errors import AuthoringError

ANSWER_STUB = "YOUR ANSWER HERE"  # nbgrader replaces model answers with this
BEGIN_SCHEME, END_SCHEME = "BEGIN MARK SCHEME", "END MARK SCHEME"
BEGIN_ANSWER, END_ANSWER = "BEGIN SOLUTION", "END SOLUTION"
ASKS = re.compile(rf"^### Question\b|{BEGIN_SCHEME}|{END_SCHEME}", re.MULTILINE)
ANSWERS = re.compile(rf"{BEGIN_ANSWER}|{END_ANSWER}")
HEADING = re.compile(
    r"\A### Question \d+: `(?P<name>\w+)` "
    r"\((?P<worth>(?P<points>[1-9]\d*) points?), \d+ minutes\)$",
    re.MULTILINE,
)
MODEL = "### Question 1: `name` (4 points, 5 minutes)"


@dataclass(frozen=True)
class WrittenQuestion:
    """A question; `name` is nbgrader's name for the cell with the answer."""

    name: str
    points: int


def asked_in(name: str) -> str:
    """Return nbgrader's name for the cell that asks a question."""
    return f"question_{name}"


def written_questions(cells: Sequence[NotebookNode]) -> dict[int, WrittenQuestion]:
    """Find a lesson's questions, by the number of the cell that asks; the next one has the answer.

    Raises AuthoringError if a part of a question is missing or out of place.
    """
    texts = [cell.source if cell.cell_type == "markdown" else "" for cell in cells]
    found = {number: _question(text) for number, text in enumerate(texts) if ASKS.search(text)}
    answers = {number for number, text in enumerate(texts) if ANSWERS.search(text)}
    for number, question in found.items():
        if number + 1 not in answers:
            raise AuthoringError(
                f"the question {question.name} has no place for its answer: put a markdown cell "
                f"right below it, with ### {BEGIN_ANSWER} and ### {END_ANSWER}"
            )
    for number in answers:
        _require_one_region(texts[number], BEGIN_ANSWER, END_ANSWER)
        if number - 1 not in found:
            raise AuthoringError(
                f"a model answer has no question right above it, with a heading like {MODEL}:\n"
                f"{texts[number]}"
            )
    return found


def with_points(text: str, points: int) -> str:
    """Return the text of a cell that asks, with other points in its heading."""
    start, end = _heading(text).span("worth")
    return f"{text[:start]}{points} point{'s' * (points != 1)}{text[end:]}"


def without_rubric(text: str) -> str:
    """Return what learners get of a cell: the lines that nbgrader's ClearMarkScheme leaves."""
    kept, hidden = [], False
    for line in text.split("\n"):
        if BEGIN_SCHEME in line or END_SCHEME in line:
            hidden = BEGIN_SCHEME in line
        elif not hidden:
            kept.append(line)
    return "\n".join(kept)


def _heading(text: str) -> re.Match[str]:
    heading = HEADING.search(text)
    if not heading:
        raise AuthoringError(
            f"a question begins with a heading like {MODEL}; this one doesn't:\n{text}"
        )
    return heading


def _question(text: str) -> WrittenQuestion:
    heading = _heading(text)
    _require_one_region(text, BEGIN_SCHEME, END_SCHEME)
    if ANSWERS.search(text):
        raise AuthoringError(f"a model answer needs a cell of its own, below its question:\n{text}")
    return WrittenQuestion(heading["name"], int(heading["points"]))


def _require_one_region(text: str, begin: str, end: str) -> None:
    marks = [line for line in text.split("\n") if begin in line or end in line]
    if marks != [f"### {begin}", f"### {end}"]:
        raise AuthoringError(
            f"there should be one ### {begin} and, below it, ### {end} in:\n{text}"
        )
