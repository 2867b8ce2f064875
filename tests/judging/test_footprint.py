"""A footprint is enough to recognize an answer, and to tell it from any other."""

import math

import pytest
import torch

from autograder.asking.answer import Answer
from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.judging.footprint import Footprint, footprint, slack

torch.manual_seed(0)
VALUES = torch.randn(2, 7, 9)
ANSWER = Answer({"y": VALUES, "attn_weights": VALUES.softmax(-1)})
SLACK = slack(ANSWER, {"y": 1e-5, "attn_weights": 1e-5})


def matches(other):
    return footprint(ANSWER).matches(footprint(other), SLACK)


def with_y(values):
    return Answer(ANSWER.tensors | {"y": values})


def changed_at(place, value):
    values = VALUES.clone()
    values[place] = value
    return values


def test_an_answer_matches_itself_up_to_rounding():
    assert matches(ANSWER)
    assert matches(with_y(VALUES + 5e-6 * torch.randn_like(VALUES)))


@pytest.mark.parametrize("place", [(0, 0, 0), (1, 6, 8), (0, 3, 4)])
@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, -math.inf, 100.0])
def test_a_single_different_element_is_noticed(place, value):
    assert not matches(with_y(changed_at(place, value)))


@pytest.mark.parametrize(
    "other",
    [
        with_y(VALUES.double()),
        with_y(VALUES.transpose(1, 2)),
        with_y(VALUES.flip(1)),
        with_y(VALUES.reshape(7, 2, 9)),
        Answer({"y": VALUES}),
        Answer(ANSWER.tensors, changed=("words",)),
        Answer(problem=Problem(ProblemKind.RECURSION)),
    ],
)
def test_another_form_is_noticed(other):
    assert not matches(other)


def test_problems_match_by_kind_and_detail():
    here, there = (
        Problem(ProblemKind.RAISED, "E: x", Place(3)),
        Problem(ProblemKind.RAISED, "E: x", Place(9)),
    )
    one, other = (footprint(Answer(problem=problem)) for problem in (here, there))
    assert one.matches(other, torch.zeros(0))
    assert not one.matches(
        footprint(Answer(problem=Problem(ProblemKind.RAISED, "E: y"))), torch.zeros(0)
    )


def test_it_travels_as_plain_data():
    for answer in (ANSWER, Answer(problem=Problem(ProblemKind.TIME, "10"))):
        before = footprint(answer)
        assert Footprint.from_tree(before.to_tree()).matches(before, SLACK)


def test_earlier_draws_do_not_change_it():
    before = torch.get_rng_state()
    footprint(Answer({"y": torch.zeros(123, 7)}))
    assert torch.get_rng_state().equal(before)
