"""Handing answers to the grader: `check` in a kernel that is being graded.

The grader names a file of questions in an environment variable; the answers go out as a display
message of a type of its own. No expected value is anywhere near.
"""

import base64
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from IPython.display import display

from autograder.answer import Answer
from autograder.codec import decode, encode
from autograder.collect import collect
from autograder.errors import CourseError
from autograder.grading_mode import QUESTIONS_VARIABLE
from autograder.question import Question

MIME = "application/vnd.attention-from-scratch.answers"
MOST_BYTES = 32_000_000
MOST_TREE_BYTES = 1_000_000


def hand_in(answer: Callable, exercise: str) -> None:
    """Collect the answers to an exercise and send them to the grader.

    Raises CourseError when the lesson has no such exercise.
    """
    questions = _questions(os.environ[QUESTIONS_VARIABLE])
    if exercise not in questions:
        raise CourseError(f"This lesson has no exercise named {exercise!r}.")
    display({MIME: pack(exercise, collect(answer, questions[exercise]))}, raw=True)


def encode_questions(questions: Iterable[Question]) -> bytes:
    """What the file holds that `QUESTIONS_VARIABLE` names."""
    return encode([question.to_tree() for question in questions])


def pack(exercise: str, answers: list[Answer]) -> str:
    """Answers as text for a message."""
    tree = {"exercise": exercise, "answers": [answer.to_tree() for answer in answers]}
    return base64.b64encode(encode(tree)).decode("ascii")


def unpack(text: object, exercise: str, count: int) -> list[Answer]:
    """The `count` answers to `exercise` in a message, which may come from anyone.

    Raises ValueError when it is something else.
    """
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        raise ValueError("the answer is no text of a bearable length")
    tree = decode(base64.b64decode(text, validate=True), MOST_TREE_BYTES)
    if not isinstance(tree, dict) or tree.get("exercise") != exercise:
        raise ValueError(f"this is no answer to {exercise}")
    answers = tree.get("answers")
    if not isinstance(answers, list) or len(answers) != count:
        raise ValueError(f"{exercise} wants {count} answers")
    return [Answer.from_tree(answer) for answer in answers]


@cache
def _questions(path: str) -> dict[str, Question]:
    tree = decode(Path(path).read_bytes())
    return {question["exercise"]: Question.from_tree(question) for question in tree}
