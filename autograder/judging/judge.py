"""Judge: compare answers with an answer key, and explain the result.

This half never sees the learner's code, only the tensors that it returned.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from itertools import takewhile

from autograder.asking.answer import Answer
from autograder.judging.code_marks import in_backticks
from autograder.judging.explain import explain, explained
from autograder.judging.failure import Failure, failed_example, worst_failure
from autograder.judging.find_mistake import find_mistake
from autograder.judging.finding import Finding, General, finding
from autograder.judging.judgment import Judgment
from autograder.judging.key import AnswerKey
from autograder.judging.verdict import NEVER_CALLED, AspectResult, Verdict


def judge(key: AnswerKey, answers: list[Answer]) -> Verdict:
    """Judge the answers, one for each case of the key."""
    judgment = Judgment(key, answers)
    verdict = Verdict(
        exercise=key.exercise,
        lesson=key.lesson,
        challenge=key.challenge,
        aspects=[judgment.result(aspect) for aspect in judgment.aspects],
        answered=judgment.answered,
        printed=sum(answer.printed for answer in answers),
        problems=judgment.problems,
    )
    failure = worst_failure(judgment)
    verdict = _with_reason(verdict, failure) if failure else verdict
    shown = verdict.exhibit.case if verdict.exhibit else 0
    return replace(verdict, output=answers[shown].output)


def _with_reason(verdict: Verdict, failure: Failure) -> Verdict:
    """Add what is wrong, and the case that shows it."""
    problem = failure.answer.problem
    if problem and problem.kind in NEVER_CALLED:
        return _saying(verdict, [explained(problem, verdict.exercise)])
    if names := failure.answer.reordered:
        said = finding(General.REORDERED, names=", ".join(names))
        return _saying(replace(verdict, exhibit=failure.exhibit()), [said])
    example = _clear_example(failure)
    mistake = find_mistake(failure.judgment, failure.index)
    if mistake:
        shown = (example or failure).exhibit()
        return replace(verdict, exhibit=shown, sentence=mistake.say, mistake=mistake.name)
    findings = explain(failure)
    if example and _rules(explained_there := explain(example)) == _rules(findings):
        failure, findings = example, explained_there
    return _saying(replace(verdict, exhibit=failure.exhibit()), findings)


def _clear_example(failure: Failure) -> Failure | None:
    """Return the docstring's example if it went wrong, but not by a NaN that others don't have."""
    example = failed_example(failure.judgment)
    if example and (example.is_finite or not failure.is_finite):
        return example
    return None


def _rules(findings: list[Finding]) -> list[str]:
    return [one.rule for one in findings]


def _saying(verdict: Verdict, findings: list[Finding]) -> Verdict:
    return replace(
        verdict,
        sentence=" ".join(one.sentence for one in findings),
        rules=tuple(one.rule for one in findings),
        recognized=any(one.recognized for one in findings),
    )


def verdict_given_up(key: AnswerKey) -> Verdict:
    """Return the verdict on an exercise for which the learner took the course's solution."""
    return Verdict(
        exercise=key.exercise,
        lesson=key.lesson,
        challenge=key.challenge,
        aspects=[AspectResult(aspect.name, aspect.points, False) for aspect in key.aspects],
        sentence=(
            "The rest of the notebook uses the course's solution. To "
            f"{'solve it yourself' if key.challenge else 'earn the points'} after all, "
            f"delete the line with `give_up` and write your own `{key.exercise}`."
        ),
        given_up=True,
    )


def unfinished(
    keys: Mapping[str, AnswerKey],
    exercise: str,
    used: Container[str],
    is_finished: Callable[[str], bool],
) -> list[str]:
    """List the exercises that a learner has to finish before one whose answer uses them.

    These are the unfinished ones, except those that build on another unfinished one.
    keys: those of the lesson's exercises, in lesson order.
    used: names that the answer uses.
    """
    earlier = takewhile(lambda name: name != exercise, keys)
    wrong = [name for name in earlier if name in used and not is_finished(name)]
    return [name for name in wrong if not {*keys[name].builds_on} & {*wrong}]


def blame(verdict: Verdict, first: list[str]) -> Verdict:
    """Blame a wrong answer on exercises that have to be finished first, if any."""
    if verdict.passed or not verdict.answered or not first:
        return verdict
    them = "it" if len(first) == 1 else "them"
    sentence = f"Fix {in_backticks(first)} first: `{verdict.exercise}` builds on {them}."
    blamed = replace(verdict, sentence=sentence, blamed_on=tuple(first))
    return replace(blamed, mistake="", rules=(), exhibit=None)
