"""Lesson 7: agreement with transformers, its claims about rotations, and its measurement."""

import copy
import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.lessons.lesson import Lesson
from autograder.utils.data import CURVES, LENGTHS
from autograder.utils.models import WRONG_ROTATIONS
from tests.bench.lengths import accuracies

pytestmark = pytest.mark.usefixtures("one_thread")

LESSON = Lesson("07_positions").namespace()
PROPERTIES = [
    LESSON[name] for name in ("keeps_lengths", "sees_distances_only", "leaves_place_0_alone")
]
FOUND = {
    "sine and cosine swapped",
    "minus sign forgotten",
    "one place too far",
    "place // 2",
    "halves mixed with pairs",
}

# ---------------------------------------------------------------- independent implementations

SHAPES = {
    "batch": st.integers(1, 3),
    "n_heads": st.integers(1, 4),
    "n": st.integers(1, 16),
    "d_head": st.integers(1, 16).map(lambda half: 2 * half),
    "first": st.integers(0, 4),
}


@pytest.fixture(scope="module")
def models():
    """The code of models in transformers, which must ask no server for anything."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from transformers.models.bloom import modeling_bloom
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama

    return {"bloom": modeling_bloom, "gptj": modeling_gptj, "llama": modeling_llama}


def drawn(batch, n_heads, n, d_head, first):
    generator = torch.Generator().manual_seed(n * 100 + d_head)
    return torch.randn(batch, n_heads, n, d_head, generator=generator), torch.arange(
        first, first + n
    )


@settings(max_examples=60)
@given(**SHAPES, base=st.sampled_from([100.0, 10000.0, 500000.0]))
def test_rotate_halves_is_llamas(models, base, **shape):
    x, positions = drawn(**shape)
    llama, d_head = models["llama"], shape["d_head"]
    config = llama.LlamaConfig(
        hidden_size=d_head,
        num_attention_heads=1,
        head_dim=d_head,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    cos, sin = llama.LlamaRotaryEmbedding(config)(x, positions[None])
    theirs, _ = llama.apply_rotary_pos_emb(x, x, cos, sin)
    agree(LESSON["rotate_halves"](x, positions, base), theirs)


@settings(max_examples=60)
@given(**SHAPES)
def test_rotate_is_gpt_js(models, **shape):
    x, positions = drawn(**shape)
    gptj = models["gptj"]
    table = gptj.create_sinusoidal_positions(len(positions) + 5, shape["d_head"])[positions]
    sin, cos = table.chunk(2, dim=-1)
    theirs = gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin[None], cos[None]).transpose(1, 2)
    agree(LESSON["rotate"](x, positions), theirs)


@settings(max_examples=40)
@given(n_heads=st.integers(1, 40), n_query=st.integers(1, 16), past=st.integers(0, 16))
def test_alibi_bias_is_blooms(models, n_heads, n_query, past):
    n_key = n_query + past
    build = models["bloom"].build_alibi_tensor
    by_key = build(torch.ones(1, n_key).double(), n_heads, torch.float64)  # [n_heads, 1, n_key]
    theirs = (by_key - by_key.transpose(1, 2))[:, past:]
    agree(LESSON["alibi_bias"](n_heads, n_query, n_key).double(), theirs, 2e-6 * n_key)


def agree(ours, theirs, atol=1e-6):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)


# ---------------------------------------------------------------- what the text says


def holds_all(turn):
    x, y = torch.randn(2, 8, 6, dtype=torch.float64)
    return all(holds(turn, x, y, torch.arange(8)) for holds in PROPERTIES)


@pytest.mark.parametrize("name", WRONG_ROTATIONS)
def test_which_wrong_rotations_the_properties_find(name):
    assert holds_all(WRONG_ROTATIONS[name]) == (name not in FOUND)


def test_a_right_rotation_has_all_three_in_either_layout():
    assert holds_all(LESSON["rotate"]) and holds_all(LESSON["rotate_halves"])


def test_the_layouts_differ_by_an_order_of_features():
    x, place = torch.randn(5, 8), torch.arange(5)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    agree(LESSON["rotate_halves"](x[:, order], place), LESSON["rotate"](x, place)[:, order])


def test_at_distance_0_any_layout_is_right():
    x, y, place = torch.randn(5, 8), torch.randn(5, 8), torch.arange(5) * 7
    scores = [(turn(x, place) * turn(y, place)).sum(-1) for turn in WRONG_ROTATIONS.values()]
    names = list(WRONG_ROTATIONS)
    for name in ("wrong direction", "base 500", "one place too far", "exponent i / d"):
        agree(scores[names.index(name)].float(), (x * y).sum(-1), 1e-5)


@pytest.mark.parametrize("n_heads", range(1, 65))
def test_slopes_of_paper_and_code_agree_only_for_powers_of_two(n_heads):
    by_code = -LESSON["alibi_bias"](n_heads, 1, 2)[:, 0, 0]
    by_paper = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    assert torch.allclose(by_code, by_paper) == (n_heads & (n_heads - 1) == 0)


# ---------------------------------------------------------------- the measurement


def at(task, scheme, length):
    """The accuracies of the three seeds at a length."""
    return [seed[LENGTHS.index(length)] for seed in CURVES[task][scheme]]


def test_what_the_curves_show():
    marked = {scheme: at("last_marked", scheme, 64) for scheme in CURVES["last_marked"]}
    assert min(marked["ALiBi"]) > 99 and min(marked["relative"]) > 90
    failing = [max(marked[scheme]) for scheme in ("sinusoidal", "learned", "rotary")]
    assert max(failing) < min(marked["none"])
    for scheme in CURVES["last_marked"]:
        assert min(at("last_marked", scheme, 32)) > (89 if scheme == "none" else 97)
    assert max(at("three_back", "ALiBi", 32)) < 37
    assert min(at("three_back", "relative", 256)) > 98


@pytest.mark.parametrize("n", [32, 256])
def test_at_the_end_of_a_text_the_answer_is_about_seven_tokens_back(n):
    """It is at place 0, or one in eight is marked at each place after that."""
    assert 7 * (1 - (7 / 8) ** (n - 1)) == pytest.approx(7, abs=0.2)


@pytest.mark.long
def test_relative_is_lost_where_the_mark_is_far_back():
    reader = LESSON["train_reader"]("relative", LESSON["last_marked"], seed=0)
    tokens, answers = LESSON["last_marked"](2048, 64, torch.Generator().manual_seed(7))
    place = torch.arange(64)
    back = place - torch.where(tokens >= 8, place, 0).cummax(dim=1).values
    right = reader(tokens).argmax(dim=-1) == answers
    far = back[:, -8:] >= 16
    assert right[:, -8:][~far].float().mean() > 0.98
    assert 0.35 < right[:, -8:][far].float().mean() < 0.65
    assert far.float().mean() == pytest.approx(1 / 8, abs=0.02)


@pytest.mark.parametrize("task", ["last_marked", "three_back"])
@pytest.mark.long
def test_a_smaller_base_reads_twice_as_far(task):
    reader = LESSON["train_reader"]("rotary, base 500", LESSON[task], seed=0)
    found = LESSON["accuracy"](reader, LESSON[task])
    assert found[LENGTHS.index(64)] > 97 and found[LENGTHS.index(128)] < 60


@pytest.fixture(scope="module")
def rotary():
    return LESSON["train_reader"]("rotary", LESSON["last_marked"], seed=0)


@pytest.mark.long
def test_rotary_fails_beyond_its_training_and_recovers_in_a_window(rotary):
    found, in_window = accuracies(LESSON, "last_marked", rotary)
    assert found[LENGTHS.index(32)] > 98 and found[LENGTHS.index(64)] < 75
    assert min(in_window) > 95


@pytest.mark.parametrize(
    ("pairs", "recovers"), [([0, 1, 2, 3], True), ([1], True), ([0, 2, 3], False), ([], False)]
)
@pytest.mark.long
def test_a_single_pair_makes_rotary_fail(rotary, pairs, recovers, monkeypatch):
    reader = copy.deepcopy(rotary)
    reader.positions = LESSON["Positions"]()
    monkeypatch.setitem(LESSON, "attend", attend_with_clipped_distances(pairs))
    found = LESSON["accuracy"](reader, on_few_texts)
    assert (min(found) > 95) == recovers


def on_few_texts(n_texts, n, generator):
    """The task on an eighth of the texts; turning by distance, rather than by place, takes long."""
    return LESSON["last_marked"](n_texts // 8, n, generator)


def attend_with_clipped_distances(pairs, most=31):
    """Rotary attention that turns these pairs of features as if no distance were above `most`."""

    def attend(query, key, value, keep, bias):
        n, d_head = query.shape[-2:]
        place = torch.arange(n)
        distance = (place[:, None] - place)[..., None].repeat(1, 1, d_head // 2)
        distance[..., pairs] = distance[..., pairs].clamp(max=most)
        angle = distance * 10000.0 ** (-torch.arange(0, d_head, 2) / d_head)
        query, key = (torch.view_as_complex(x.unflatten(-1, (-1, 2))) for x in (query, key))
        turned = torch.einsum("bhqp,bhkp,qkp->bhqk", query, key.conj(), torch.exp(1j * angle))
        scores = turned.real / d_head**0.5
        return scores.masked_fill(~keep, -1e9).softmax(dim=-1) @ value, None

    return attend
