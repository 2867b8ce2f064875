"""Which kind of mistake a wrong answer is, by the rules and problems that its verdict names."""

import pytest

from autograder.asking.answer import Answer
from autograder.asking.problem import Problem, ProblemKind
from autograder.grading.report.kinds import PROBLEMS, RULES, Basis, Kind, kinds
from autograder.judging.judge import blame, judge, verdict_given_up
from autograder.judging.verdict import AspectResult, Verdict
from tests.grading.report.judged import CASES, KEY, verdicts
from tests.grading.report.made import verdict, wrong


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_that_spoke_tells_the_kind(rule):
    told = verdicts()[rule].summary()
    assert rule in told["rules"] and list(kinds(told)) == [Kind(Basis.GENERAL, RULES[rule])]


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_problem_tells_the_kind(kind):
    told = judge(KEY, [Answer(problem=Problem(ProblemKind(kind), "x"))] * len(CASES)).summary()
    assert told["rules"] == [kind] and list(kinds(told)) == [Kind(Basis.GENERAL, PROBLEMS[kind])]


def of_aspects(**held):
    aspects = [AspectResult(name, 2, is_held) for name, is_held in held.items()]
    return Verdict("f", "01", aspects, sentence="3 of 6 values are off.")


def test_a_known_mistake_is_its_name():
    told = wrong("softmax", "not scaled", "The scores are not scaled.")
    assert Kind(Basis.MISTAKE, "not scaled") in kinds(told)
    assert not any(kind.basis == Basis.GENERAL for kind in kinds(told))


def test_giving_up_is_listed_with_the_mistakes():
    assert list(kinds(verdict_given_up(KEY).summary())) == [Kind(Basis.MISTAKE, "given up")]


def test_a_lost_aspect_counts_if_another_is_held():
    lost = list(kinds(of_aspects(numbers=True, gradients=False).summary()))
    assert lost == [Kind(Basis.ASPECT, "gradients")]
    assert list(kinds(of_aspects(numbers=False, gradients=False).summary())) == []
    assert list(kinds(of_aspects(numbers=True, gradients=True).summary())) == []


@pytest.mark.parametrize("others", [("softmax",), ("softmax", "attend")])
def test_a_mistake_blamed_on_another_exercise_does_not_count(others):
    blamed = blame(of_aspects(numbers=True, gradients=False), list(others))
    assert blamed.blamed_on == others and list(kinds(blamed.summary())) == []


@pytest.mark.parametrize(
    "told",
    [
        verdict("softmax"),
        verdict("softmax", 0, answered=False),
        verdict("softmax", 1, problems=(Problem(ProblemKind.NOT_RUN),)),
    ],
    ids=["right", "not answered", "not run"],
)
def test_whatever_is_not_wrong_has_no_kind(told):
    assert list(kinds(told)) == []
