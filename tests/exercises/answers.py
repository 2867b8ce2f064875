"""Check answers that once fell short: wrong ones that passed, or that were told something wrong."""

from functools import cache

from autograder.judging.verdict import Verdict
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Code, Variant
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

PASSES = "passes"


def said(exercise: str, code: Code) -> set[str]:
    """Return what an answer gets: `PASSES`, or the ids of the mistake or the rules named.

    code: a body for the exercise's solution, or edits of it.
    """
    verdict = _verdict(exercise, code)
    return {PASSES} if verdict.passed else {verdict.mistake, *verdict.rules}


def _verdict(exercise: str, code: Code) -> Verdict:
    reference = find(exercise)
    namespace = _lesson(reference.lesson).namespace({exercise: Variant(exercise, code)})
    return judge_answer(
        namespace[exercise], reference.questions[exercise], reference.keys[exercise]
    )


_lesson = cache(Lesson)
