"""Trees of tensors and plain values as safetensors bytes, and back.

Reference files and answers both use this format. Unlike a pickle, it never runs code when read.
Cases have hundreds of small tensors, so all tensors of one dtype are laid end to end, without
duplicates; the tree itself is stored as JSON in another tensor of bytes.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

Tree = Any  # dict, list, tensor, torch.dtype, str, number, bool or None
TENSOR, DTYPE = "$tensor", "$dtype"
TREE, INDEX = "tree", "index"
MOST_DIMS = 64


class CodecError(ValueError):
    """These bytes do not hold a tree."""


def encode(tree: Tree, index: dict[str, Any] | None = None) -> bytes:
    """Encode a tree as bytes for `decode` (tuples come back as lists).

    index: plain values that `read_index` finds in a file of these bytes, without the tree.
    """
    store = _Store()

    def plain(node: Tree) -> Tree:
        match node:
            case Tensor():
                return {TENSOR: store.put(node)}
            case torch.dtype():
                return {DTYPE: _dtype_name(node)}
            case dict():
                return {name: plain(child) for name, child in node.items()}
            case list() | tuple():
                return [plain(child) for child in node]
        return node

    text = json.dumps(plain(tree), separators=(",", ":")).encode()
    flat = store.flat() | {TREE: torch.frombuffer(bytearray(text), dtype=torch.uint8)}
    return save(flat, {INDEX: json.dumps(index)} if index else None)


def read_index(path: Path) -> dict[str, Any]:
    """Read a file's index; {} if it has none. Raises CodecError and OSError."""
    try:
        with safe_open(path, "pt") as file:
            index: dict[str, Any] = json.loads((file.metadata() or {}).get(INDEX, "{}"))
            return index
    except (SafetensorError, ValueError) as error:
        raise CodecError(f"not a tree of tensors: {error}") from error


def decode(data: bytes, most_tree_bytes: int = sys.maxsize) -> Tree:
    """Decode the tree in `data`. Raises CodecError if it doesn't hold one.

    most_tree_bytes: the largest size allowed for the tree, without the numbers in its tensors.
    """
    try:
        flat = load(data)
        if flat[TREE].nbytes > most_tree_bytes:
            raise CodecError(f"the tree takes {flat[TREE].nbytes} bytes")

        def full(node: Tree) -> Tree:
            match node:
                case {"$tensor": [str(dtype), int(start), list(shape)]} if _are_sizes(shape):
                    return flat[dtype][start : start + math.prod(shape)].view(shape)
                case {"$dtype": str(name)}:
                    return _dtype(name)
                case dict():
                    return {name: full(child) for name, child in node.items()}
                case list():
                    return [full(child) for child in node]
            return node

        return full(json.loads(flat[TREE].numpy().tobytes()))
    except CodecError:
        raise
    except (
        SafetensorError,
        KeyError,
        TypeError,
        ValueError,
        RecursionError,
        RuntimeError,
    ) as error:
        raise CodecError(f"not a tree of tensors: {error}") from error


class _Store:
    """Tensors laid end to end, one row per dtype, without duplicates."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Tensor]] = {}
        self.lengths: dict[str, int] = {}
        self.known: dict[tuple[str, bytes], int] = {}

    def put(self, tensor: Tensor) -> list[str | int | list[int]]:
        """Store a tensor and return its dtype, start and shape."""
        # Not contiguous(): it keeps the stride of a single number, as in x[::3].
        tensor = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        dtype, content = _dtype_name(tensor.dtype), tensor.view(-1)
        key = (dtype, content.view(torch.uint8).numpy().tobytes())
        if key not in self.known:
            self.known[key] = self.lengths.get(dtype, 0)
            self.lengths[dtype] = self.known[key] + len(content)
            self.rows.setdefault(dtype, []).append(content)
        return [dtype, self.known[key], list(tensor.shape)]

    def flat(self) -> dict[str, Tensor]:
        return {dtype: torch.cat(parts) for dtype, parts in self.rows.items()}


def _are_sizes(shape: list[Any]) -> bool:
    # Bounded, because a forged shape could ask for endless numbers or memory.
    return len(shape) <= MOST_DIMS and all(type(n) is int and 0 <= n < 1 << 40 for n in shape)


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _dtype(name: str) -> torch.dtype:
    dtype = vars(torch).get(name)  # not getattr, which may import a submodule
    if not isinstance(dtype, torch.dtype):
        raise CodecError(f"no dtype {name!r}")
    return dtype
