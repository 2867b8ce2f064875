"""Lesson 11: its three forms agree, with each other and with transformers, and its claims hold."""

import os

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from autograder.lessons.lesson import Lesson

pytestmark = pytest.mark.usefixtures("one_thread")

LESSON = Lesson("11_fixed_memory").namespace()
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]
SEEDS = range(3)
sizes = st.integers(1, 40)
chunks = st.integers(1, 50)


def texts(n, d_k, d_v, dtype=torch.float64, seed=0):
    """Queries, keys of length 1, values, beta and log decays of two heads."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(2, n, *shape, generator=generator, dtype=torch.float64).to(dtype)

    gates = drawn().sigmoid(), -drawn().exp()
    return drawn(d_k), F.normalize(drawn(d_k), dim=-1), drawn(d_v), *gates


def word_by_word(step, words, state):
    contexts = []
    for word in zip(*(x.unbind(1) for x in words), strict=True):
        context, state = step(state, *word)
        contexts.append(context)
    return torch.stack(contexts, dim=1), state


# ---------------------------------------------------------------- one thing in three forms


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
@given(n=sizes, chunk=chunks, d_k=st.integers(1, 9), d_v=st.integers(1, 9), seed=st.integers(0, 99))
def test_linear_attention_is_the_same_in_all_forms(dtype, atol, n, chunk, d_k, d_v, seed):
    text = texts(n, d_k, d_v, dtype, seed)[:3]
    at_once = LESSON["linear_attention"](*text)
    nothing = torch.zeros(2, d_k, d_v, dtype=dtype)
    context, state = word_by_word(LESSON["linear_step"], text, nothing)
    chunked, after = LESSON["chunked_linear_attention"](*text, chunk)
    scale = max(1.0, at_once.abs().max().item())
    for other in (context, chunked):
        torch.testing.assert_close(other, at_once, rtol=0, atol=atol * scale)
    torch.testing.assert_close(after, state, rtol=0, atol=atol * scale)


@pytest.mark.parametrize(("dtype", "atol"), PRECISIONS)
@given(n=sizes, chunk=chunks, d_k=st.integers(1, 9), d_v=st.integers(1, 9), seed=st.integers(0, 99))
def test_the_gated_delta_rule_is_the_same_in_chunks(dtype, atol, n, chunk, d_k, d_v, seed):
    text, state = texts(n, d_k, d_v, dtype, seed), torch.ones(2, d_k, d_v, dtype=dtype)
    expected = word_by_word(LESSON["gated_delta_step"], text, state)
    found = LESSON["chunked_gated_delta"](*text, chunk, state)
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, other.abs().max().item())
        torch.testing.assert_close(one, other, rtol=0, atol=atol * scale)


@pytest.mark.parametrize("decay", [0.0, -0.1, -50.0])
def test_a_long_text_neither_overflows_nor_loses_its_gradient(decay):
    query, key, value, beta, _ = texts(4096, 8, 6, torch.float32)
    text = [x.requires_grad_() for x in (query, key, value, beta, torch.full((2, 4096), decay))]
    context, state = LESSON["chunked_gated_delta"](*text)
    (context.sum() + state.sum()).backward()
    assert context.isfinite().all() and all(x.grad.isfinite().all() for x in text)


@given(n=sizes, chunk=chunks, split=st.integers(0, 40))
def test_a_text_may_be_split_anywhere(n, chunk, split):
    text, split = texts(n, 5, 3), min(split, n - 1)
    whole, end = LESSON["chunked_gated_delta"](*text, chunk)
    context, state = torch.zeros(2, 0, 3, dtype=torch.float64), None
    for piece in (slice(0, split), slice(split, n)):
        if piece.stop > piece.start:
            new, state = LESSON["chunked_gated_delta"](*(x[:, piece] for x in text), chunk, state)
            context = torch.cat([context, new], dim=1)
    torch.testing.assert_close(context, whole, rtol=0, atol=1e-10)
    torch.testing.assert_close(state, end, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "inputs"), [("chunked_linear_attention", 3), ("chunked_gated_delta", 5)]
)
def test_the_chunked_forms_have_the_right_gradients(name, inputs):
    text = [x.requires_grad_() for x in texts(7, 3, 2)[:inputs]]
    state = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)

    def in_chunks(*given):
        return LESSON[name](*given[:-1], 3, given[-1])

    assert torch.autograd.gradcheck(in_chunks, (*text, state))


@given(n=sizes, width=st.integers(1, 9), cuts=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_a_short_convolution_is_torchs_however_the_text_is_cut(n, width, cuts):
    x, weight = torch.randn(2, n, 3, dtype=torch.float64), torch.randn(3, width).double()
    padded = F.pad(x.mT, (width - 1, 0))
    whole = F.conv1d(padded, weight[:, None], groups=3).mT
    sums, tail = [], None
    for piece in pieces_of(x, cuts):
        new, tail = LESSON["short_convolution"](piece, weight, tail)
        sums.append(new)
    torch.testing.assert_close(torch.cat(sums, dim=1), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(tail, padded.mT[:, n:], rtol=0, atol=0)


def pieces_of(x, sizes):
    """Pieces of these sizes, again and again."""
    many = sizes * x.shape[1]
    ends = torch.tensor(many).cumsum(0)
    return [piece for piece in x.tensor_split(ends, dim=1) if piece.shape[1]]


@given(n=sizes, cuts=st.lists(st.integers(1, 9), min_size=1, max_size=4), heads=st.integers(1, 3))
def test_a_layer_gives_the_same_however_the_text_is_cut(n, cuts, heads):
    layer, memory = LESSON["GatedDeltaAttention"](6, heads, 3, 5).double(), LESSON["Memory"]()
    x = torch.randn(2, n, 6, dtype=torch.float64)
    cut = torch.cat([layer(piece, memory) for piece in pieces_of(x, cuts)], dim=1)
    torch.testing.assert_close(cut, layer(x), rtol=0, atol=1e-10)


# ---------------------------------------------------------------- independent implementations


@pytest.fixture(scope="module")
def gated_delta_rule():
    """The rule in transformers, which must ask no server for anything."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers.models.qwen3_next.modeling_qwen3_next import torch_recurrent_gated_delta_rule

    return torch_recurrent_gated_delta_rule


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gated_delta_rule_agrees_with_transformers(gated_delta_rule, seed):
    query, key, value, beta, log_decay = words = texts(50, 8, 6, torch.float32, seed)
    context, state = word_by_word(LESSON["gated_delta_step"], words, torch.zeros(2, 8, 6))
    heads_last = (x.transpose(0, 1)[None] for x in (query * 8**0.5, key, value, log_decay, beta))
    theirs, last = gated_delta_rule(*heads_last, output_final_state=True)
    for found in ((context, state), LESSON["chunked_gated_delta"](*words, chunk=16)):
        torch.testing.assert_close(theirs[0].transpose(0, 1), found[0], rtol=0, atol=1e-5)
        torch.testing.assert_close(last[0], found[1], rtol=0, atol=1e-5)


def test_the_layers_of_the_models_are_as_the_lesson_says():
    from transformers import JambaConfig, KimiLinearConfig, OlmoHybridConfig, Qwen3NextConfig

    kinds = Qwen3NextConfig().layer_types
    assert kinds.count("full_attention") * 4 == len(kinds)
    assert Qwen3NextConfig().linear_key_head_dim == Qwen3NextConfig().linear_value_head_dim == 128
    caches = 2 * Qwen3NextConfig().num_key_value_heads * Qwen3NextConfig().head_dim
    assert Qwen3NextConfig().head_dim == 256
    assert Qwen3NextConfig().linear_num_value_heads * 128 * 128 == 512 * caches
    assert JambaConfig().attn_layer_period == 8
    assert Qwen3NextConfig().linear_conv_kernel_dim == 4
    kinds = KimiLinearConfig().layer_types
    assert 4 <= len(kinds) / kinds.count("full_attention") < 5
    assert OlmoHybridConfig().linear_allow_neg_eigval


# ---------------------------------------------------------------- what the lesson says


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("n", "d_k"), [(8, 16), (32, 32), (128, 32), (64, 64)])
def test_the_error_is_the_root_of_other_pairs_by_features(n, d_k, seed):
    torch.manual_seed(seed)
    key, value = LESSON["random_pairs"](n, d_k)
    recalled = LESSON["linear_attention"](key, key, value, causal=False)
    assert LESSON["error"](recalled, value) == pytest.approx(((n - 1) / d_k) ** 0.5, rel=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sum_finds_more_pairs_and_the_delta_rule_the_last(seed):
    torch.manual_seed(seed)
    key, value = LESSON["random_pairs"](64)
    adds = LESSON["found"](key @ (key.mT @ value), value)
    replaces = LESSON["found"](key @ LESSON["written"](key, value), value)
    assert 1.7 < adds.mean() / replaces.mean() < 2.0
    assert replaces[-16:].mean() > 0.9 and replaces[0] < 0.15 and replaces[-1] == 1
    assert adds.min() > 0.7


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("beta", [0.0, 0.7, 1.0, 2.0])
def test_a_write_of_nothing_never_makes_a_state_larger(seed, beta):
    torch.manual_seed(seed)
    key, state = F.normalize(torch.randn(6), dim=0), torch.randn(6, 4)
    _, after = LESSON["delta_step"](state, key, key, torch.zeros(4), torch.tensor(beta))
    assert after.norm() <= state.norm() + 1e-5


def test_ten_thousand_swaps_stay_exact():
    state, cups = torch.eye(5), list(range(5))
    for _ in range(10_000):
        i, j = torch.randperm(5)[:2].tolist()
        key = LESSON["swap_key"](i, j, 5)
        _, state = LESSON["delta_step"](state, key, key, torch.zeros(5), torch.tensor(2.0))
        cups[i], cups[j] = cups[j], cups[i]
    torch.testing.assert_close(state, torch.eye(5)[cups], rtol=0, atol=1e-5)


OTHER_SEED = 4  # the lesson has 0 to 2


def recalled(*layers):
    """How much of 16 and of 32 pairs these layers find after the lesson's training."""
    torch.manual_seed(OTHER_SEED)
    model = LESSON["Model"](64, [layer() for layer in layers])
    texts = LESSON["recall_texts"]
    LESSON["train"](
        model, lambda step, made: texts(32, 2 ** (1 + step % 4), made), 250, seed=OTHER_SEED
    )
    generator = torch.Generator().manual_seed(OTHER_SEED)
    return [LESSON["share_right"](model, *texts(100, n, generator)) for n in (16, 32)]


@pytest.mark.anywhere
def test_the_convolution_is_what_lets_a_layer_recall():
    def layer():
        return LESSON["GatedDeltaAttention"](64, 1, 16, 64)

    assert recalled(layer)[0] > 0.8
    assert recalled(lambda: LESSON["without_convolution"](layer()))[0] < 0.25


@pytest.mark.anywhere
def test_softmax_finds_what_a_second_small_state_does_not():
    small = LESSON["small_state"]
    assert recalled(small, lambda: LESSON["SoftmaxAttention"](64, 1))[1] > 0.8
    assert recalled(small, small)[1] < 0.5


@pytest.mark.anywhere
@pytest.mark.parametrize(("most", "right"), [(1.0, False), (2.0, True)])
def test_three_cups_are_tracked_if_beta_may_be_2(most, right):
    torch.manual_seed(OTHER_SEED)
    model, texts = LESSON["Model"](6, [LESSON["Tracker"](most)]), LESSON["cup_texts"]
    LESSON["train"](model, lambda step, made: texts(32, 32, made), 400, seed=OTHER_SEED)
    share = LESSON["share_right"](model, *texts(50, 256, torch.Generator().manual_seed(0)))
    assert share > 0.9 if right else share < 0.3
