"""Which kind of mistake a wrong answer is, by what the judge says of it."""

import dataclasses

import pytest
import torch

from autograder.asking.answer import Answer, Problem
from autograder.grading.report.kinds import BLAME, PROBLEMS, SAID, Group, Kind, kinds
from autograder.judging import explain_difference, explain_problem, judge
from autograder.judging.compare import Comparison
from autograder.judging.verdict import AspectResult, Verdict
from autograder.references.store import find
from tests.grading.report.made import verdict, wrong

RIGHT = torch.arange(6.0).reshape(2, 3)
NAN = RIGHT.clone().fill_diagonal_(torch.nan)
MIXED = torch.tensor([[1.0, 0.0, 2.0], [5.0, 4.0, 3.0]])
NOTHING = Problem("no such kind")


def difference(got, name="result"):
    """What the judge says of a wrong tensor."""
    compared = Comparison(name, got, RIGHT, 1e-6, dims="", sizes={})
    found = explain_difference.recognize_difference(compared)
    return found or explain_difference.describe_difference(compared)


def change_in_place():
    """What the judge says of right answers whose calls changed an argument."""
    key = find("softmax").keys["softmax"]
    answers = [Answer(case.expected, changed=("scores",)) for case in key.cases]
    return judge.judge(dataclasses.replace(key, mistakes=[]), answers).sentence


# For each phrase, a sentence of the judge's that has it.
SENTENCES = {
    judge.LEFT_BEHIND: judge.LEFT_BEHIND + difference(RIGHT + 7),
    judge.OTHERS_ONLY: judge.OTHERS_ONLY + difference(RIGHT[:1]),
    "The code reads the notebook's": explain_problem.explain_borrowed(("scale",)),
    "in place, so the caller's tensor": change_in_place(),
    "nothing flows back": difference(torch.zeros(2, 3), "gradient of x"),
    explain_difference.DETACHED: difference(RIGHT**2 - 40, "gradient of x"),
    "should have shape": difference(RIGHT[:1]),
    "should have dtype": difference(RIGHT.double()),
    "holds NaN in": difference(NAN),
    "with its dimensions in another order": difference(RIGHT.T),
    "the right numbers, in the wrong places": difference(MIXED),
}


@pytest.mark.parametrize("phrase", SAID)
def test_what_the_judge_says_is_recognized(phrase):
    sentence = " ".join(SENTENCES[phrase].split())  # as it is read from a notebook
    told = verdict("softmax", 0, sentence=sentence)
    assert Kind(Group.GENERAL, SAID[phrase]) in kinds(told)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_problem_is_one_that_the_judge_knows(kind):
    sentence = explain_problem.explain_problem(Problem(kind, "x"), "f")
    assert sentence != explain_problem.explain_problem(NOTHING, "f")
    told = verdict("softmax", 0, problems=(Problem(kind, "x"),), sentence=sentence)
    assert Kind(Group.GENERAL, PROBLEMS[kind]) in kinds(told)


def of_aspects(**held):
    aspects = [AspectResult(name, 2, is_held) for name, is_held in held.items()]
    return Verdict("f", "01", aspects, sentence="3 of 6 values are off.")


def test_a_known_mistake_is_its_name():
    told = wrong("softmax", "not scaled", "The scores are not scaled.")
    assert Kind(Group.MISTAKE, "not scaled") in kinds(told)
    assert not any(kind.group == Group.GENERAL for kind in kinds(told))


def test_a_lost_aspect_counts_if_another_is_held():
    lost = list(kinds(of_aspects(numbers=True, gradients=False).summary()))
    assert lost == [Kind(Group.ASPECT, "gradients")]
    assert list(kinds(of_aspects(numbers=False, gradients=False).summary())) == []
    assert list(kinds(of_aspects(numbers=True, gradients=True).summary())) == []


@pytest.mark.parametrize("others", [["softmax"], ["softmax", "attend"]])
def test_what_another_exercise_is_to_blame_for_is_no_mistake(others):
    blamed = judge.blame(of_aspects(numbers=True, gradients=False), others)
    assert blamed.sentence.endswith(BLAME) and list(kinds(blamed.summary())) == []


@pytest.mark.parametrize(
    "told",
    [
        verdict("softmax"),
        verdict("softmax", 0, answered=False),
        verdict("softmax", 1, problems=(Problem("not run"),)),
    ],
    ids=["right", "not answered", "not run"],
)
def test_what_is_not_wrong_is_of_no_kind(told):
    assert list(kinds(told)) == []
