"""Trials: how a check uses what learners wrote where a plain call won't do.

Each takes the answer (a function, a class or a built module), a dict for the facts that it notes
beside the result, and a call's arguments. It returns the result.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from autograder.asking.returned import WrongResult, describe

Facts = dict[str, Tensor]

ROOM = 2  # how much larger than what is needed something may be
ROWS = 64  # of scores that a backward pass may have at a time
DRAWS = 1000  # so that a frequency is hardly ever off by more than 0.08


class GivenCache:
    """A cache as it should be: all keys and values so far, or those that a window lets be seen."""

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
    cache_class: Callable,
    facts: Facts,
    key: Tensor,
    value: Tensor,
    pieces: list[int],
    window: int | None,
) -> Any:
    """Append [batch, n_heads, n, d_head] in pieces; return what the last piece gets.

    length: of the cache. forgets: whether it keeps no more words than it has to.
    """
    cache = cache_class() if window is None else cache_class(window=window)
    given = zip(key.split(pieces, -2), value.split(pieces, -2), strict=True)
    for new_key, new_value in given:
        result = cache.append(new_key.clone(), new_value.clone())
    most = sum(pieces) if window is None else window
    per_word = (key.nbytes + value.nbytes) // key.shape[-2]
    if getattr(cache, "window", 0) != window:
        raise WrongResult("attribute", "window")
    facts["length"] = _length(cache)
    facts["forgets"] = torch.tensor(_bytes_held(cache) <= ROOM * most * per_word)
    return result


def _length(cache: Any) -> Tensor:
    if not hasattr(cache, "length"):
        raise WrongResult("attribute", "length")
    if not isinstance(cache.length, int):
        raise WrongResult("plain", f"{describe(cache.length)} for length")
    return torch.tensor(cache.length)


def _bytes_held(cache: Any) -> int:
    memories = [tensor.untyped_storage() for tensor in _tensors(vars(cache))]
    return sum({memory.data_ptr(): memory.nbytes() for memory in memories}.values())


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def read_in_pieces(
    module: nn.Module, facts: Facts, x: Tensor, pieces: list[int], window: int | None
) -> Any:
    """Give a module x, [batch, n, d_model], in pieces with a cache; in one go if there are none.

    cached_heads: how many heads the cache is given.
    """
    cache = GivenCache(window)
    read = [module(piece, cache) for piece in x.split(pieces, dim=1)] if pieces else [module(x)]
    facts["cached_heads"] = torch.tensor(cache.n_heads)
    return torch.cat(read, dim=1)


def take_a_step(
    function: Callable,
    facts: Facts,
    maximum: Tensor,
    total: Tensor,
    output: Tensor,
    *tile: Tensor,
) -> Any:
    """Call a function whose first argument is a state of three tensors."""
    return function((maximum, total, output), *tile)


def in_little_memory(function: Callable, facts: Facts, query: Tensor, *arguments: Any) -> Any:
    """Attend in tiles; the last two arguments are their sizes.

    small: whether no tensor is much larger than the inputs, or than a tile of scores.
    """
    with _Largest() as largest:
        result = function(query, *arguments)
    facts["small"] = largest.fits([query, *arguments], math.prod(arguments[-2:]))
    return result


def apply_in_little_memory(
    function: type[torch.autograd.Function], facts: Facts, *arguments: Any
) -> Any:
    """Apply an autograd function to query, key, value and whether it is causal.

    small: whether, forward and backward, no tensor is much larger than the inputs, or than
    `ROWS` rows of scores. own: whether a call in between changes no gradient. precise: whether
    gradients are as precise as the inputs.
    """
    result = function.apply(*arguments)
    if not isinstance(result, Tensor):
        return result
    *inputs, causal = arguments
    leaves = [value.detach().double().requires_grad_() for value in inputs]
    with _Largest() as largest:
        first = function.apply(*leaves, causal)
        # Autograd itself would call it where nothing is seen.
        found = first.grad_fn.apply(torch.ones_like(first))[: len(leaves)]
    function.apply(*(2 * leaf for leaf in leaves), not causal)
    again = torch.autograd.grad(first.sum(), leaves)
    facts["small"] = largest.fits(inputs, ROWS * inputs[1].shape[-2])
    facts["own"] = torch.tensor(all(map(torch.allclose, found, again)))
    facts["precise"] = torch.tensor(not any(torch.equal(g, g.float().double()) for g in found))
    return result


class _Largest(TorchFunctionMode):
    """Notes the number of elements of the largest floating-point tensor that a call returns.

    It sees torch's functions as Python calls them. (What would see more imports half of torch.)
    """

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        sizes = [t.numel() for t in _tensors([result]) if t.is_floating_point()]
        self.numel = max([self.numel, *sizes])
        return result

    def fits(self, inputs: list[Any], scores: int) -> Tensor:
        """Whether it is not much larger than all inputs, and than so many scores per batch."""
        sizes = [tensor.numel() for tensor in _tensors(inputs)]
        batch = math.prod(inputs[0].shape[:-2])
        return torch.tensor(self.numel <= ROOM * max(*sizes, batch * scores))


def without_keys(
    function: Callable, facts: Facts, query: Tensor, latent: Tensor, *weights: Tensor
) -> Any:
    """Attend to latents.

    small: whether no tensor is larger than the inputs or the scores, as all keys would be.
    """
    with _Largest() as largest:
        result = function(query, latent, *weights)
    most = max(
        latent.numel(), query.shape[:-1].numel() * latent.shape[-2], *map(Tensor.numel, weights)
    )
    facts["small"] = torch.tensor(largest.numel <= most)
    return result


def read_tokens(module: nn.Module, facts: Facts, tokens: Tensor, pieces: list[int]) -> Any:
    """Give a language model tokens, [batch, n], in pieces with caches; in one go without pieces.

    attn_weights: of all layers, for the last piece.
    """
    caches = [GivenCache() for _ in module.blocks]
    in_pieces = [module(piece, caches) for piece in tokens.split(pieces, dim=1)] if pieces else []
    result = torch.cat(in_pieces, dim=1) if pieces else module(tokens)
    facts["attn_weights"] = torch.stack([block.attention.attn_weights for block in module.blocks])
    return result


def draw_often(
    function: Callable,
    facts: Facts,
    logits: Tensor,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> Any:
    """Draw `DRAWS` tokens; return how often each one came.

    possible: which came at all. by_generator: whether the generator alone decides.
    """

    def drawn(count: int) -> list[int]:
        generator = torch.Generator().manual_seed(0)
        return [function(logits, temperature, top_k, top_p, generator) for _ in range(count)]

    state = torch.get_rng_state()
    tokens = drawn(DRAWS)
    if not all(isinstance(token, int) for token in tokens):
        raise WrongResult("plain", describe(tokens[0]))
    facts["by_generator"] = torch.tensor(
        drawn(DRAWS // 10) == tokens[: DRAWS // 10] and torch.equal(torch.get_rng_state(), state)
    )
    counts = torch.zeros(len(logits)).index_add(0, torch.tensor(tokens), torch.ones(DRAWS))
    facts["possible"] = counts > 0
    return counts / DRAWS


def write_on(
    function: Callable,
    facts: Facts,
    model: nn.Module,
    tokens: Tensor,
    n_new: int,
    temperature: float,
    top_k: int | None,
) -> Any:
    """Let a model write.

    read: how many tokens the model was given each time, as it notes in `read`. random: whether
    heat makes a difference.
    """
    result = function(model, tokens, n_new, temperature=temperature, top_k=top_k)
    facts["read"] = torch.tensor(model.read)
    cold, hot = (function(model, tokens, 9, temperature=heat) for heat in (0.0, 1e6))
    facts["random"] = torch.tensor(not torch.equal(cold, hot))
    return result


def run_without_head(
    function: Callable, facts: Facts, model: nn.Module, layer: int, head: int, x: Tensor
) -> Any:
    """Give x to what is left of a model, in x's dtype.

    untouched: whether the model is what it was before.
    """
    before = model.to(x.dtype)(x)
    without = function(model, layer, head)
    if not isinstance(without, nn.Module):
        raise WrongResult("module", describe(without))
    result = without(x)
    facts["untouched"] = torch.tensor(without is not model and torch.equal(model(x), before))
    return result


TRIALS: dict[str, Callable[..., Any]] = {
    trial.__name__: trial
    for trial in (
        append_in_pieces,
        read_in_pieces,
        take_a_step,
        in_little_memory,
        apply_in_little_memory,
        without_keys,
        read_tokens,
        draw_often,
        write_on,
        run_without_head,
    )
}
