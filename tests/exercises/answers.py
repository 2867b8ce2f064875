"""Check answers that once fell short: wrong ones that passed, or that were told something wrong."""

import textwrap
from collections.abc import Callable
from functools import cache

from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Code, Variant
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

PASSES = "passes"
CELL_BEGINS = ("def ", "class ", "@", "from ")  # of an answer that is a cell of its own


def said(exercise: str, code: Code) -> set[str]:
    """Return what an answer gets: `PASSES`, or the ids of the mistake or the rules named.

    code: a body for the exercise's solution, edits of it, or a whole cell.
    """
    verdict = _verdict(exercise, code)
    return {PASSES} if verdict.passed else {verdict.mistake, *verdict.rules}


def _verdict(exercise: str, code: Code) -> Verdict:
    reference = find(exercise)
    answer = _answer(_lesson(reference.lesson), exercise, code)
    return judge_answer(answer, reference.questions[exercise], reference.keys[exercise])


def _answer(lesson: Lesson, exercise: str, code: Code) -> Callable:
    if not isinstance(code, str) or not textwrap.dedent(code).lstrip().startswith(CELL_BEGINS):
        return lesson.namespace({exercise: Variant(exercise, code)})[exercise]
    namespace = lesson.namespace()
    exec(textwrap.dedent(code), namespace)
    return namespace[exercise]


_lesson = cache(Lesson)
