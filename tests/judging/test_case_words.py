"""A case in words: its size, its inputs, and whether it is the docstring's example."""

import torch

from autograder.asking.question import Call, Question
from autograder.judging.case_words import case_in_words, inputs_as_code, size_in_words
from autograder.judging.verdict import MOST_SHOWN, AspectResult, Exhibit, Verdict


def test_sizes_have_words_where_they_are_known():
    assert size_in_words({"d": 5, "n": 7}) == "7 words, 5 features"
    assert size_in_words({"n_tokens": 9, "n": 7}) == "7 tokens, 9 tokens in the vocabulary"
    assert size_in_words({"batch": 2, "n_query": 1, "d_k": 4}) == (
        "a batch of 2, 1 query, 4 features in a key"
    )
    assert size_in_words({"n_query": 3, "n_half": 2}) == "n_half = 2, 3 queries"


def test_a_case_is_its_size_its_label_or_its_shapes():
    shapes = {"x": [2, 3]}
    assert case_in_words(Exhibit(0, "", shapes, sizes={"n": 2})) == "Tried with 2 words."
    assert case_in_words(Exhibit(0, "float64", shapes, sizes={"n": 2})) == (
        "Tried with 2 words (float64)."
    )
    assert case_in_words(Exhibit(0, "", shapes)) == "Tried with `x` of shape (2, 3)."
    assert case_in_words(Exhibit(0, "large scores", {})) == "Tried with large scores."
    assert case_in_words(Exhibit(0, "", {})) == ""
    inputs = {"scores": torch.ones(2), "dim": 0, "n_heads": 3}
    shown = Exhibit(0, "", {}, sizes={"n": 2, "n_heads": 3, "2": 2}, inputs=inputs)
    assert case_in_words(shown) == "Tried with 2 words, 3 heads, dim = 0."
    hidden = Exhibit(0, "", {}, hidden=True, sizes={"n": 2})
    assert case_in_words(hidden) == "Tried with a case that only grading uses: 2 words."


def test_nothing_is_said_twice():
    labeled = Exhibit(0, "3 heads, float64", {}, sizes={"n_query": 1, "n_heads": 3})
    assert case_in_words(labeled) == "Tried with 1 query, 3 heads (float64)."
    given = Exhibit(0, "1 head", {}, sizes={"n": 2}, inputs={"n_heads": 1, "causal": True})
    assert case_in_words(given) == "Tried with 2 words, 1 head, causal = True."
    assert case_in_words(Exhibit(0, "1 head", {}, hidden=True)) == (
        "Tried with a case that only grading uses: 1 head."
    )


def test_inputs_are_written_as_code():
    inputs = {
        "words": torch.tensor([[2.0, 1.0], [2.0, -3.0]]),
        "weights": torch.tensor([0.25, 1.0]),
        "large": torch.tensor([200.0]),
        "keep": torch.tensor([True, False]),
        "dim": -1,
    }
    assert inputs_as_code(inputs).splitlines() == [
        "words = [[2, 1],",
        "         [2, -3]]",
        "weights = [0.250, 1.000]",
        "large = [200]",
        "keep = [True, False]",
        "dim = -1",
    ]


def with_inputs(call, **about):
    exhibit = Exhibit(0, "", {}, **about)
    verdict = Verdict("f", "01", [AspectResult("a", 1, False)], exhibit=exhibit)
    return verdict.with_inputs(Question("f", [call], ["y"])).exhibit.inputs


def test_only_small_inputs_of_cases_that_are_shown():
    small, large = {"x": torch.zeros(MOST_SHOWN)}, {"x": torch.zeros(MOST_SHOWN + 1)}
    assert with_inputs(Call(small)) == small
    assert with_inputs(Call(small), hidden=True) == {}
    assert with_inputs(Call(large)) == {}
    assert with_inputs(Call({"f": print})) == {}
    assert with_inputs(Call(small, build={})) == {}
    assert with_inputs(Call(small, earlier=Call(small))) == {}
