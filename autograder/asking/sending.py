"""Send answers to the grader: what a notebook calls while it is graded.

The grader names a file of questions in an environment variable; the answers go out as a display
message with its own MIME type. No expected value is within reach.
"""

import base64
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from IPython.display import display

from autograder.asking import MIME, QUESTIONS_VARIABLE
from autograder.asking.answer import Answer, changed_inputs
from autograder.asking.codec import decode, encode
from autograder.asking.collect import collect
from autograder.asking.learners_code import exercise_name, names_used
from autograder.asking.question import Call, Question
from autograder.asking.surroundings import usual_settings
from autograder.errors import CourseError

# The file of questions. A notebook may clear its environment later.
QUESTIONS = os.environ.get(QUESTIONS_VARIABLE, "")
MOST_BYTES = 32_000_000
MOST_TREE_BYTES = 1_000_000


@dataclass(frozen=True)
class SentAnswers:
    """Answers to an exercise, and the names of the other exercises that they use."""

    answers: list[Answer]
    uses: set[str]


def check(answer: Callable[..., Any]) -> None:
    """Collect the answers to an exercise and send them to the grader.

    Do nothing if the grader has no questions on it, as on a challenge.
    """
    questions = _questions(QUESTIONS)
    exercise = exercise_name(answer, questions)
    if exercise not in questions:
        return
    uses = names_used(answer) & questions.keys()
    with usual_settings():
        display({MIME: pack(exercise, collect(answer, questions[exercise]), uses)}, raw=True)


def made_for(*stated: str, **contracts: str) -> None:
    """Do nothing, whatever the notebook states: the grader has its own questions."""


def hint(exercise: Callable[..., Any] | str | None = None) -> None:
    """Do nothing: nobody is there to read a hint."""


def predict(name: str, answer: Any = ...) -> None:
    """Do nothing: predictions are not graded."""


def progress() -> None:
    """Do nothing: the points are not known here."""


def give_up(exercise: Callable[..., Any] | str) -> None:
    """Do nothing: the grader finds this call in the notebook's text."""


def ask_for_review(exercise: Callable[..., Any] | str, why: str) -> None:
    """Do nothing: the grader finds this call in the notebook's text."""


def failing_case(exercise: Callable[..., Any] | str) -> dict[str, Any]:
    """Raise CourseError: only the grader finds out whether a case fails."""
    raise CourseError("No case fails while a notebook is graded.")


def encode_questions(questions: Iterable[Question]) -> bytes:
    """Encode questions for the file that `QUESTIONS_VARIABLE` names."""
    return encode([question.to_tree() for question in questions])


def pack(exercise: str, answers: list[Answer], uses: Iterable[str] = ()) -> str:
    """Pack answers, and the names of the exercises that they use, as text for a message."""
    tree = {
        "exercise": exercise,
        "answers": [answer.to_tree() for answer in answers],
        "uses": sorted(uses),
    }
    return base64.b64encode(encode(tree)).decode("ascii")


def unpack(text: object, question: Question) -> SentAnswers:
    """Unpack the answers to a question from a message, which may come from anyone.

    This also finds out which calls changed their inputs. Raises ValueError if the message holds
    anything but these answers.
    """
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        raise ValueError("the answer is no text of a bearable length")
    match decode(base64.b64decode(text, validate=True), MOST_TREE_BYTES):
        case {"exercise": str(name), "answers": list(answers), "uses": list(uses)}:
            if name != question.exercise or len(answers) != len(question.calls):
                raise ValueError(f"these are not the answers to {question.exercise}")
            return SentAnswers(
                [
                    _compared(Answer.from_tree(answer), call)
                    for answer, call in zip(answers, question.calls, strict=True)
                ],
                set(map(str, uses)),
            )
    raise ValueError("this is no answer")


def _compared(answer: Answer, call: Call) -> Answer:
    if answer.problem:
        return answer
    return replace(answer, changed=changed_inputs(call.arguments, answer.inputs))


@cache
def _questions(path: str) -> dict[str, Question]:
    tree = decode(Path(path).read_bytes())
    return {question["exercise"]: Question.from_tree(question) for question in tree}
