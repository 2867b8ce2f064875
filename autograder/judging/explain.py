"""Explain a failure that is not a known mistake."""

from autograder.asking.problem import Problem, ProblemKind
from autograder.judging.code_marks import in_backticks
from autograder.judging.compare import Comparison
from autograder.judging.explain_difference import locate_difference
from autograder.judging.explain_problem import explain_problem, happened_at, is_explained
from autograder.judging.failure import Failure
from autograder.judging.finding import Finding, General, finding
from autograder.judging.form import Form

# Kinds of problems in which the call did return something.
RETURNED = {
    ProblemKind.TYPE,
    ProblemKind.PLAIN,
    ProblemKind.MODULE,
    ProblemKind.COUNT,
    ProblemKind.CHOICE,
    ProblemKind.KEYS,
}

# What to say about a failure in a form that asks after another call.
LEFT = {
    Form.AGAIN: General.LEFT_BEHIND,
    Form.RESIZED: General.LEFT_BEHIND_SIZES,
    Form.ANOTHER: General.LEFT_BY_ANOTHER,
}


def explain(failure: Failure) -> list[Finding]:
    """Return what there is to say about a failure, in order."""
    unneeded = failure.judgment.key.unneeded
    unused = [] if failure.problem else [n for n in failure.answer.unused if n not in unneeded]
    return [*_borrowed(failure.answer.borrowed), *_unused(unused), *_cause(failure)]


def explained(problem: Problem, exercise: str, sizes: dict[str, int] | None = None) -> Finding:
    """Return what there is to say about a problem.

    sizes: the size of each named dimension in the case.
    """
    sentence = explain_problem(problem, exercise, sizes)
    return Finding(problem.kind, sentence, is_explained(problem))


def _borrowed(names: tuple[str, ...]) -> list[Finding]:
    """Say that an answer reads variables of the notebook."""
    if not names:
        return []
    name = names[0].removeprefix("self.")
    return [finding(General.BORROWED if name == names[0] else General.NOT_ITS_OWN, name=name)]


def _unused(names: list[str]) -> list[Finding]:
    """Say that an answer never reads some of its arguments."""
    return [finding(General.UNUSED, names=in_backticks(names))] if names else []


def _cause(failure: Failure) -> list[Finding]:
    case, answer, exercise = failure.case, failure.answer, failure.judgment.key.exercise
    if case.raises:
        return [_no_error(failure.problem, exercise, case.raises)]
    if failure.problem:
        return [explained(failure.problem, exercise, case.sizes)]
    if failure.wrong is None or answer.changed:
        return [finding(General.CHANGED_INPUT, inputs=in_backticks(answer.changed))]
    return _difference(failure, failure.wrong)


def _no_error(problem: Problem | None, exercise: str, error: str) -> Finding:
    """Say what happened where an exception was the right answer."""
    facts = {"exercise": exercise, "error": error}
    if problem is None:
        return finding(General.NO_ERROR, **facts)
    if problem.kind in RETURNED:
        return finding(General.RETURNED_INSTEAD, detail=problem.detail, **facts)
    if not problem.exception:
        return explained(problem, exercise)
    if problem.exception == AssertionError.__name__:
        return finding(General.ASSERTION, **facts)
    at = happened_at(problem)
    return finding(General.OTHER_ERROR, detail=problem.detail, at=at, **facts)


def _difference(failure: Failure, wrong: Comparison) -> list[Finding]:
    """Say how an output differs, and whether it does so only in certain cases."""
    case, said = failure.case, [failure.found] if failure.found else locate_difference(wrong)
    left = LEFT.get(case.form)
    if left and failure.judgment.right_at_first(case):
        return [finding(left, exercise=failure.judgment.key.exercise), *said]
    if case.dropout == 0 and failure.judgment.only_in_training():
        has_dropout = any(other.dropout for other in failure.judgment.key.cases)
        return [finding(General.NOTHING_TO_DROP if has_dropout else General.NO_DROPOUT)]
    if case.dropout and not any(one.recognized for one in said):
        return [finding(General.DROPPED), *said]
    return said if case.is_shown else [finding(General.OTHERS_ONLY), *said]
