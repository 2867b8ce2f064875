"""Lesson 6: published values, claims of its prose, and parity of four attention layers."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from autograder.lessons.lesson import Lesson
from autograder.utils.costs import peak_megabytes
from autograder.utils.keras_on_torch import keras, ops
from autograder.utils.plots import growth_slope

pytestmark = [
    pytest.mark.filterwarnings("ignore:You are using a softmax over axis"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

LESSON = Lesson("06_inside_the_libraries").namespace()
LESSON_3 = Lesson("03_multi_head").namespace()
PROJECTIONS = ("query", "key", "value", "output")

# ---------------------------------------------------------------- published values

X = torch.arange(51.0, 59.0).view(2, 4)
PACKED = torch.arange(1.0, 49.0).view(12, 4)


def trace_layer():
    layer = nn.MultiheadAttention(4, 2)
    with torch.no_grad():
        layer.in_proj_weight.copy_(PACKED)
    return layer


def test_the_trace():
    parts = LESSON["unpack_projections"](trace_layer())
    queries = F.linear(X, parts["query.weight"], parts["query.bias"])
    assert queries.tolist() == [[530, 1370, 2210, 3050], [570, 1474, 2378, 3282]]
    folded = LESSON["fold_heads"](queries[:, None], 2)
    assert folded[0].tolist() == [[530, 1370], [570, 1474]]
    by_head = torch.stack([X @ head.T for head in LESSON["per_head"](parts["query.weight"], 2)])
    assert torch.equal(folded, by_head)


def test_the_papers_sizes():
    layer = LESSON["KerasMultiHeadAttention"](n_heads=8, d_k=64, d_v=64, d_model=512)
    words = torch.randn(64, 5, 512)
    assert layer(words, words, words).shape == (64, 5, 512)


# ---------------------------------------------------------------- parity


def ours_of(module, theirs):
    """Make a lesson's MultiHeadAttention with the weights of torch's layer."""
    ours = module["MultiHeadAttention"](theirs.embed_dim, theirs.num_heads)
    LESSON["load_from_torch"](ours, theirs)
    return ours


def torchs(d_model, n_heads):
    """Make an `nn.MultiheadAttention` with no zeros among its parameters, in eval mode."""
    layer = nn.MultiheadAttention(d_model, n_heads, batch_first=True).eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    return layer


def keras_own(n_heads, d_k, d_v, d_model, words):
    """Make the lesson's Keras layer with no zeros among its parameters."""
    layer = LESSON["KerasMultiHeadAttention"](n_heads, d_k, d_v, d_model)
    layer(words, words, words)
    for variable in layer.weights:
        variable.assign(torch.randn(*variable.shape) * 0.5)
    return layer


def dense_of(layer):
    """Return the Dense layers of the lesson's Keras layer, in the order of `PROJECTIONS`."""
    return layer.query, layer.key, layer.value, layer.output_dense


def keras_library(layer, words):
    """Make Keras's own layer with the parameters of the lesson's layer."""
    n_heads, d_k, d_v = layer.heads, layer.query.units, layer.value.units
    library = keras.layers.MultiHeadAttention(
        n_heads, d_k // n_heads, d_v // n_heads, output_shape=layer.output_dense.units
    )
    library(words, words)
    for name, mine in zip(PROJECTIONS, dense_of(layer), strict=True):
        its = getattr(library, f"{name}_dense")
        its.kernel.assign(ops.reshape(mine.kernel, its.kernel.shape))
        its.bias.assign(ops.reshape(mine.bias, its.bias.shape))
    return library


SIZES = st.integers(1, 6)


@st.composite
def calls(draw):
    """Draw n_heads, d_head, float32 words and a mask; every query may attend to some key."""
    torch.manual_seed(draw(st.integers(0, 9999)))
    n_heads, d_head, batch = draw(st.integers(1, 4)), draw(SIZES), draw(SIZES)
    n_query, n_key, d_model = draw(SIZES), draw(SIZES), n_heads * d_head
    query = torch.randn(batch, n_query, d_model)
    key, value = torch.randn(2, batch, n_key, d_model)
    masks = {
        "none": None,
        "causal": torch.ones(n_query, n_key).tril().bool().expand(batch, -1, -1),
        "padding": (torch.rand(batch, 1, n_key) < 0.5).repeat(1, n_query, 1),
        "any": torch.rand(batch, n_query, n_key) < 0.5,
    }
    keep = masks[draw(st.sampled_from(sorted(masks)))]
    if keep is not None:
        keep = keep.clone()
        keep[..., 0] = True
    return n_heads, d_head, (query, key, value), keep


def assert_close(mine, other):
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(calls())
def test_ours_and_torchs(call):
    n_heads, d_head, words, keep = call
    theirs = torchs(n_heads * d_head, n_heads)
    hidden = None if keep is None else (~keep).repeat_interleave(n_heads, dim=0)
    result, weights = theirs(*words, attn_mask=hidden, average_attn_weights=False)
    for module in (LESSON, LESSON_3):
        ours = ours_of(module, theirs).eval()
        assert_close(ours(*words, keep), result)
        assert_close(ours.attn_weights, weights)


@settings(max_examples=30, deadline=None)
@given(calls(), SIZES, SIZES)
def test_the_keras_layer_and_keras_own(call, d_k, d_v):
    n_heads, _, (query, key, value), keep = call
    layer = keras_own(n_heads, d_k, d_v, query.shape[-1], query)
    library = keras_library(layer, query)
    result = layer(query, key, value, keep)
    assert_close(result, library(query, value, key, attention_mask=keep))


@settings(max_examples=30, deadline=None)
@given(calls())
def test_ours_and_both_of_keras(call):
    n_heads, d_head, (query, key, value), keep = call
    d_model = n_heads * d_head
    layer = keras_own(n_heads, d_head, d_head, d_model, query)
    ours = LESSON_3["MultiHeadAttention"](d_model, n_heads).eval()
    with torch.no_grad():
        for name, dense in zip(PROJECTIONS, dense_of(layer), strict=True):
            getattr(ours, name).weight.copy_(dense.kernel.value.T)
            getattr(ours, name).bias.copy_(dense.bias.value)
    result = ours(query, key, value, keep)
    library = keras_library(layer, query)
    assert_close(layer(query, key, value, keep), result)
    its, weights = library(query, value, key, attention_mask=keep, return_attention_scores=True)
    assert_close(its, result)
    assert_close(weights, ours.attn_weights)


@settings(max_examples=20, deadline=None)
@given(calls())
def test_a_query_that_may_attend_to_nothing(call):
    """All of ours return a context of zeros, as F.scaled_dot_product_attention does."""
    n_heads, d_head, (query, key, value), keep = call
    keep = torch.ones(len(query), query.shape[1], key.shape[1]).bool() if keep is None else keep
    keep[0, -1] = False
    theirs = torchs(n_heads * d_head, n_heads)
    results = [ours_of(m, theirs).eval()(query, key, value, keep) for m in (LESSON, LESSON_3)]
    layer = keras_own(n_heads, d_head, d_head, n_heads * d_head, query)
    for dense, kernel in zip(dense_of(layer), ours_weights(theirs), strict=True):
        dense.set_weights(kernel)
    results.append(layer(query, key, value, keep))
    for result in results:
        assert_close(result, results[0])
        assert_close(result[0, -1], theirs.out_proj.bias)


def ours_weights(theirs):
    parts = LESSON["unpack_projections"](theirs)
    return [(parts[f"{name}.weight"].T, parts[f"{name}.bias"]) for name in PROJECTIONS]


# ---------------------------------------------------------------- claims of the prose


def test_a_copy_without_biases_agrees_with_a_fresh_layer_only():
    theirs = nn.MultiheadAttention(12, 3, batch_first=True)
    assert not theirs.in_proj_bias.any() and not theirs.out_proj.bias.any()
    ours, words = LESSON["MultiHeadAttention"](12, 3), torch.randn(2, 5, 12)
    LESSON["copy_weights_only"](ours, theirs)
    assert LESSON["difference"](ours, theirs, words) < 1e-6
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    LESSON["copy_weights_only"](ours, theirs)
    assert LESSON["difference"](ours, theirs, words) > 0.1


def test_the_default_tolerance_refuses_a_few_in_a_hundred():
    """Processors differ: one refuses 5 of 200, and the same without vector instructions 15."""
    pairs = [LESSON["two_results"](seed) for seed in range(200)]
    assert 3 <= sum(not torch.allclose(a, b) for a, b in pairs) <= 25
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in pairs)


def test_the_default_tolerance_refuses_most_larger_layers():
    pairs = [LESSON["two_results"](seed, d_model=64, n=10) for seed in range(40)]
    assert sum(not torch.allclose(a, b) for a, b in pairs) > 20
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in pairs)


def test_query_and_key_exchanged_do_not_agree_without_biases_either():
    theirs, words = nn.MultiheadAttention(12, 3, batch_first=True), torch.randn(2, 5, 12)
    ours, result = ours_of(LESSON, theirs), theirs(words, words, words)[0]
    assert_close(ours(words, words, words), result)
    ours.query, ours.key = ours.key, ours.query
    assert not torch.allclose(ours(words, words, words), result, atol=1e-3)


@pytest.mark.parametrize("name", PROJECTIONS)
def test_of_four_spoiled_biases_only_the_keys_goes_unnoticed(name):
    theirs = torchs(12, 3)
    ours, words = ours_of(LESSON, theirs), torch.randn(2, 5, 12)
    keep = torch.rand(2, 5, 5) < 0.5
    keep[..., 0] = True
    hidden = (~keep).repeat_interleave(3, dim=0)
    result, weights = theirs(words, words, words, attn_mask=hidden, average_attn_weights=False)
    with torch.no_grad():
        getattr(ours, name).bias.fill_(7.0)
    same = torch.allclose(ours(words, words, words, keep), result, atol=1e-4)
    assert same == (name == "key")
    assert torch.allclose(ours.attn_weights, weights, atol=1e-4) == (name != "query")


def test_the_keys_bias_gets_no_gradient():
    ours, words = ours_of(LESSON, torchs(12, 3)), torch.randn(2, 5, 12)
    ours(words, words, words).square().sum().backward()
    largest = {name: getattr(ours, name).bias.grad.abs().max() for name in PROJECTIONS}
    assert largest.pop("key") < 1e-4 and min(largest.values()) > 0.1


def test_the_outputs_bias_can_replace_the_values_bias():
    theirs = torchs(12, 3)
    ours, words = ours_of(LESSON, theirs), torch.randn(2, 5, 12)
    keep = torch.rand(2, 5, 5) < 0.5
    keep[..., 0] = True
    keep[0, 0] = False
    result = ours(words, words, words, keep)
    with torch.no_grad():
        ours.output.bias += ours.output.weight @ ours.value.bias
        ours.value.bias.zero_()
    changed = ours(words, words, words, keep)
    assert_close(changed[keep.any(-1)], result[keep.any(-1)])
    assert not torch.allclose(changed[0, 0], result[0, 0], atol=1e-3)


@pytest.mark.parametrize("zeroed", range(3))
def test_a_third_of_zeros_shows_where_the_values_are(zeroed):
    layer, words = nn.MultiheadAttention(12, 3, batch_first=True), torch.randn(2, 5, 12)
    with torch.no_grad():
        layer.in_proj_weight[12 * zeroed : 12 * zeroed + 12] = 0
    result, weights = layer(words, words, words)
    assert (weights.std() < 1e-6) == (zeroed < 2)
    assert bool(result.any()) == (zeroed < 2)


def test_only_one_way_of_copying_masks_fits_the_fold():
    theirs, words = torchs(12, 3), torch.randn(2, 5, 12)
    keep = torch.rand(2, 5, 5) < 0.5
    keep[..., 0] = True
    result = ours_of(LESSON, theirs)(words, words, words, keep)
    right, _ = theirs(words, words, words, attn_mask=(~keep).repeat_interleave(3, dim=0))
    wrong, _ = theirs(words, words, words, attn_mask=(~keep).repeat(3, 1, 1))
    assert_close(result, right)
    assert not torch.allclose(result, wrong, atol=1e-3)


@pytest.mark.parametrize(("d_k", "n_heads"), [(64, 8), (48, 4)])
def test_the_published_scores_are_too_small_by_the_root_of_the_heads(d_k, n_heads):
    words = torch.randn(4, 5, 32)
    published = LESSON["PublishedScores"](n_heads, d_k)
    repaired = LESSON["RepairedScores"](n_heads, d_k)
    published(words, words), repaired(words, words)
    repaired.set_weights(published.get_weights())
    ratio = repaired(words, words) / published(words, words)
    assert_close(ratio, torch.full_like(ratio, n_heads**0.5))


def test_the_published_layer_can_learn_what_the_right_one_can():
    words = torch.randn(4, 5, 32)
    published, repaired = LESSON["PublishedScores"](8, 64), LESSON["RepairedScores"](8, 64)
    published(words, words), repaired(words, words)
    repaired.set_weights(published.get_weights())
    for variable in published.query.weights:
        variable.assign(variable * 8**0.5)
    assert_close(published(words, words), repaired(words, words))


def test_the_published_scale_is_2_83_times_off_beside_keras_own_layer():
    words = torch.randn(4, 5, 32)
    published = LESSON["PublishedScores"](8, 64)
    library = keras.layers.MultiHeadAttention(num_heads=8, key_dim=8)
    scores = published(words, words)
    library(words, words)
    for mine, its in ((published.query, library.query_dense), (published.key, library.key_dense)):
        its.kernel.assign(ops.reshape(mine.kernel, its.kernel.shape))
    _, weights = library(words, words, return_attention_scores=True)
    assert_close((2.8284271 * scores).softmax(-1), weights)


MEGABYTES_OF_WEIGHTS = 4 * 2048**2 * 4 / 1e6


def test_how_much_memory_they_hold():
    """Returning weights costs n², and not returning them n."""
    ours = LESSON["MultiHeadAttention"](64, 4)
    theirs = nn.MultiheadAttention(64, 4, batch_first=True)
    sdpa = {**LESSON, "ours": ours}
    with_sdpa = type(LESSON["with_sdpa"])(LESSON["with_sdpa"].__code__, sdpa)
    candidates = {
        "ours": lambda x: ours(x, x, x),
        "theirs": lambda x: theirs(x, x, x),
        "no weights": lambda x: theirs(x, x, x, need_weights=False),
        "sdpa": with_sdpa,
    }
    sizes = [512, 1024, 2048]
    held = {
        name: [peak_megabytes(f, torch.randn(1, n, 64)) for n in sizes]
        for name, f in candidates.items()
    }
    for name, slope in {"ours": 2, "theirs": 2, "no weights": 1, "sdpa": 1}.items():
        assert growth_slope(sizes, held[name]) == pytest.approx(slope, abs=0.2), name
    assert pytest.approx(67, abs=0.2) == MEGABYTES_OF_WEIGHTS
    assert held["ours"][-1] == pytest.approx(2 * MEGABYTES_OF_WEIGHTS, rel=0.05)
    assert held["sdpa"][-1] < MEGABYTES_OF_WEIGHTS / 10
    with torch.no_grad():
        in_eval = peak_megabytes(
            lambda x: theirs.eval()(x, x, x, need_weights=False), torch.randn(1, 2048, 64)
        )
    assert in_eval > MEGABYTES_OF_WEIGHTS
