"""Lesson 2: published values to the published digits, and the claims of its prose."""

import math

import pytest
import torch
from torch import nn

from autograder.lessons.lesson import Lesson
from autograder.utils.data import six_words
from tests.course.test_lesson_01 import assert_published

_, WORDS = six_words()

N_SAMPLES = 20_000


@pytest.fixture(scope="module")
def lesson_2():
    return Lesson("02_qkv_projections").namespace()


# ---------------------------------------------------------------- (a) "journey"


@pytest.fixture(scope="module")
def journey(lesson_2):
    """Query, key and value of the six words, with the projections of seed 123."""
    torch.manual_seed(123)
    return lesson_2["project"](WORDS, *[torch.rand(3, 2) for _ in range(3)])


def test_the_first_number_of_journeys_query_by_hand():
    torch.manual_seed(123)
    digits = [f"{number:.5f}" for number in torch.rand(3, 2)[:, 0]]
    assert digits == ["0.29611", "0.25167", "0.07397"]
    assert f"{0.55 * 0.29611 + 0.87 * 0.25167 + 0.66 * 0.07397:.5f}" == "0.43063"


def test_journey_step_by_step(lesson_2, journey):
    query, key, value = journey
    assert_published(query[1], [0.4306, 1.4551])
    scores = lesson_2["scaled_scores"](query, key) * 2**0.5
    assert_published(scores[1], [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])
    context, attn_weights = lesson_2["scaled_dot_product_attention"](query, key, value)
    assert_published(attn_weights[1], [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820])
    assert_published(context[1], [0.3061, 0.8210])


@pytest.mark.parametrize(
    ("wrong", "published"),
    [
        (lambda q, k, v: (q @ k.T).softmax(-1) @ v, [0.3157, 0.8430]),
        (lambda q, k, v: (q @ k.T / 2).softmax(-1) @ v, [0.2988, 0.8038]),
        (lambda q, k, v: (q @ k.T / 6**0.5).softmax(-1) @ v, [0.2955, 0.7957]),
        (lambda q, k, v: (q @ k.T / 2**0.5).softmax(0) @ v, [0.3596, 0.9709]),
        (lambda q, k, v: (q @ k.T / 2**0.5).softmax(-1) @ k, [0.3590, 0.9117]),
        (lambda q, k, v: (k @ q.T / 2**0.5).softmax(-1) @ v, [0.3015, 0.8132]),
    ],
    ids=["not scaled", "by d_k", "by √n_key", "over queries", "key as value", "swapped"],
)
def test_wrong_answers(journey, wrong, published):
    assert_published(wrong(*journey)[1], published)


def test_the_module_draws_the_same_projections(lesson_2):
    torch.manual_seed(123)
    attention = lesson_2["SelfAttention"](3, 2, 2)
    assert_published(attention(WORDS)[1].detach(), [0.3061, 0.8210])
    torch.manual_seed(123)
    for name in ("w_query", "w_key", "w_value"):
        assert torch.equal(getattr(attention, name), torch.rand(3, 2))


# ---------------------------------------------------------------- (b) "Life is short"


@pytest.fixture(scope="module")
def life():
    """The embedded second sentence, and its three projections for use as W @ x."""
    sentence = ["Life", "is", "short", "eat", "dessert", "first"]
    numbers = [sorted(sentence).index(word) for word in sentence]
    torch.manual_seed(123)
    words = nn.Embedding(6, 16)(torch.tensor(numbers)).detach()
    torch.manual_seed(123)
    return words, torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)


def test_life_is_short(lesson_2, life):
    words, *projections = life
    query, key, value = lesson_2["project"](words, *[w.T for w in projections])
    scores = lesson_2["scaled_scores"](query, key) * 24**0.5
    assert_published(scores[1], [8.5808, -7.6597, 3.2558, 1.0395, 11.1466, -0.4800])
    context, attn_weights = lesson_2["scaled_dot_product_attention"](query, key, value)
    assert_published(attn_weights[1], [0.2912, 0.0106, 0.0982, 0.0625, 0.4917, 0.0458])
    assert_published(scores[1].softmax(-1).max(), 0.9283)
    assert context.shape == (6, 28)


def test_projections_from_0_to_1_saturate_four_rows_of_six(life):
    words, w_query, w_key, _ = life

    def largest(center):
        scores = words @ (w_query - center).T @ (w_key - center) @ words.T
        return (scores / 24**0.5).softmax(-1).amax(-1)

    assert (largest(0.0) > 0.99).sum() == 4
    assert (largest(0.5) < 0.85).all()


# ---------------------------------------------------------------- what the prose says


def test_it_has_learned_that_it_is_round():
    e = math.exp(4)
    assert f"{e / (e + 2):.4f}" == "0.9647"


def test_a_lead_of_8_is_a_factor_of_2981():
    assert f"{math.exp(8):.0f}" == "2981"


def test_the_deviation_of_scores_is_the_root_of_d_k(lesson_2):
    torch.manual_seed(1)
    for d_k in (1, 16, 256, 1024):
        ratio = lesson_2["random_scores"](d_k).std() / d_k**0.5
        assert 0.95 < ratio < 1.05


def test_softmax_saturates_unless_scaled(lesson_2):
    torch.manual_seed(1)
    largest, scores = lesson_2["largest_weight"], lesson_2["random_scores"](1024)
    assert largest(scores) > 0.95
    assert 0.35 < largest(scores / 1024**0.5) < 0.5


def test_unscaled_gradients_are_rare_and_violent(lesson_2):
    torch.manual_seed(1)
    gradients = lesson_2["query_gradients"]
    unscaled, scaled = gradients(1024, 1), gradients(1024, 1024**0.5)
    assert unscaled.median() < 0.001 and scaled.median() > 0.3
    assert unscaled.quantile(0.9) > 2 * scaled.quantile(0.9)
    assert unscaled.mean() > 2 * scaled.mean()


def test_scaled_gradients_do_not_depend_on_d_k(lesson_2):
    torch.manual_seed(1)
    gradients = lesson_2["query_gradients"]
    medians = [gradients(d_k, d_k**0.5).median() for d_k in (16, 64, 256, 1024)]
    assert max(medians) < 1.15 * min(medians)


@pytest.mark.parametrize("draw", [torch.randn, torch.rand], ids=["mean 0", "from 0 to 1"])
def test_scaling_holds_the_spread_of_independent_features_whatever_their_mean(lesson_2, draw):
    torch.manual_seed(1)
    few, many = (lesson_2["spread_across_keys"](draw, d_k) for d_k in (16, 1024))
    assert 0.95 < many / few < 1.1


def test_scaling_does_not_hold_the_spread_of_correlated_features(lesson_2):
    torch.manual_seed(1)
    few, many = (lesson_2["spread_across_keys"](lesson_2["correlated"], d_k) for d_k in (16, 1024))
    assert 7 < many / few < 9  # √(1024 / 16) = 8


def test_correlated_features_have_mean_0_and_correlation_three_quarters(lesson_2):
    torch.manual_seed(1)
    features = lesson_2["correlated"](1, N_SAMPLES, 4)[0]
    assert features.mean().abs() < 0.05
    assert features.T.cov().allclose(torch.full((4, 4), 0.75) + torch.eye(4) / 4, atol=0.05)


def test_projections_from_0_to_1_correlate_the_features_of_random_words(life):
    torch.manual_seed(1)
    words, w_query = torch.randn(N_SAMPLES, 16), life[1]

    def correlation(center):
        between = (words @ (w_query - center).T).T.corrcoef()
        return between[~torch.eye(24, dtype=torch.bool)].mean()

    assert 0.74 < correlation(0.0) < 0.80
    assert abs(correlation(0.5)) < 0.05


def test_a_score_of_0_still_gets_weight():
    assert_published(torch.tensor([0.0, 0.0, 1.0]).softmax(-1), [0.2119, 0.2119, 0.5761])


def test_linear_layers_start_with_mean_zero():
    torch.manual_seed(1)
    weight = nn.Linear(16, 24, bias=False).weight
    assert weight.abs().max() <= 1 / 16**0.5 and weight.mean().abs() < 0.05


def test_attention_ignores_the_order(lesson_2):
    torch.manual_seed(1)
    attention = lesson_2["SelfAttention"](3, 2, 4)
    torch.testing.assert_close(attention(WORDS.flip(0)), attention(WORDS).flip(0))


def test_a_square_matrix_hides_the_missing_transpose(lesson_2):
    torch.manual_seed(1)
    source, target = lesson_2["SelfAttention"](3, 3, 3), lesson_2["LinearSelfAttention"](3, 3, 3)
    lesson_2["copy_projections"](source, target)
    torch.testing.assert_close(source(WORDS), target(WORDS))
    target.query.weight.data.copy_(source.w_query.data)
    assert not torch.allclose(source(WORDS), target(WORDS), atol=1e-4)
