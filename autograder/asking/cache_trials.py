"""Trials of caches and memories, and of models that read with them: see `asking.trials`."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.learners_code import names_beside
from autograder.asking.memory_trials import ROOM, all_tensors, recording
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, describe, wrong_type
from autograder.asking.unchanged import as_it_was, same_state
from autograder.utils.costs import reachable_tensors

ABOUT = 0.01  # how far off a gradient may be; rounding has tests of its own


class GivenCache:
    """A correct cache: it keeps all keys and values so far, or returns those within a window.

    It has what lesson 10's own cache has.
    """

    def __init__(self, window: int | None = None) -> None:
        self.window, self.length, self.n_heads = window, 0, 0
        self.pieces: list[tuple[Tensor, Tensor]] = []

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        n_past, self.n_heads = self.length, key.shape[1]
        self.pieces.append((key, value))
        keys, values = (torch.cat(parts, dim=2) for parts in zip(*self.pieces, strict=True))
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
    earlier: whether gradients flow back through what it returned for all pieces.
    """
    cache = cache_class() if window is None else cache_class(window=window)
    try:
        result = _append(cache, key, value, pieces)
    finally:  # what caches share may be what went wrong
        _require_own_memory(cache_class)
    if not hasattr(cache, "window"):
        raise WrongResult(ProblemKind.ATTRIBUTE, "window")
    if cache.window != window:
        said = f"Made with a `window` of {window}, the cache has {cache.window!r} as `self.window`"
        raise WrongResult(ProblemKind.OTHER_ATTRIBUTE, said)
    facts["length"] = _number(cache, "length")
    per_word = (key.nbytes + value.nbytes) // key.shape[-2]
    most = ROOM * per_word * (sum(pieces) if window is None else window)
    facts["forgets"] = torch.tensor(
        most >= sum(pieces) * per_word
        or _bytes_kept(cache_class, window, key, value, pieces) <= most
    )
    wanted = _gradient_of_squares(GivenCache(window), key, pieces)
    found = _gradient_of_squares(cache_class(window=window), key, pieces)
    facts["earlier"] = torch.tensor(torch.allclose(found, wanted, ABOUT, ABOUT))
    return result


def _append(cache: Any, key: Tensor, value: Tensor, pieces: list[int]) -> Any:
    """Append keys and values in pieces; return what the cache returns for the last one."""
    for new_key, new_value in zip(key.split(pieces, -2), value.split(pieces, -2), strict=True):
        result = cache.append(new_key.clone(), new_value.clone())
    return result


def _gradient_of_squares(cache: Any, key: Tensor, pieces: list[int]) -> Tensor:
    """Return the gradient of the squares of all that a cache returns for the pieces of a key.

    A square needs its number on the way back: it may not have been overwritten by then.
    """
    leaf = key.detach().clone().requires_grad_()
    with torch.enable_grad():
        returned = (cache.append(new, 2 * new) for new in leaf.split(pieces, -2))
        total = sum((part**2).sum() for pair in returned for part in pair)
        try:
            return torch.autograd.grad(total, leaf)[0]
        except RuntimeError:
            return torch.zeros_like(leaf)


def _require_own_memory(cache_class: Callable[..., Any]) -> None:
    """Raise WrongResult if a class, or a default of its constructor, holds tensors."""
    defaults = inspect.signature(cache_class).parameters
    shared = dict(vars(cache_class)) | {name: each.default for name, each in defaults.items()}
    for name, value in shared.items():
        if any(True for _ in all_tensors(value)):
            raise WrongResult(ProblemKind.KEPT_ON_CLASS, name)


def _bytes_kept(
    cache_class: Callable[..., Any],
    window: int | None,
    key: Tensor,
    value: Tensor,
    pieces: list[int],
) -> int:
    """Return how many bytes a new cache keeps after the last piece, wherever it keeps them."""
    with recording() as record:
        cache = cache_class(window=window)
        _append(cache, key, value, pieces)
    return record.held


def _number(owner: Any, name: str) -> Tensor:
    """Return a whole number that an object keeps. Raises WrongResult if it doesn't."""
    if not hasattr(owner, name):
        raise WrongResult(ProblemKind.ATTRIBUTE, name)
    value = getattr(owner, name)
    if not isinstance(value, int):
        raise wrong_type(ProblemKind.PLAIN, value, name)
    return torch.tensor(value)


def read_in_pieces(
    module: nn.Module, facts: Facts, x: Tensor, pieces: list[int], window: int | None
) -> Any:
    """Give a module x, [batch, n, d_model], in pieces with a cache, or in one go without pieces.

    Before each piece, it reads one of another text, with another cache.

    cached_heads: how many heads the cache is given.
    afterwards: the result in one go, after the module has read in pieces.
    """
    cache = GivenCache(window)
    result = _read(module, x, pieces, cache, GivenCache(window))
    facts["cached_heads"] = torch.tensor(cache.n_heads)
    if pieces:
        facts["afterwards"] = module(x)
    return result


def read_by_name(
    module: nn.Module, facts: Facts, x: Tensor, pieces: list[int], window: int | None
) -> Any:
    """Give a module x as `read_in_pieces` does, and note how it uses the notebook's functions.

    by_name: whether it calls `attend` and `rotate` by their names, so that others can take their
        place.
    turned_once: whether it turns each query once, and each key that goes into the cache.
    """
    beside = names_beside(type(module))
    with _noting(beside, "attend") as attended, _noting(beside, "rotate") as turned:
        result = read_in_pieces(module, facts, x, pieces, window)
    facts["by_name"] = torch.tensor(bool(attended and turned))
    if pieces:
        once = not turned or _each_once(turned, x, int(facts["cached_heads"]))  # type: ignore[arg-type]
        facts["turned_once"] = torch.tensor(once)
    return result


def _each_once(turned: list[Tensor], x: Tensor, cached_heads: int) -> bool:
    """Whether as much was turned as there are queries and keys, in three readings of a text."""
    keys = x[..., 0].numel() * cached_heads * turned[0].shape[-1]
    return sum(each.numel() for each in turned) == 3 * (x.numel() + keys)


@contextlib.contextmanager
def _noting(beside: dict[str, Any], name: str) -> Iterator[list[Tensor]]:
    """Note what a function of the notebook is first given, each time it's called by its name."""
    given: list[Tensor] = []
    if not (own := beside.get(name)):
        yield given
        return

    def noting(*arguments: Any, **others: Any) -> Any:
        given.append([*arguments, *others.values()][0])
        return own(*arguments, **others)

    beside[name] = noting
    try:
        yield given
    finally:
        beside[name] = own


def _read(
    module: nn.Module, whole: Tensor, pieces: list[int], kept: Any, of_another: Any
) -> Tensor:
    """Read a text in pieces, each after one of another text, or in one go without pieces.

    kept, of_another: the caches for the text, and for the other one.
    """
    if not pieces:
        return _joined([module(whole)])
    read = []
    for piece in whole.split(pieces, dim=1):
        with torch.no_grad():
            module(piece.flip(1), of_another)
        read.append(module(piece, kept))
    return _joined(read)


def _joined(read: list[Any]) -> Tensor:
    """Join the results for pieces of a text. Raises WrongResult if one is no tensor."""
    for result in read:
        if not isinstance(result, Tensor):
            raise wrong_type(ProblemKind.TYPE, result)
    return torch.cat(read, dim=1)


class GivenMemory:
    """What lesson 11's memory is before the first word."""

    def __init__(self) -> None:
        self.state = self.tail = None


def read_with_memory(module: nn.Module, facts: Facts, x: Tensor, pieces: list[int]) -> Any:
    """Give a module x, [batch, n, d_model], in pieces with a memory, or in one go without pieces.

    Between the pieces, it reads another text, with another memory.

    state, tail: what the memory holds at the end.
    fixed: whether memory and module never hold much more than after the first piece.
    old: whether what the memory held before a piece is still what it was.
    afterwards: the result in one go, after the module has read in pieces, and another text.
    afresh: the same, with a new memory.
    nothing_kept: whether the module holds no more after all this than before.
    """
    if not pieces:
        return module(x)
    before = _numbers_held(module)
    new_memory = names_beside(type(module)).get("Memory", GivenMemory)
    memory, of_another = new_memory(), new_memory()
    read, held, old = [], [_numbers_held(module, memory)], []
    for piece in x.split(pieces, dim=1):
        kept = [value for value in vars(memory).values() if isinstance(value, Tensor)]
        old += [(tensor, tensor.clone()) for tensor in kept]
        read.append(module(piece, memory))
        with torch.no_grad():
            module(piece.flip(1), of_another)
        held.append(_numbers_held(module, memory) - held[0])
    facts["fixed"] = torch.tensor(max(held[1:]) <= ROOM * held[1])
    facts["old"] = torch.tensor(all(torch.equal(now, before) for now, before in old))
    for name in ("state", "tail"):
        facts[name] = _kept(memory, name)
    del memory, of_another  # what is noted about them must not be taken for a new one's
    facts["afresh"] = module(x, new_memory())
    with torch.no_grad():
        module(x.flip(1))
    facts["afterwards"] = module(x)
    facts["nothing_kept"] = torch.tensor(_numbers_held(module) <= before)
    return _joined(read)


def _numbers_held(*owners: object) -> int:
    return sum(tensor.numel() for tensor in reachable_tensors(owners))


def _kept(memory: object, name: str) -> Tensor | WrongResult:
    """Return the tensor that a memory has as an attribute, or what is wrong with it."""
    value = getattr(memory, name, None)
    if isinstance(value, Tensor):
        return value
    said = f"After the last piece, `memory.{name}` is {describe(value)}, not a tensor"
    return WrongResult(ProblemKind.OTHER_ATTRIBUTE, said)


def read_tokens(module: nn.Module, facts: Facts, tokens: Tensor, pieces: list[int]) -> Any:
    """Give a language model tokens, [batch, n], in pieces with caches, or in one go without pieces.

    n_context: the model's own.
    attn_weights: those of all layers, for the last piece; empty if a layer has none.
    afterwards: the logits in one go, after the model has read in pieces.
    """
    facts["n_context"] = _number(module, "n_context")
    result = _logits(module, tokens, pieces)
    facts["attn_weights"] = _attn_weights(module)
    if pieces:
        facts["afterwards"] = module(tokens)
    return result


def read_with_caches(module: nn.Module, facts: Facts, tokens: Tensor, pieces: list[int]) -> Any:
    """Give a language model tokens, [batch, n], in pieces with caches, or in one go without pieces.

    afterwards: the logits in one go, after the model has read in pieces.
    """
    result = _logits(module, tokens, pieces)
    if pieces:
        facts["afterwards"] = module(tokens)
    return result


def _logits(module: nn.Module, tokens: Tensor, pieces: list[int]) -> Tensor:
    caches, of_another = ([GivenCache() for _ in blocks_of(module)] for _ in range(2))
    return _read(module, tokens, pieces, caches, of_another)


def _attn_weights(module: nn.Module) -> Tensor:
    found = [getattr(block.attention, "attn_weights", None) for block in blocks_of(module)]
    weights = [each for each in found if each is not None]
    return torch.stack(weights) if len(weights) == len(found) else torch.zeros(0)


def with_own_llama(
    function: Callable[..., Any],
    facts: Facts,
    sizes: list[float],
    seed: int,
    tokens: Tensor,
    *others: Any,
) -> Any:
    """Give a function the notebook's own `Llama`, with drawn weights, and what else it takes.

    sizes: the arguments of `Llama`, in their order.
    another_text: the result for another text, by the same model.
    put_back: whether the notebook's functions are what they were.
    """
    if "Llama" not in (beside := names_beside(function)):
        raise NameError("name 'Llama' is not defined")
    try:
        model = _drawn(beside["Llama"](*sizes), seed)
        model(tokens[:1, :1])  # attributes that it sets by itself are there from now on
    except NotImplementedError:  # if the function isn't written either, its own error counts
        with contextlib.suppress(AttributeError):
            function(None, tokens, *others)
        raise
    functions = {name: each for name, each in beside.items() if inspect.isfunction(each)}
    with same_state(function, {"model": model}), as_it_was(*model.modules()):
        result = function(model, tokens, *others)
        facts["another_text"] = function(model, (tokens + 1) % int(sizes[0]), *others)
    after = names_beside(function)
    put_back = all(after.get(name) is each for name, each in functions.items())
    facts["put_back"] = torch.tensor(put_back)
    return result


def _drawn(model: nn.Module, seed: int) -> nn.Module:
    """Draw a model's weights. Some of its parts are in train mode, and some can be trained."""
    generator = torch.Generator().manual_seed(seed)
    for number, (_, parameter) in enumerate(sorted(model.named_parameters())):
        drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.data.copy_(drawn / parameter.shape[-1] ** (0.5 * (parameter.dim() - 1)))
        parameter.requires_grad_(number % 2 == 0)
    for number, part in enumerate(model.modules()):
        part.training = number % 2 == 0
    return model


def blocks_of(model: nn.Module) -> Sequence[Any]:
    """Return the blocks of a language model."""
    return model.blocks  # type: ignore[return-value]  # to torch, a tensor or module
