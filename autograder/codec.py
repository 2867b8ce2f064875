"""Trees of tensors and plain values as safetensors bytes, and back.

Reference files and answers both travel in this form: the tensors as safetensors, the rest as
JSON in the file's metadata. Reading one never runs code, unlike a pickle.
"""

import json
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

Tree = Any  # dict, list, tensor, torch.dtype, str, number, bool or None
MARK = "$tensor"
DTYPE = "$dtype"


class CodecError(ValueError):
    """These bytes are no tree."""


def encode(tree: Tree) -> bytes:
    """Bytes from which `decode` makes the same tree again (tuples come back as lists)."""
    tensors: dict[str, torch.Tensor] = {}

    def plain(node: Tree) -> Tree:
        match node:
            case torch.Tensor():
                key = str(len(tensors))
                tensors[key] = node.detach().cpu().clone(memory_format=torch.contiguous_format)
                return {MARK: key}
            case torch.dtype():
                return {DTYPE: str(node).removeprefix("torch.")}
            case dict():
                return {name: plain(child) for name, child in node.items()}
            case list() | tuple():
                return [plain(child) for child in node]
        return node

    return save(tensors, metadata={"tree": json.dumps(plain(tree))})


def decode(data: bytes) -> Tree:
    """The tree in `data`. Raises CodecError when the bytes hold none."""
    try:
        tree, tensors = skeleton(data), load(data)

        def full(node: Tree) -> Tree:
            match node:
                case {"$tensor": str(key)}:
                    return tensors[key]
                case {"$dtype": str(name)}:
                    return _dtype(name)
                case dict():
                    return {name: full(child) for name, child in node.items()}
                case list():
                    return [full(child) for child in node]
            return node

        return full(tree)
    except (SafetensorError, KeyError, RecursionError, RuntimeError) as error:
        raise CodecError(f"not a tree of tensors: {error}") from error


def skeleton(data: bytes) -> Tree:
    """The tree alone, with a mark in the place of each tensor. Raises CodecError."""
    try:
        length = int.from_bytes(data[:8], "little")
        return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["tree"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CodecError(f"no readable header: {error}") from error


def _dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise CodecError(f"no dtype {name!r}")
    return dtype
