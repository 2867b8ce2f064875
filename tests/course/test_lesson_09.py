"""Lesson 9: fast attention computes what slow attention does, and its claims hold."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.bias import causal_lower_right

from autograder.lessons.lesson import Lesson
from autograder.utils.costs import peak_megabytes, saved_megabytes
from autograder.utils.models import DEFECTS, same_logits, same_words, writer

LESSON = Lesson("09_fast_attention").namespace()
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]

sizes = st.integers(1, 40)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.sampled_from([1, 2, 4]))
def test_a_text_in_pieces_is_the_text(pieces, n_kv_heads):
    attention = LESSON["CachedSelfAttention"](24, 4, n_kv_heads)
    x, cache = torch.randn(2, sum(pieces), 24), LESSON["KVCache"]()
    read = torch.cat([attention(piece, cache) for piece in x.split(pieces, dim=1)], dim=1)
    torch.testing.assert_close(read, attention(x), rtol=0, atol=1e-5)
    assert cache.length == sum(pieces)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 8))
def test_with_a_window_each_word_sees_the_last_ones(pieces, window):
    """Reading word by word with a window of the same size gives the same."""
    attention, n = LESSON["CachedSelfAttention"](12, 2), sum(pieces)
    x = torch.randn(1, n, 12)
    cache, one_by_one = LESSON["KVCache"](window), LESSON["KVCache"](window)
    read = torch.cat([attention(piece, cache) for piece in x.split(pieces, dim=1)], dim=1)
    words = torch.cat([attention(word, one_by_one) for word in x.split(1, dim=1)], dim=1)
    torch.testing.assert_close(read, words, rtol=0, atol=1e-5)
    changed = x.clone()
    changed[:, : max(0, n - window)] += 1
    last = attention(changed, LESSON["KVCache"](window))[:, -1]
    torch.testing.assert_close(last, words[:, -1], rtol=0, atol=1e-5)


def lower_right(n_query, n_key):
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
@given(sizes, sizes, st.booleans(), st.integers(1, 9), st.integers(1, 9), st.integers(0, 10))
def test_tiles_agree_with_the_librarys_attention(dtype, atol, n, more, causal, rows, columns, seed):
    torch.manual_seed(seed)
    query = torch.randn(2, n, 8, dtype=dtype)
    key, value = torch.randn(2, 2, n + more, 8, dtype=dtype)
    context, logsumexp = LESSON["tiled_attention"](query, key, value, causal, rows, columns)
    keep = lower_right(n, n + more) if causal else torch.ones(n, n + more, dtype=torch.bool)
    theirs = F.scaled_dot_product_attention(query, key, value, attn_mask=keep)
    torch.testing.assert_close(context, theirs, rtol=0, atol=atol)
    scores = (query @ key.mT / 8**0.5).masked_fill(~keep, -torch.inf)
    torch.testing.assert_close(logsumexp, scores.logsumexp(-1), rtol=0, atol=atol)


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
@given(st.integers(1, 150), st.integers(0, 40), st.booleans(), st.integers(0, 10))
def test_so_are_their_gradients(dtype, atol, n, more, causal, seed):
    torch.manual_seed(seed)
    shapes = [(2, n, 6), (2, n + more, 6), (2, n + more, 6)]
    qkv = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    keep = lower_right(n, n + more) if causal else None
    d_context = torch.randn(2, n, 6, dtype=dtype)
    ours = LESSON["TiledAttention"].apply(*qkv, causal)
    theirs = F.scaled_dot_product_attention(*qkv, attn_mask=keep)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)
    found = torch.autograd.grad(ours, qkv, d_context)
    wanted = torch.autograd.grad(theirs, qkv, d_context)
    for one, other in zip(found, wanted, strict=True):
        scale = max(1.0, other.abs().max().item())
        torch.testing.assert_close(one, other, rtol=0, atol=atol * scale)


@pytest.mark.parametrize("causal", [False, True])
def test_gradcheck_passes(causal):
    query, key, value = torch.randn(3, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(LESSON["TiledAttention"].apply, (query, key, value, causal))


def test_tiles_take_a_tenth_of_the_memory_of_all_scores():
    query, key, value = torch.randn(3, 8192, 32)
    plain = peak_megabytes(LESSON["attend"], query, key, value)
    tiled = peak_megabytes(LESSON["tiled_attention"], query, key, value, False, 256, 256)
    assert tiled < plain / 10


def test_the_mask_at_the_lower_right_saves_no_memory_on_a_cpu():
    query, key, value = torch.randn(8, 8, 64), torch.randn(8, 1024, 64), torch.randn(8, 1024, 64)
    lower_right = causal_lower_right(8, 1024)
    keep = torch.ones(8, 1024, dtype=torch.bool).tril(1024 - 8)
    attend = F.scaled_dot_product_attention
    assert torch.allclose(attend(query, key, value, lower_right), attend(query, key, value, keep))
    assert peak_megabytes(attend, query, key, value, lower_right) >= peak_megabytes(
        attend, query, key, value, keep
    )


@pytest.mark.anywhere
def test_memory_saved_for_the_backward_pass():
    query, key, value = torch.randn(3, 1024, 32, requires_grad=True)
    apply, tiled = LESSON["TiledAttention"].apply, LESSON["tiled_attention"]
    plain = saved_megabytes(LESSON["attend"], query, key, value)
    assert saved_megabytes(apply, query, key, value) < plain / 5
    assert saved_megabytes(tiled, query, key, value, False, 256, 256) > 1.5 * plain


@pytest.mark.long
def test_words_show_few_defects_but_logits_show_all():
    by_words = {}
    for defect in DEFECTS:
        models = [writer(seed, defect) for seed in range(20)]
        assert not any(map(same_logits, models))
        by_words[defect] = sum(not same_words(model) for model in models)
    assert by_words["no mask"] == by_words["the oldest word forgotten"] == 6


def test_sound_writers_are_sound():
    models = [writer(seed) for seed in range(20)]
    assert all(map(same_words, models)) and all(map(same_logits, models))
