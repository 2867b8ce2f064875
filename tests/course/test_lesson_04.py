"""Lesson 4: claims of its prose, and agreement with torch's own function on random shapes."""

import importlib
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from autograder.asking.arguments import Code
from autograder.lessons.draw import Draw
from autograder.lessons.lesson import Lesson
from autograder.utils.data import six_words
from autograder.utils.libraries import load_keras
from tests.course.test_lesson_01 import assert_published
from tests.course.witnesses.lesson_04 import later_changes

LEAKS_FUTURE = importlib.import_module("autograder.exercises.04_masks.leaks_future").EXERCISE
IMPLEMENTATIONS = importlib.import_module("autograder.exercises.04_masks.implementations")
DRAWN = importlib.import_module("autograder.exercises.04_masks.drawn_implementations")
LESSON = Lesson("04_masks").namespace()
_, WORDS = six_words()
CAUSAL = LESSON["causal_keep"](6)


@pytest.fixture(scope="module")
def projected():
    """Query, key and value of the six words, with the projections of lesson 2."""
    torch.manual_seed(123)
    return [WORDS @ torch.rand(3, 2) for _ in range(3)]


@pytest.fixture(scope="module")
def scores(projected):
    query, key, _ = projected
    return query @ key.T / math.sqrt(2)


# ---------------------------------------------------------------- agreement with torch


@st.composite
def attention_inputs(draw):
    """Draw query, key, value and keep of any shape, with some rows that attend to nothing."""
    leading = draw(st.lists(st.integers(1, 3), max_size=2))
    n_query, n_key, d_k, d_v = (draw(st.integers(1, 6)) for _ in range(4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))

    def normal(*shape):
        values = torch.randn(*leading, *shape, generator=generator, dtype=torch.float64)
        return (values * draw(st.sampled_from([0.1, 1, 30]))).requires_grad_()

    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    keep_batch = leading if draw(st.booleans()) else [1] * len(leading)
    keep = torch.rand(*keep_batch, n_query, n_key, generator=generator) < share
    keep[..., draw(st.integers(0, n_query - 1)), :] = False
    return normal(n_query, d_k), normal(n_key, d_k), normal(n_key, d_v), keep


def with_gradients(context, inputs):
    weights = torch.arange(context.numel(), dtype=context.dtype).cos().view(context.shape)
    return [context, *torch.autograd.grad((context * weights).sum(), inputs)]


@settings(max_examples=200, deadline=None)
@given(attention_inputs())
def test_masked_attention_agrees_with_torch(inputs):
    *tensors, keep = inputs
    ours, _ = LESSON["masked_attention"](*tensors, keep)
    theirs = F.scaled_dot_product_attention(*tensors, attn_mask=keep)
    assert not ours[~keep.any(-1).expand(ours.shape[:-1])].any()
    pairs = zip(with_gradients(ours, tensors), with_gradients(theirs, tensors), strict=True)
    for our, their in pairs:
        assert our.isfinite().all()
        scale = max(1.0, their.abs().max().item())
        torch.testing.assert_close(our, their, rtol=0, atol=1e-6 * scale)


@settings(max_examples=100, deadline=None)
@given(attention_inputs())
def test_weights_are_shares_of_what_may_be_seen(inputs):
    *tensors, keep = inputs
    _, attn_weights = LESSON["masked_attention"](*tensors, keep)
    assert not attn_weights.masked_select(~keep).any()
    wanted = keep.any(-1).double().expand(attn_weights.shape[:-1])
    torch.testing.assert_close(attn_weights.sum(-1), wanted)


def test_a_causal_mask_is_torchs():
    """It agrees with is_causal=True, and with the additive mask that torch makes."""
    n = 5
    query, key, value = torch.randn(3, 2, n, 4).unbind()
    ours, _ = LESSON["masked_attention"](query, key, value, LESSON["causal_keep"](n))
    theirs = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(ours, theirs)
    additive = nn.Transformer.generate_square_subsequent_mask(n)
    assert LESSON["to_additive"](LESSON["causal_keep"](n), torch.float32).equal(additive)


def test_a_mask_for_each_sentence_and_head_of_torchs_layer():
    batch, n_heads, n = 3, 2, 4
    mha = nn.MultiheadAttention(6, n_heads, batch_first=True)
    words, lengths = torch.randn(batch, n, 6), torch.tensor([4, 2, 1])
    keep = LESSON["causal_keep"](n) & LESSON["padding_keep"](lengths, n)
    hidden = LESSON["to_torch_mha_mask"](keep).repeat_interleave(n_heads, 0)
    _, attn_weights = mha(words, words, words, attn_mask=hidden, average_attn_weights=False)
    assert not attn_weights.masked_select(~keep[:, None]).any()
    assert (attn_weights.masked_select(keep[:, None]) > 0).all()


# ---------------------------------------------------------------- what the prose says


def test_padding_of_zeros_takes_more_than_a_third():
    torch.manual_seed(123)
    w_query, w_key = torch.rand(3, 2), torch.rand(3, 2)
    sentence = torch.cat([WORDS[[4, 5, 2]], torch.zeros(3, 3)])
    scores = (sentence @ w_query) @ (sentence @ w_key).T / math.sqrt(2)
    assert_published(scores.softmax(-1)[0, 3:].sum(), 0.3882)


def test_without_a_head_axis_each_head_gets_the_mask_of_a_sentence():
    keep = LESSON["padding_keep"](torch.tensor([3, 1]), 3)
    wrong = keep.expand(2, 2, 3, 3)  # batch, n_heads, n_query, n_key
    right = keep[:, None].expand(2, 2, 3, 3)
    assert wrong[:, 1].all(0).equal(right[1, 0]) and wrong[:, 0].all()
    assert right[0].all() and right[1, 0].equal(right[1, 1])


def test_masked_after_softmax_a_row_sums_to_155(scores):
    sums = (scores.softmax(-1) * CAUSAL).sum(-1)
    assert_published(sums, [0.1551, 0.3764, 0.5952, 0.7024, 0.8248, 1.0000])
    assert sums[0] < 1 / 6


def test_what_hidden_keys_lose_goes_to_the_others_in_proportion(scores):
    without, masked = scores.softmax(-1)[1], LESSON["masked_softmax"](scores, CAUSAL)[1]
    assert_published(without[:2], [0.1500, 0.2264])
    assert_published(masked[:2], [0.3986, 0.6014])
    torch.testing.assert_close(masked[0] / masked[1], without[0] / without[1])


def test_renormalizing_breaks_where_a_hidden_score_towers():
    keep = torch.tensor([False, True, True])
    after = torch.tensor([200.0, 1.0, 2.0]).softmax(-1) * keep
    assert not after.any()
    near = torch.tensor([40.0, 1.0, 2.0]).softmax(-1) * keep
    wanted = torch.tensor([0.0, 1.0, 2.0]).masked_fill(~keep, -math.inf).softmax(-1)
    torch.testing.assert_close(near / near.sum(), wanted)


@pytest.mark.parametrize("fill", [-1e9, torch.finfo(torch.float32).min])
def test_finite_fills_spread_the_weight_of_an_empty_row(fill):
    row = torch.tensor([[1.0, 2.0, 3.0]]).masked_fill(torch.ones(1, 3, dtype=torch.bool), fill)
    assert_published(row.softmax(-1), [[1 / 3] * 3])


def test_infinity_gives_nan_and_a_billion_does_not_fit_into_half():
    assert torch.full((3,), -math.inf).softmax(-1).isnan().all()
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(3, dtype=torch.float16).masked_fill(torch.ones(3, dtype=torch.bool), -1e9)
    assert torch.finfo(torch.float16).min == -65504


EMPTY_ROW = torch.tensor([[True, True, False], [False, False, False]])
ADDITIVE = torch.zeros(2, 3).masked_fill(~EMPTY_ROW, -math.inf)
WAYS = {
    "added, nan_to_num": lambda s: (s + ADDITIVE).softmax(-1).nan_to_num(),
    "added, where": lambda s: torch.where(EMPTY_ROW, (s + ADDITIVE).softmax(-1), 0.0),
    "filled, nan_to_num": lambda s: s.masked_fill(~EMPTY_ROW, -math.inf).softmax(-1).nan_to_num(),
    "solution": lambda s: LESSON["masked_softmax"](s, EMPTY_ROW),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_of_an_empty_row_is_clean_unless_infinity_is_added(way):
    scores = torch.tensor([[1.0, 2.0, 3.0]]).repeat(2, 1).requires_grad_()
    attn_weights = WAYS[way](scores)
    assert attn_weights.isfinite().all() and not attn_weights[1].any()
    (attn_weights * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert scores.grad[0].isfinite().all()
    assert bool(scores.grad[1].isnan().all()) == way.startswith("added")


@pytest.mark.filterwarnings("ignore::UserWarning")  # anomaly mode warns, and says where
def test_anomaly_detection_refuses_the_lucky_way():
    scores = torch.zeros(2, 3, requires_grad=True)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
        WAYS["filled, nan_to_num"](scores).sum().backward()
    with torch.autograd.detect_anomaly():
        WAYS["solution"](scores).sum().backward()


def test_one_step_later_the_projections_are_nan():
    projections = [torch.rand(3, 2, requires_grad=True) for _ in range(2)]
    w_query, w_key = projections
    optimizer = torch.optim.SGD(projections, lr=0.1)
    keep = CAUSAL.clone()
    keep[3] = False
    scores = (WORDS @ w_query) @ (WORDS @ w_key).T + LESSON["to_additive"](keep, torch.float32)
    (scores.softmax(-1).nan_to_num() @ WORDS).square().sum().backward()
    optimizer.step()
    assert all(projection.isnan().all() for projection in projections)


def test_is_causal_aligns_at_the_top_left():
    query, key, eye = torch.randn(1, 2, 4), torch.randn(1, 5, 4), torch.eye(5)[None]
    weights = F.scaled_dot_product_attention(query, key, eye, is_causal=True)
    assert (weights[0] > 0).equal(LESSON["causal_keep"](5)[:2])


def test_a_float_mask_is_added():
    query, key, value = torch.randn(3, 1, 4, 4).unbind()
    keep = LESSON["causal_keep"](4)
    theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=keep.float())
    scores = query @ key.mT / 2 + keep
    torch.testing.assert_close(theirs, scores.softmax(-1) @ value)


def test_the_first_word_gives_the_future_more_than_half():
    weights = LESSON["causal_keep"](4).float().softmax(-1)
    assert_published(weights[0, 1:].sum(), 0.5246)
    torch.testing.assert_close(weights[0, 0] / weights[0, 1], torch.tensor(math.e))


def test_torchs_layer_refuses_an_additive_mask_of_another_dtype():
    mha = nn.MultiheadAttention(4, 1, batch_first=True, dtype=torch.float64)
    words = torch.randn(1, 3, 4, dtype=torch.float64)
    keep = LESSON["causal_keep"](3)
    mha(words, words, words, attn_mask=LESSON["to_additive"](keep, torch.float64))
    with pytest.raises(RuntimeError, match="dtypes must be the same"):
        mha(words, words, words, attn_mask=LESSON["to_additive"](keep, torch.float32))


# ---------------------------------------------------------------- a row with nothing, elsewhere

NOTHING = torch.zeros(1, 2, 3, dtype=torch.bool)
QUERY, KEY = torch.randn(1, 2, 4), torch.randn(1, 3, 4)


def test_torchs_function_gives_zeros():
    assert not F.scaled_dot_product_attention(QUERY, KEY, KEY, attn_mask=NOTHING).any()


def test_torchs_layer_gives_nan_only_with_weights():
    mha = nn.MultiheadAttention(4, 2, batch_first=True)
    for need_weights in (True, False):
        context, _ = mha(QUERY, KEY, KEY, attn_mask=~NOTHING[0], need_weights=need_weights)
        assert bool(context.isnan().all()) == need_weights
        assert bool(context.isfinite().all()) != need_weights


def test_keras_gives_zeros_with_weights_and_an_average_without():
    mha = load_keras().layers.MultiHeadAttention(num_heads=2, key_dim=4)
    context, weights = mha(QUERY, KEY, attention_mask=NOTHING, return_attention_scores=True)
    assert not weights.any() and not context.any()
    without = mha(QUERY, KEY, attention_mask=NOTHING)
    average = mha(torch.zeros_like(QUERY), KEY)  # a query of zeros gives even weights
    torch.testing.assert_close(without, average)
    assert not torch.allclose(mha(QUERY, KEY), average)  # and this query does not


# ---------------------------------------------------------------- leaks


SHAPES = [(2, 5, 4), (3, 6, 8), (2, 3, 3), (4, 4, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", IMPLEMENTATIONS.SOUND_ONES)
def test_sound_implementations_do_not_depend_on_later_words(name, shape):
    attention = Code(IMPLEMENTATIONS.SOUND_ONES[name]).make()
    assert later_changes(attention, shape).max() == 0


# Leaks that take four words or more to show.
LATE = {
    "only the third word sees the fourth",
    "only the third word of the second sentence sees the fourth",
    "each word sees the one three places later",
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", IMPLEMENTATIONS.LEAKING_ONES)
def test_leaking_implementations_do(name, shape):
    if name in LATE:
        shape = (shape[0], max(4, shape[1]), shape[2])
    attention = Code(IMPLEMENTATIONS.LEAKING_ONES[name]).make()
    # Far above rounding errors, so that every honest test can detect it.
    assert later_changes(attention, shape).max() > 1e-4


@pytest.mark.parametrize("name", DRAWN.SOUND_KINDS)
def test_drawn_sound_implementations_do_not_depend_on_later_words(name):
    for attention, shape in drawn(name):
        assert later_changes(attention, shape).max() == 0


@pytest.mark.parametrize("name", DRAWN.LEAKING_KINDS)
def test_drawn_leaking_implementations_do(name):
    for attention, shape in drawn(name):
        assert later_changes(attention, (shape[0], max(4, shape[1]), shape[2])).max() > 1e-4


def drawn(name):
    """Yield implementations of a kind, no two alike, with shapes to try them on."""
    sources = set()
    for number in range(20):
        code = DRAWN.drawn(name)(Draw(f"{number}"))["attention"]
        sources.add(code.source)
        yield code.make(), SHAPES[number % len(SHAPES)]
    assert len(sources) == 20


@pytest.mark.parametrize("name", IMPLEMENTATIONS.SOUND_ONES | IMPLEMENTATIONS.LEAKING_ONES)
def test_implementations_keep_what_the_docstring_promises(name):
    """Any batch, n and d; the same outputs for the same words; finite; words unchanged."""
    attention = Code((IMPLEMENTATIONS.SOUND_ONES | IMPLEMENTATIONS.LEAKING_ONES)[name]).make()
    for shape in [*SHAPES, (1, 1, 1), (1, 2, 1), (2, 9, 5)]:
        words = torch.randn(shape)
        copy = words.clone()
        outputs = attention(words)
        assert outputs.shape == words.shape and outputs.isfinite().all()
        assert outputs.equal(attention(words)) and words.equal(copy)


def test_every_aspect_holds_sound_and_leaking_ones():
    """A constant answer must earn nothing, on the public cases and on all cases."""
    sound = IMPLEMENTATIONS.SOUND_ONES | DRAWN.SOUND_KINDS
    leaking = IMPLEMENTATIONS.LEAKING_ONES | DRAWN.LEAKING_KINDS
    shown, everything = set(), set()
    for aspect in LEAKS_FUTURE.aspects:
        public = {name_of(case) for case in aspect.cases}
        assert public & sound.keys() and public & leaking.keys()
        assert public & DRAWN.SOUND_KINDS.keys() and public & DRAWN.LEAKING_KINDS.keys()
        shown |= public
        everything |= public | {name_of(case) for case in aspect.hidden_cases}
    assert everything == sound.keys() | leaking.keys()
    assert len(everything - shown) >= 8


def name_of(case):
    draw = Draw("any")
    case(draw)
    return draw.name


SHIFTED = "scores shifted by the largest in the row, hidden ones included"
FAINT = "masked, a thousandth of the average added at the end"


def past_gap(name):
    """Return how far outputs move at most when all later words change."""
    attention = Code((IMPLEMENTATIONS.SOUND_ONES | IMPLEMENTATIONS.LEAKING_ONES)[name]).make()
    generator = torch.Generator().manual_seed(0)
    words = torch.randn(3, 6, 8, generator=generator)
    before, gaps = attention(words), []
    for later in range(1, 6):
        other = torch.randn(3, 6 - later, 8, generator=generator)
        after = attention(torch.cat([words[:, :later], other], dim=1))
        gaps.append((after - before)[:, :later].abs().max().item())
    return max(gaps)


@pytest.mark.parametrize("name", IMPLEMENTATIONS.SOUND_ONES)
def test_rounding_stays_below_the_smallest_honest_tolerance(name):
    gap = past_gap(name)
    assert 0 < gap < 1e-6 if name == SHIFTED else gap < 1e-6


def test_the_faintest_leak_is_above_the_largest_honest_tolerance():
    assert 1e-4 < past_gap(FAINT) < 1e-2


def test_a_layer_norm_hides_a_constant():
    before, after = (F.layer_norm(words, [3]) for words in (WORDS, WORDS + 1))
    assert (before - after).abs().max() < 1e-5


def test_nan_gets_through_a_weight_of_zero():
    words = WORDS.clone()
    words[3:] = math.nan
    context, _ = LESSON["masked_attention"](WORDS, WORDS, words, CAUSAL)
    assert context.isnan().all()
