"""Measures say what an answer does, whatever the answer is."""

import pytest
import torch

from autograder.asking.answer import Answer
from autograder.asking.arguments import Code
from autograder.asking.problem import Problem, ProblemKind
from autograder.judging.measures import MOST_NUMBERS, measured
from autograder.utils.models import HEALTHY, PATIENTS

SIZES = {"d_model": 8, "n_heads": 4, "n_kv_heads": 2, "seed": 0}
PAIR = {
    "healthy": Code(HEALTHY.building_code, numbers=SIZES),
    "ill": Code(PATIENTS["Q"].building_code, numbers=SIZES),
}


def found(x):
    tensors = measured("tell apart", PAIR, Answer({"x": x})).tensors
    return tensors["told_apart"].item(), tensors["words"].item()


def test_two_words_show_a_leak_and_one_does_not():
    assert found(torch.randn(1, 2, 8)) == (True, 2)
    assert found(torch.randn(3, 1, 8)) == (False, 3)


@pytest.mark.parametrize(
    "x",
    [
        torch.full((1, 2, 8), float("nan")),
        torch.full((1, 2, 8), float("inf")),
        torch.randn(1, 2, 8, dtype=torch.float64),
        torch.ones(1, 2, 8, dtype=torch.int64),
        torch.randn(1, 2, 7),
        torch.randn(2, 8),
        torch.zeros(0),
        torch.zeros(1, 0, 8),
        torch.tensor(1.0),
        torch.randn(1, 1 + MOST_NUMBERS // 8, 8),
    ],
    ids=lambda x: f"{str(x.dtype)[6:]} {list(x.shape)}",
)
def test_odd_inputs_tell_no_modules_apart(x):
    assert not found(x)[0]


def test_a_problem_stays_a_problem():
    answer = Answer(problem=Problem(ProblemKind.TIME, ""))
    assert measured("tell apart", PAIR, answer) is answer


def test_a_forged_answer_cannot_bring_its_own_measurement():
    for more in ({}, {"x": torch.zeros(1, 1, 8)}):
        forged = Answer({"told_apart": torch.tensor(True), "words": torch.tensor(2)} | more)
        assert measured("tell apart", PAIR, forged).problem


def test_without_a_measure_answers_stay_as_they_are():
    answer = Answer({"x": torch.zeros(2)})
    assert measured("", {}, answer) is answer
