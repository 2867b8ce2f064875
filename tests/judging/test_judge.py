"""The judge names known mistakes and explains unknown ones."""

import dataclasses
import math

import pytest
import torch

from autograder.asking.answer import Answer, Problem
from autograder.judging.compare import Comparison
from autograder.judging.explain_difference import explain_difference, name_dims
from autograder.judging.judge import blame, judge
from autograder.references.store import find

SIZES = {"n_query": 3, "n_key": 5, "d_k": 4, "d_v": 6}
torch.manual_seed(0)
EXPECTED = torch.randn(2, 3, 5)
WEIGHTS = EXPECTED.softmax(-1)


def explain(got, expected=EXPECTED, dims="batch n_query n_key"):
    return explain_difference(Comparison("y", got, expected, 1e-5, dims, SIZES))


def with_other(value):
    got = EXPECTED.clone()
    got[1, 2, 3] = value
    return got


def with_infinity(value):
    return torch.tensor([[value, -math.inf], [-math.inf, value - 0.5]])


def last_row(rows):
    return torch.arange(2.0 * rows + 2).reshape(rows + 1, 2) ** 2


def last_row_other(rows):
    got = last_row(rows)
    got[-1, -1] += 1
    return got


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (EXPECTED.transpose(1, 2), EXPECTED, "dimensions in another order"),
        (
            torch.ones(2, 3, 4),
            EXPECTED,
            "(batch=2, n_query=3, n_key=5); it has (2, 3, 4). 4 is d_k.",
        ),
        (torch.ones(2, 3), EXPECTED, "it has (2, 3)."),
        (EXPECTED.double(), EXPECTED, "dtype float32; it has float64"),
        (with_other(math.nan), EXPECTED, "NaN in 1 of 30 places, first at (1, 2, 3)"),
        (EXPECTED / 0, EXPECTED, "infinity in 30 of 30 places"),
        (EXPECTED * 2, EXPECTED, "times 2, which is √d_k here"),
        (EXPECTED / math.sqrt(5), EXPECTED, "which is 1/√n_key here"),
        (EXPECTED * -1, EXPECTED, "times -1."),
        (EXPECTED + EXPECTED[:, :, :1], EXPECTED, "a number that is added to each whole row"),
        (EXPECTED.flip(1), EXPECTED, "the right rows, but in another order"),
        (
            torch.cat([EXPECTED[:, :1], torch.randn(2, 2, 5)], 1),
            EXPECTED,
            "right in row 0 of 3, and wrong in the others",
        ),
        (torch.rand(2, 3, 5), WEIGHTS, "should sum to 1; one of yours sums to"),
        (EXPECTED.flatten().softmax(0).view(2, 3, 5), WEIGHTS, "All your weights together sum"),
        (torch.randn(2, 3, 5).softmax(-1), WEIGHTS, "30 of 30 values are off, most of all at"),
        (WEIGHTS < 0.2, WEIGHTS >= 0.2, "True and False exchanged"),
        (torch.ones(2, 3, 9), EXPECTED, "it has (2, 3, 9)."),
        (torch.ones(2, 5, 5), EXPECTED, "it has (2, 5, 5). 5 is n_key."),
        (EXPECTED.transpose(1, 2).double(), EXPECTED, "dimensions in another order"),
        (EXPECTED.flatten(), EXPECTED, "it has (30,)."),
        (with_other(-math.inf), EXPECTED, "infinity in 1 of 30 places, first at (1, 2, 3)"),
        (EXPECTED + EXPECTED, with_other(math.nan), "at (1, 2, 3): 1.046 where nan should be"),
        (with_infinity(3.0), with_infinity(1.0), "2 of 4 values are off, most of all at (0, 0)"),
        (EXPECTED * 4, EXPECTED, "times 4, which is d_k here"),
        (EXPECTED / 6, EXPECTED, "times 0.1667, which is 1/d_v here"),
        (EXPECTED * 0.0625, EXPECTED, "times 0.0625."),
        (EXPECTED * 7, EXPECTED, "the right values times 7."),
        (torch.zeros(2, 3, 5), EXPECTED, "30 of 30 values are off"),
        (EXPECTED + 1.0, torch.zeros(2, 3, 5), "30 of 30 values are off"),
        (with_other(7.0), EXPECTED, "right in rows 0, 1 of 3, and wrong in the others"),
        (last_row_other(4), last_row(4), "right in rows 0, 1, 2, 3 of 5, and wrong"),
        (last_row_other(5), last_row(5), "right in rows 0, 1, 2, 3 … of 6, and wrong"),
        (EXPECTED[0, :, :1] + 1, EXPECTED[0, :, :1], "3 of 3 values are off"),
        (torch.tensor([1, 2, 5]), torch.tensor([1, 2, 4]), "1 of 3 values is off"),
        (torch.tensor(True), torch.tensor(False), "The answer was True; False is right."),
        (torch.tensor(1), torch.tensor(2), "is not the one you chose"),
        (torch.tensor(1.5), torch.tensor(2.5), "right values times 0.6."),
        (torch.tensor(True), torch.tensor(1), "dtype int64; it has bool"),
        (torch.tensor([True, False, True]), torch.tensor([False] * 3), "2 of 3 values are off"),
    ],
)
def test_differences_are_explained(got, expected, words):
    assert words in explain(got, expected)


@pytest.mark.parametrize(
    ("shape", "dims", "words"),
    [
        ((2, 3), "batch n", "(batch=2, n=3)"),
        ((7, 2, 3), "*batch n", "(batch=7, batch=2, n=3)"),
        ((3,), "*batch n", "(n=3)"),
        ((3, 4, 5), "n d", "(3, 4, 5)"),
    ],
)
def test_dimensions_are_named(shape, dims, words):
    assert name_dims(shape, dims) == words


def right_answers(key):
    return [Answer(dict(case.expected)) for case in key.cases]


def test_partial_credit_by_outputs():
    key = find("simple_attention").keys["simple_attention"]
    answers = right_answers(key)
    answers[1] = Answer(
        answers[1].tensors | {"context": torch.zeros_like(key.cases[1].expected["context"])}
    )
    verdict = judge(key, answers)
    assert [aspect.held for aspect in verdict.aspects] == [True, False, True]
    assert (verdict.points, verdict.max_points) == (3, 5)
    assert verdict.exhibit.output == "context"


def test_an_answer_without_an_output_is_wrong():
    key = find("simple_attention").keys["simple_attention"]
    answers = [Answer({"context": case.expected["context"]}) for case in key.cases]
    assert judge(key, answers).points == 0


def test_where_nothing_was_called_no_inputs_are_shown():
    key = find("softmax").keys["softmax"]
    verdict = judge(key, [Answer(problem=Problem("not run", "it was torn."))] * len(key.cases))
    assert verdict.exhibit is None
    assert verdict.sentence == "The check of `softmax` did not run: it was torn."


def test_the_number_of_answers_must_fit():
    key = find("softmax").keys["softmax"]
    with pytest.raises(ValueError, match="cases"):
        judge(key, right_answers(key)[1:])


def test_a_hidden_case_shows_no_tensors():
    key = find("softmax").keys["softmax"]
    hidden = [dataclasses.replace(case, hidden=True) for case in key.cases]
    key = dataclasses.replace(key, cases=hidden, mistakes=[])
    verdict = judge(
        key, [Answer({"weights": torch.zeros_like(c.expected["weights"])}) for c in hidden]
    )
    assert verdict.exhibit.hidden
    assert verdict.exhibit.expected is verdict.exhibit.got is None
    assert verdict.sentence.startswith("It is right on the cases that the notebook shows")


def test_a_public_case_is_shown_before_a_hidden_one():
    key = find("softmax").keys["softmax"]
    cases = [dataclasses.replace(case, hidden=i in (1, 3)) for i, case in enumerate(key.cases)]
    key = dataclasses.replace(key, cases=cases)
    answers = [Answer({"weights": torch.rand_like(c.expected["weights"])}) for c in cases]
    assert not judge(key, answers).exhibit.hidden


def test_an_answer_that_builds_on_an_unfinished_one_says_so():
    key = find("softmax").keys["softmax"]
    wrong = judge(key, [Answer({"weights": torch.zeros(3)}) for _ in key.cases])
    blamed = blame(wrong, ["split_heads"])
    assert blamed.sentence == "Fix `split_heads` first: `softmax` builds on it."
    assert (blamed.points, blamed.mistake) == (wrong.points, "")
    assert blame(wrong, []) is wrong
    right = judge(key, right_answers(key))
    assert blame(right, ["split_heads"]) is right


def test_an_output_may_be_judged_by_its_error():
    key = find("softmax").keys["softmax"]
    cases = [dataclasses.replace(case, most_error={"weights": 0.01}) for case in key.cases]
    key = dataclasses.replace(key, cases=cases, mistakes=[])

    def off_by(gap):
        return judge(key, [Answer({"weights": c.expected["weights"] + gap}) for c in cases])

    assert off_by(0.09).passed
    assert "mean squared error of `weights` is 0.0121; it may be 0.01" in off_by(0.11).sentence
    assert off_by(float("nan")).points == 0
