"""Ask and judge in one process, as in a learner's notebook. Grading does the two apart."""

from collections.abc import Callable
from dataclasses import replace

from autograder.asking.collect import collect
from autograder.asking.question import Question
from autograder.judging.judge import judge
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import Verdict


def judge_answer(answer: Callable, question: Question, key: AnswerKey) -> Verdict:
    """Judge a function or class, on the fresh cases only if it is right on all others."""
    count = sum(not case.fresh for case in key.cases)  # the fresh cases come last
    answers = collect(answer, replace(question, calls=question.calls[:count]))
    verdict = judge(key.first(count), answers)
    if verdict.passed and count < len(key.cases):
        fresh = collect(answer, replace(question, calls=question.calls[count:]))
        verdict = judge(key, answers + fresh)
    return verdict.with_inputs(question)
