"""Lesson 3: published values, claims of its prose, and agreement with `nn.MultiheadAttention`."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from autograder.lessons.lesson import Lesson

LESSON = Lesson("03_multi_head").namespace()
MultiHeadAttention = LESSON["MultiHeadAttention"]

# ---------------------------------------------------------------- published values


@pytest.fixture(scope="module")
def life():
    """The sentence of lesson 2, its projections, and three stacks of heads drawn after them."""
    torch.manual_seed(123)
    words = nn.Embedding(6, 16)(torch.tensor([0, 4, 5, 2, 1, 3])).detach()
    torch.manual_seed(123)
    one_head = torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)
    stacks = torch.rand(3, 24, 16), torch.rand(3, 24, 16), torch.rand(3, 28, 16)
    return words, one_head, stacks


def test_the_sentence_is_that_of_lesson_2(life):
    words, (w_query, w_key, _), _ = life
    scores = w_key @ words.T
    scores = scores.T @ (w_query @ words[1])
    published = torch.tensor([8.5808, -7.6597, 3.2558, 1.0395, 11.1466, -0.4800])
    torch.testing.assert_close(scores, published, rtol=0, atol=5.1e-5)


def test_published_shapes(life):
    words, _, (w_query, w_key, w_value) = life
    project_heads = LESSON["project_heads"]
    assert project_heads(words, w_query)[:, 1].shape == (3, 24)
    assert project_heads(words, w_key).shape == (3, 6, 24)
    assert project_heads(words, w_value).shape == (3, 6, 28)


# ---------------------------------------------------------------- claims of the prose


BITER, BITTEN = torch.tensor([(a, b) for a in range(8) for b in range(8) if a != b]).T


def readable(contexts, answer):
    """Return the share of sentences in which a trained linear layer names the right animal."""
    torch.manual_seed(0)
    reader = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(reader.parameters(), lr=0.5)
    for _ in range(100):
        optimizer.zero_grad()
        F.cross_entropy(reader(contexts), answer).backward()
        optimizer.step()
    return (reader(contexts).argmax(1) == answer).float().mean().item()


@pytest.mark.parametrize("share", [0.6, 0.8, 1.0])
def test_from_one_leaning_head_only_the_louder_animal_can_be_read(share):
    animals = torch.eye(8)
    contexts = share * animals[BITER] + (1 - share) * animals[BITTEN]
    assert readable(contexts, BITER) == 1
    assert readable(contexts, BITTEN) < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_from_two_heads_of_half_the_width_both_animals_can_be_read(seed):
    torch.manual_seed(seed)
    contexts = torch.cat([torch.randn(8, 4)[BITER], torch.randn(8, 4)[BITTEN]], 1)
    assert readable(contexts, BITER) == readable(contexts, BITTEN) == 1


def test_a_nonlinear_reader_finds_both_animals_in_a_leaning_head():
    animals = torch.eye(8)
    contexts = 0.8 * animals[BITER] + 0.2 * animals[BITTEN]
    assert torch.equal(contexts.topk(2).indices, torch.stack([BITER, BITTEN], 1))


def test_heads_that_look_alike_are_one_head_with_wider_values():
    """Two heads with the same queries and keys; their values side by side go through one."""
    query, key, value = torch.rand(5, 4), torch.rand(6, 4), torch.rand(6, 8)
    attend = LESSON["attend"]
    halves = [attend(query, key, part)[0] for part in value.chunk(2, dim=-1)]
    torch.testing.assert_close(attend(query, key, value)[0], torch.cat(halves, -1))


def test_the_challenge_with_einsum():
    words, into = torch.rand(6, 16), torch.rand(3, 3, 4, 16)
    out = torch.rand(3, 4, 16)
    q, k, v = (torch.einsum("nd,hkd->hnk", words, matrices) for matrices in into)
    weights = (torch.einsum("hik,hjk->hij", q, k) / 2).softmax(-1)
    context = torch.einsum("hij,hjk->hik", weights, v)
    heads = LESSON["attend"](*(LESSON["project_heads"](words, matrices) for matrices in into))[0]
    torch.testing.assert_close(context, heads)
    side_by_side = LESSON["merge_heads"](heads[None])[0]
    torch.testing.assert_close(
        torch.einsum("hnk,hkd->nd", context, out), side_by_side @ out.flatten(0, 1)
    )


@pytest.mark.parametrize("n_heads", [2, 3])
def test_a_round_trip_does_not_show_the_split_by_view(n_heads):
    x = torch.rand(2, 5, 12)
    by_view = LESSON["split_by_view"](x, n_heads)
    assert not torch.equal(by_view, LESSON["split_heads"](x, n_heads))
    assert torch.equal(LESSON["merge_by_view"](by_view), x)


def test_what_the_probe_shows():
    eye = torch.eye(4)
    assert torch.equal(LESSON["rows_that_move"](LESSON["split_heads"]), torch.stack([eye, eye]))
    by_view = LESSON["rows_that_move"](LESSON["split_by_view"])
    for word in range(4):
        head, first = divmod(2 * word, 4)
        assert by_view[head, word].nonzero().flatten().tolist() == [first, first + 1]
        assert not by_view[1 - head, word].any()


def test_interleaved_heads_are_as_good_with_other_weights():
    """They compute the same function once the rows and columns of the weights are reordered."""
    d_model, n_heads = 12, 3
    ours = MultiHeadAttention(d_model, n_heads).double()
    words = torch.randn(2, 5, d_model, dtype=torch.float64)
    order = torch.arange(d_model).view(n_heads, -1).T.flatten()  # column j goes to head j mod 3
    q, k, v = (
        F.linear(words, layer.weight[order], layer.bias[order]).view(2, 5, -1, n_heads)
        for layer in (ours.query, ours.key, ours.value)
    )
    weights = (torch.einsum("bidh,bjdh->bhij", q, k) / 2).softmax(-1)
    merged = torch.einsum("bhij,bjdh->bidh", weights, v).flatten(2)
    result = F.linear(merged, ours.output.weight[:, order], ours.output.bias)
    torch.testing.assert_close(result, ours(words, words, words))


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8, 16])
def test_parameters_do_not_grow_with_heads(n_heads):
    attention = MultiHeadAttention(512, n_heads)
    assert sum(parameter.numel() for parameter in attention.parameters()) == 1_050_624


def test_dropout_keeps_the_mean_and_not_the_sums():
    torch.manual_seed(0)
    weights = torch.randn(5, 5).softmax(-1)
    sums = F.dropout(weights.expand(10_000, 5, 5), 0.5).sum(-1)
    assert sums.mean().item() == pytest.approx(1, abs=0.01)
    assert sums.std() > 0.2


# ---------------------------------------------------------------- the module


def test_heads_that_do_not_divide_the_width():
    for action in (
        lambda: MultiHeadAttention(10, 4),
        lambda: LESSON["split_heads"](torch.zeros(1, 3, 10), 4),
    ):
        with pytest.raises(ValueError, match=r"4 heads.* 10 features"):
            action()


def test_the_papers_sizes():
    words = torch.randn(64, 5, 512)
    attention = MultiHeadAttention(512, 8)
    assert attention(words, words, words).shape == (64, 5, 512)
    assert attention.attn_weights.shape == (64, 8, 5, 5)
    assert not attention.attn_weights.requires_grad


def test_weights_are_kept_before_dropout():
    words = torch.randn(2, 5, 12)
    attention = MultiHeadAttention(12, 3, dropout=0.5)
    dropped = attention(words, words, words)
    kept = attention.attn_weights
    torch.testing.assert_close(kept.sum(-1), torch.ones(2, 3, 5))
    assert not torch.allclose(dropped, attention(words, words, words))
    assert torch.equal(kept, attention.attn_weights)
    attention.eval()
    assert torch.equal(attention(words, words, words), attention(words, words, words))


@pytest.mark.parametrize(
    "shape", [(4, 5), (1, 5), (2, 4, 5), (2, 1, 5), (2, 1, 4, 5), (2, 1, 1, 5)]
)
def test_forms_of_keep_mean_what_they_say(shape):
    """[n_query, n_key] is for all; three dimensions start with the batch; four have heads too."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3)
    query, memory = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    keep = torch.rand(shape) < 0.6
    keep[..., 0] = True
    whole = keep[:, None] if keep.dim() == 3 else keep
    result = attention(query, memory, memory, keep)
    torch.testing.assert_close(result, attention(query, memory, memory, whole.expand(2, 3, 4, 5)))
    assert not attention.attn_weights[~whole.expand(2, 3, 4, 5)].any()


def test_as_many_sentences_as_heads():
    """A mask without a head axis could be mistaken for one mask per head here."""
    attention = MultiHeadAttention(12, 3)
    words = torch.randn(3, 5, 12)
    keep = torch.ones(3, 5, 5, dtype=torch.bool)
    keep[0, :, 3:] = False
    attention(words, words, words, keep)
    assert not attention.attn_weights[0, :, :, 3:].any()
    assert (attention.attn_weights[1:] > 0).all()


# ---------------------------------------------------------------- compared to nn.MultiheadAttention


def twins(n_heads, d_head, seed):
    """Make ours and the library's with the same parameters, nonzero biases, in float64."""
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    ours = MultiHeadAttention(d_model, n_heads).double()
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True, dtype=torch.float64)
    parts = ours.query, ours.key, ours.value
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_(0, 0.5)
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        theirs.out_proj.load_state_dict(ours.output.state_dict())
    return ours, theirs


def our_slopes(ours, result, inputs):
    """Return gradients by inputs and parameters, packing the projections' as the library does."""
    layers = ours.query, ours.key, ours.value
    packed = [layer.weight for layer in layers], [layer.bias for layer in layers]
    found = iter(slopes(result, [*inputs, *packed[0], *packed[1], *ours.output.parameters()]))
    by_input = [next(found) for _ in inputs]
    weight, bias = (torch.cat([next(found) for _ in layers]) for _ in packed)
    return [*by_input, weight, bias, *found]


def their_slopes(theirs, result, inputs):
    packed = [theirs.in_proj_weight, theirs.in_proj_bias]
    return slopes(result, [*inputs, *packed, *theirs.out_proj.parameters()])


def slopes(result, leaves):
    weights = torch.arange(result.numel(), dtype=result.dtype).cos().view(result.shape)
    return torch.autograd.grad((result * weights).sum(), leaves)


def assert_close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


SIZES = st.integers(1, 6)


@st.composite
def calls(draw, fully_masked):
    """Draw modules, inputs and a mask [batch, n_query, n_key], of random shapes."""
    batch, n_query, n_key = draw(SIZES), draw(SIZES), draw(SIZES)
    ours, theirs = twins(draw(st.integers(1, 4)), draw(SIZES), draw(st.integers(0, 999)))
    d_model = theirs.embed_dim
    kind = draw(st.sampled_from(["self", "cross"]))
    if kind == "self":
        n_key = n_query
        words = torch.randn(batch, n_query, d_model, dtype=torch.float64, requires_grad=True)
        inputs = [words, words, words]
    else:
        sizes = n_query, n_key, n_key
        inputs = [torch.randn(batch, n, d_model, dtype=torch.float64) for n in sizes]
        inputs = [x.requires_grad_() for x in inputs]
    masks = {
        "all": torch.ones(batch, n_query, n_key),
        "causal": torch.ones(n_query, n_key).tril().expand(batch, -1, -1),
        "padding": (torch.rand(batch, 1, n_key) < 0.5).expand(-1, n_query, -1),
        "any": torch.rand(batch, n_query, n_key) < 0.5,
    }
    keep = masks[draw(st.sampled_from(sorted(masks)))].bool().clone()
    keep[..., 0] = True
    if fully_masked:
        keep[draw(st.integers(0, batch - 1)), draw(st.integers(0, n_query - 1))] = False
    return ours, theirs, inputs, keep


def hidden_for(theirs, keep):
    """Make the library's equivalent mask: True = hidden, and a copy for each head."""
    return (~keep).repeat_interleave(theirs.num_heads, dim=0)


@settings(max_examples=60, deadline=None)
@given(calls(fully_masked=False))
def test_agrees_with_the_library(call):
    ours, theirs, inputs, keep = call
    mine = ours(*inputs, keep)
    whole, weights = theirs(
        *inputs, attn_mask=hidden_for(theirs, keep), need_weights=True, average_attn_weights=False
    )
    assert_close(mine, whole)
    assert_close(ours.attn_weights, weights.detach())
    pairs = zip(our_slopes(ours, mine, inputs), their_slopes(theirs, whole, inputs), strict=True)
    for my_slope, their_slope in pairs:
        assert_close(my_slope, their_slope)


@settings(max_examples=30, deadline=None)
@given(calls(fully_masked=False))
def test_agrees_with_the_librarys_own_forms_of_masks(call):
    """A causal mask for all sentences, and padding by key."""
    ours, theirs, inputs, keep = call
    keep = keep[0]
    shown = torch.arange(keep.shape[1]) < torch.randint(1, keep.shape[1] + 1, (len(inputs[0]), 1))
    keep[:, 0] = True
    mine = ours(*inputs, keep & shown[:, None])
    whole, weights = theirs(
        *inputs, attn_mask=~keep, key_padding_mask=~shown, average_attn_weights=False
    )
    assert_close(mine, whole)
    assert_close(ours.attn_weights, weights.detach())


@settings(max_examples=40, deadline=None)
@given(calls(fully_masked=True))
def test_fully_masked_queries(call):
    """With weights the library gives NaN there; without, it agrees with ours, even gradients."""
    ours, theirs, inputs, keep = call
    nothing = ~keep.any(-1)
    mine = ours(*inputs, keep)
    assert_close(mine[nothing], ours.output.bias.expand_as(mine[nothing]))
    assert not ours.attn_weights.transpose(1, 2)[nothing].any()
    hidden = hidden_for(theirs, keep)
    with_weights, _ = theirs(*inputs, attn_mask=hidden)
    assert with_weights[nothing].isnan().all()
    assert_close(mine[~nothing], with_weights[~nothing])
    whole, _ = theirs(*inputs, attn_mask=hidden, need_weights=False)
    assert_close(mine, whole)
    pairs = zip(our_slopes(ours, mine, inputs), their_slopes(theirs, whole, inputs), strict=True)
    for my_slope, their_slope in pairs:
        assert my_slope.isfinite().all()
        assert_close(my_slope, their_slope)
