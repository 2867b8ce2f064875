"""Trials of caches, and of models that read with them: see `asking.trials`."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.memory_trials import ROOM, all_tensors
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, wrong_type


class GivenCache:
    """A correct cache: it keeps all keys and values so far, or those within a window."""

    def __init__(self, window: int | None = None) -> None:
        self.window, self.length, self.n_heads = window, 0, 0
        self._pieces: list[tuple[Tensor, Tensor]] = []

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        n_past, self.n_heads = self.length, key.shape[1]
        self._pieces.append((key, value))
        keys, values = (torch.cat(parts, dim=2) for parts in zip(*self._pieces, strict=True))
        self.length = keys.shape[2]
        seen = self.length if self.window is None else self.length - n_past + self.window - 1
        return keys[:, :, -seen:], values[:, :, -seen:]


def append_in_pieces(
    cache_class: Callable[..., Any],
    facts: Facts,
    key: Tensor,
    value: Tensor,
    pieces: list[int],
    window: int | None,
) -> Any:
    """Append [batch, n_heads, n, d_head] in pieces; return what the cache returns for the last one.

    length: how many words the cache says it holds.
    forgets: whether it keeps no more words than it has to.
    """
    cache = cache_class() if window is None else cache_class(window=window)
    given = zip(key.split(pieces, -2), value.split(pieces, -2), strict=True)
    for new_key, new_value in given:
        result = cache.append(new_key.clone(), new_value.clone())
    most = sum(pieces) if window is None else window
    per_word = (key.nbytes + value.nbytes) // key.shape[-2]
    if getattr(cache, "window", 0) != window:
        raise WrongResult(ProblemKind.ATTRIBUTE, "window")
    facts["length"] = _number(cache, "length")
    facts["forgets"] = torch.tensor(_bytes_held(cache) <= ROOM * most * per_word)
    return result


def _number(owner: Any, name: str) -> Tensor:
    """Return a whole number that an object keeps. Raises WrongResult if it doesn't."""
    if not hasattr(owner, name):
        raise WrongResult(ProblemKind.ATTRIBUTE, name)
    value = getattr(owner, name)
    if not isinstance(value, int):
        raise wrong_type(ProblemKind.PLAIN, value, name)
    return torch.tensor(value)


def _bytes_held(cache: Any) -> int:
    memories = [tensor.untyped_storage() for tensor in all_tensors(vars(cache))]
    return sum({memory.data_ptr(): memory.nbytes() for memory in memories}.values())


def read_in_pieces(
    module: nn.Module, facts: Facts, x: Tensor, pieces: list[int], window: int | None
) -> Any:
    """Give a module x, [batch, n, d_model], in pieces with a cache, or in one go without pieces.

    cached_heads: how many heads the cache is given.
    """
    cache = GivenCache(window)
    read = [module(piece, cache) for piece in x.split(pieces, dim=1)] if pieces else [module(x)]
    facts["cached_heads"] = torch.tensor(cache.n_heads)
    return torch.cat(read, dim=1)


def read_tokens(module: nn.Module, facts: Facts, tokens: Tensor, pieces: list[int]) -> Any:
    """Give a language model tokens, [batch, n], in pieces with caches, or in one go without pieces.

    n_context: the model's own.
    attn_weights: those of all layers, for the last piece; empty if a layer has none.
    afterwards: the logits in one go, after the model has read in pieces.
    """
    facts["n_context"] = _number(module, "n_context")
    if not pieces:
        result = module(tokens)
        facts["attn_weights"] = _attn_weights(module)
        return result
    with torch.no_grad():
        _read_with_caches(module, tokens.flip(1), pieces)  # must leave no trace
    result = _read_with_caches(module, tokens, pieces)
    facts["attn_weights"] = _attn_weights(module)
    facts["afterwards"] = module(tokens)
    return result


def _read_with_caches(module: nn.Module, tokens: Tensor, pieces: list[int]) -> Tensor:
    caches = [GivenCache() for _ in blocks_of(module)]
    return torch.cat([module(piece, caches) for piece in tokens.split(pieces, dim=1)], dim=1)


def _attn_weights(module: nn.Module) -> Tensor:
    found = [getattr(block.attention, "attn_weights", None) for block in blocks_of(module)]
    weights = [each for each in found if each is not None]
    return torch.stack(weights) if len(weights) == len(found) else torch.zeros(0)


def blocks_of(model: nn.Module) -> Sequence[Any]:
    """Return the blocks of a language model."""
    return model.blocks  # type: ignore[return-value]  # to torch, a tensor or module
