"""Lesson 10: agreement with transformers, caches that change nothing, and what heads can do."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.asking.writing_trials import DRAWS
from autograder.lessons.lesson import Lesson
from autograder.references.store import find
from tests.bench.language import one_text, percent_right, texts

pytestmark = pytest.mark.usefixtures("one_thread")

LESSON = Lesson("10_tiny_language_model").namespace()
TRAIN, TEST = texts(LESSON)

# ---------------------------------------------------------------- independent implementations


@pytest.fixture(scope="module")
def transformers():
    """The library, which must ask no server for anything."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers import GPT2Config, GPT2LMHeadModel
    from transformers.generation import logits_process

    return SimpleNamespace(config=GPT2Config, model=GPT2LMHeadModel, processors=logits_process)


def as_gpt2(transformers, model, n_tokens):
    """GPT-2 as the library has it, with a model's parameters."""
    attention = model.blocks[0].attention
    config = transformers.config(
        vocab_size=n_tokens,
        n_positions=model.n_context,
        n_embd=attention.output.in_features,
        n_layer=len(model.blocks),
        n_head=attention.n_heads,
        activation_function="gelu",
        tie_word_embeddings=False,
    )
    theirs = transformers.model(config).eval()
    theirs.lm_head = model.logits
    parts = theirs.transformer
    parts.wte, parts.wpe, parts.ln_f = model.tokens, model.positions, model.norm
    for block, own in zip(parts.h, model.blocks, strict=True):
        block.ln_1, block.ln_2 = own.attention_norm, own.feed_forward_norm
        qkv = own.attention.query, own.attention.key, own.attention.value
        fill(block.attn.c_attn, *qkv)
        fill(block.attn.c_proj, own.attention.output)
        fill(block.mlp.c_fc, own.feed_forward[0])
        fill(block.mlp.c_proj, own.feed_forward[2])
    return theirs


@torch.no_grad()
def fill(conv, *linears):
    """Their `Conv1D` has a transposed linear layer's weight."""
    conv.weight.copy_(torch.cat([linear.weight for linear in linears]).T)
    conv.bias.copy_(torch.cat([linear.bias for linear in linears]))


def drawn_model(n_heads, n_layers, seed, n_context=12):
    torch.manual_seed(seed)
    model = LESSON["TinyLanguageModel"](20, 6 * n_heads, n_heads, n_layers, n_context)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter))
    return model


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 12), st.integers(0, 99))
def test_the_model_is_a_gpt_2(transformers, n_heads, n_layers, n, seed):
    model = drawn_model(n_heads, n_layers, seed)
    tokens = torch.randint(20, (2, n))
    with torch.no_grad():
        theirs = as_gpt2(transformers, model, 20)(tokens).logits
        torch.testing.assert_close(model(tokens), theirs, rtol=0, atol=1e-4)


@settings(max_examples=20)
@given(st.integers(2, 12), st.integers(0, 99), st.booleans())
def test_the_loss_agrees_with_transformers(transformers, n, seed, padded):
    model = drawn_model(2, 1, seed)
    tokens = torch.randint(19, (3, n))
    tokens[1, n // 2 + 1 :] = 19 if padded else 7
    labels = tokens.masked_fill(tokens == 19, -100)
    with torch.no_grad():
        theirs = as_gpt2(transformers, model, 20)(tokens, labels=labels).loss
        ours = LESSON["next_token_loss"](model(tokens), tokens, 19 if padded else None)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@settings(max_examples=100)
@given(
    st.integers(2, 30),
    st.integers(0, 99),
    st.floats(0.1, 3.0),
    st.none() | st.integers(1, 40),
    st.none() | st.floats(0.05, 0.999),
)
def test_sampling_agrees_with_transformers(transformers, n_tokens, seed, temperature, top_k, top_p):
    torch.manual_seed(seed)
    logits = 3 * torch.randn(n_tokens)
    steps = [transformers.processors.TemperatureLogitsWarper(temperature)]
    if top_k is not None:
        steps.append(transformers.processors.TopKLogitsWarper(top_k))
    if top_p is not None:
        steps.append(transformers.processors.TopPLogitsWarper(top_p))
    scores = logits[None]
    for step in steps:
        scores = step(None, scores)
    with pytest.MonkeyPatch.context() as patch:
        drawn_from = []
        draw = torch.multinomial
        patch.setattr(torch, "multinomial", lambda p, *_, **how: drawn_from.append(p) or draw(p, 1))
        LESSON["sample"](logits, temperature, top_k, top_p)
    found = drawn_from[0] / drawn_from[0].sum()
    torch.testing.assert_close(found, scores[0].softmax(-1), rtol=0, atol=1e-5)


# ---------------------------------------------------------------- luck


@pytest.mark.parametrize(("name", "output"), [("sample", "frequencies"), ("speculate", "pairs")])
def test_no_right_way_to_draw_is_refused_by_bad_luck(name, output):
    """Whatever it makes of the generator: in all cases together, less than once in a thousand."""
    generator, n_tries, unlucky = np.random.default_rng(0), 10_000, 0
    for case in find(name).keys[name].cases:
        probs = case.expected[output].double().flatten().numpy()
        drawn = generator.multinomial(DRAWS, probs / probs.sum(), size=n_tries) / DRAWS
        errors = ((drawn - probs) ** 2).mean(axis=1)
        unlucky += (errors > case.most_error[output]).sum()
    assert unlucky < n_tries / 1000


# ---------------------------------------------------------------- caches


@pytest.mark.anywhere
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 99))
def test_a_text_in_pieces_has_the_same_logits(pieces, seed):
    model = drawn_model(2, 3, seed, n_context=30)
    torch.nn.init.normal_(model.logits.weight, std=0.1)  # logits as large as a trained model's
    tokens, caches = torch.randint(20, (2, sum(pieces))), [LESSON["Cache"]() for _ in range(3)]
    with torch.no_grad():
        read = torch.cat([model(piece, caches) for piece in tokens.split(pieces, dim=1)], dim=1)
        torch.testing.assert_close(read, model(tokens), rtol=0, atol=1e-5)


def written_without_caches(model, tokens, n_new, **how):
    """The visible text restarts with half a context whenever another token would not fit."""
    start = 0
    for _ in range(n_new):
        if tokens.shape[1] - start > model.n_context:
            start = tokens.shape[1] - model.n_context // 2
        logits = model(tokens[:, start:])[:, -1]
        new = torch.tensor([[LESSON["sample"](row, **how)] for row in logits])
        tokens = torch.cat([tokens, new], dim=1)
    return tokens


@pytest.mark.anywhere
@given(st.integers(1, 20), st.integers(0, 20), st.integers(0, 99), st.sampled_from([0.0, 1.0]))
def test_writing_with_caches_changes_nothing(n, n_new, seed, temperature):
    model, tokens = drawn_model(2, 2, seed, n_context=9), torch.randint(20, (2, n))
    first, second = (
        write(
            model,
            tokens,
            n_new,
            temperature=temperature,
            top_p=0.9,
            generator=torch.Generator().manual_seed(seed),
        )
        for write in (LESSON["generate"], torch.no_grad()(written_without_caches))
    )
    assert torch.equal(first, second)


# ---------------------------------------------------------------- training


def test_a_step_of_training_reaches_every_place():
    model, _ = LESSON["train_writer"](TRAIN, TEST, n_steps=1, every=1)
    assert model.positions.weight.grad.abs().sum(dim=1).min() > 0


# ---------------------------------------------------------------- heads


@pytest.mark.anywhere
@given(st.integers(0, 2), st.integers(0, 2), st.integers(0, 99))
def test_a_head_taken_out_contributes_nothing(layer, head, seed):
    """Whatever the head's own parameters are, what is left of the model stays the same."""
    model, tokens = drawn_model(3, 3, seed), torch.randint(20, (2, 8))
    rows = slice(6 * head, 6 * (head + 1))
    with torch.no_grad():
        left = LESSON["without_head"](model, layer, head)(tokens)
        attention = model.blocks[layer].attention
        for part in (attention.query, attention.key, attention.value):
            part.weight[rows], part.bias[rows] = torch.randn(6, 18), torch.randn(6)
        again = LESSON["without_head"](model, layer, head)(tokens)
    torch.testing.assert_close(left, again, rtol=0, atol=1e-4)


def test_a_perfect_induction_head_has_a_score_of_1():
    tokens = torch.randperm(20)[:6].repeat(3)
    weights = torch.eye(18)[(torch.arange(18) - 5).clamp(min=0)][None]
    assert LESSON["induction_score"](weights, tokens) == 1
    assert LESSON["previous_token_score"](weights, tokens) < 0.1


LESSON["one_text"] = one_text(LESSON)


@pytest.mark.long
def test_copying_takes_two_layers_and_the_score_alone_is_fooled():
    """The lesson's claims about its models hold by a margin, on any processor."""
    every = range(8, 17)
    copies, _, weights = LESSON["train_copier"](2, [*every])
    shortcut, _, shortcut_weights = LESSON["train_copier"](2, [12], n_steps=300)
    single, *_ = LESSON["train_copier"](1, [*every])
    assert percent_right(LESSON, copies, every) > 95
    assert percent_right(LESSON, single, every) < 30
    assert percent_right(LESSON, shortcut, [12]) > 95 and percent_right(LESSON, shortcut, [16]) < 5
    score = LESSON["induction_score"]
    assert min(score(weights[-1, 1], LESSON["one_text"])) > 0.7
    assert min(score(shortcut_weights[-1].flatten(0, 1), LESSON["one_text"])) > 0.7
    without = LESSON["without_head"]
    for head in (0, 1):
        assert percent_right(LESSON, without(copies, 1, head), every) > 85
    for layer in (0, 1):
        neither = without(without(copies, layer, 0), layer, 1)
        assert percent_right(LESSON, neither, every) < 30


def test_a_pair_table_has_the_loss_that_the_lesson_says():
    n = LESSON["n_tokens"]
    counts = torch.ones(n, n)
    for one, other in zip(TRAIN.tolist(), TRAIN[1:].tolist(), strict=False):
        counts[one, other] += 1
    probs = counts / counts.sum(dim=1, keepdim=True)
    losses = [-probs[a, b].log() for a, b in zip(TEST.tolist(), TEST[1:].tolist(), strict=False)]
    assert sum(losses) / len(losses) == pytest.approx(2.44, abs=0.005)
