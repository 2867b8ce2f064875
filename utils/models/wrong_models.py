"""Ways to break lesson 12's model that raise no error.

The lesson's attention calls `rotate`, `attend` and `causal_softmax`, so others can take their place
in the notebook. Whatever else is wrong is done to the model's modules. All of it is undone.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.errors import CourseError

Way = Callable[[Any], AbstractContextManager[None]]  # what it gets is the model
TensorFunction = Callable[..., Tensor]


@contextmanager
def broken(model: nn.Module, mistake: str) -> Iterator[None]:
    """Break a `Llama` of lesson 12 for a while. Raises ValueError for an unknown mistake."""
    if mistake not in MISTAKES:
        raise ValueError(f"there is no mistake {mistake!r}: take one of {', '.join(MISTAKES)}")
    with MISTAKES[mistake](model):
        yield


@contextmanager
def exchanged(model: Any, name: str, other: TensorFunction) -> Iterator[None]:
    """Let the model call another function for a while, in the place of one of the notebook's.

    name: of the notebook's function.
    other: gets that function as its first argument.
    Raises CourseError if nothing has called the other one in the end.
    """
    notebook = type(model.blocks[0].attention).forward.__globals__
    own, calls = notebook[name], count()

    def counted(*arguments: Any) -> Tensor:
        next(calls)
        return other(own, *arguments)

    notebook[name] = counted
    try:
        yield
    finally:
        notebook[name] = own
    if next(calls) == 0:
        raise CourseError(
            f"Nothing was exchanged, because the model doesn't call `{name}`. Call it in your "
            "attention, make the model again, and load it."
        )


def calling(name: str, other: TensorFunction) -> Way:
    return lambda model: exchanged(model, name, other)


def weighed(change: Callable[[Tensor, Tensor], Tensor]) -> Way:
    """Make attention weights of scores in another way: change(attn_scores, keep)."""

    def other(causal_softmax: TensorFunction, attn_scores: Tensor) -> Tensor:
        n_query, n_key = attn_scores.shape[-2:]
        keep = torch.ones(attn_scores.shape[-2:]).bool().tril(n_key - n_query)
        return change(attn_scores, keep)

    return calling("causal_softmax", other)


def replaced(part: str, other: Callable[[Any], nn.Module]) -> Way:
    """Put another module in the place of a part of the model, which it is made from."""

    @contextmanager
    def way(model: Any) -> Iterator[None]:
        own = getattr(model, part)
        setattr(model, part, other(own))
        try:
            yield
        finally:
            setattr(model, part, own)

    return way


def rebuilt(change: Callable[[list[nn.Module]], list[nn.Module]]) -> Way:
    """Give the model other blocks, made of its own."""
    return replaced("blocks", lambda own: nn.ModuleList(change(list(own))))


def twice(change: Callable[[Any], None]) -> Way:
    """Change the model in a way that undoes itself the second time."""

    @contextmanager
    def way(model: Any) -> Iterator[None]:
        change(model)
        try:
            yield
        finally:
            change(model)

    return way


def swapped(first: str, second: str) -> Way:
    """Swap two parts of each block, such as "feed_forward.gate" and "feed_forward.up"."""

    def swap(model: Any) -> None:
        for block in model.blocks:
            one, other = block.get_submodule(first), block.get_submodule(second)
            block.set_submodule(first, other)
            block.set_submodule(second, one)

    return twice(swap)


def hooked(kind: str, hook: Callable[..., Any], after: bool = False) -> Way:
    """Run a hook before, or after, all modules of the class with this name."""

    @contextmanager
    def way(model: Any) -> Iterator[None]:
        modules = [module for module in model.modules() if type(module).__name__ == kind]
        hooks = [
            module.register_forward_hook(hook) if after else module.register_forward_pre_hook(hook)
            for module in modules
        ]
        try:
            yield
        finally:
            for each in hooks:
                each.remove()

    return way


def with_eps(eps: float) -> Way:
    def hook(norm: nn.Module, inputs: tuple[Tensor], normed: Tensor) -> Tensor:
        """Undo the division by the root with the norm's own ε, and divide by another."""
        mean_square = inputs[0].square().mean(dim=-1, keepdim=True)
        own: Any = norm.eps
        return normed * ((mean_square + own) / (mean_square + eps)).sqrt()

    return hooked("RMSNorm", hook, after=True)


def subtract_mean(norm: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
    return (inputs[0] - inputs[0].mean(dim=-1, keepdim=True),)


def one_more(norm: Any, inputs: tuple[Tensor], normed: Tensor) -> Tensor:
    return normed * (1 + norm.weight) / norm.weight


def by_gelu(network: Any, inputs: tuple[Tensor], result: Tensor) -> Tensor:
    gate, up = network.gate(inputs[0]), network.up(inputs[0])
    return network.down(F.gelu(gate).mul(up))


def swap_halves(model: Any) -> None:
    """Swap the two halves of all blocks of 32 weights: in the file, low bits and high bits."""
    for part in model.blocks.modules():
        if isinstance(part, nn.Linear):
            part.weight.data = part.weight.data.unflatten(1, (-1, 2, 16)).flip(2).flatten(1)


def halves(rotate: TensorFunction, x: Tensor, positions: Tensor, base: float) -> Tensor:
    """Turn features i and i + d_head / 2 together."""
    pairs = x.unflatten(-1, (2, -1)).mT.flatten(-2)
    return rotate(pairs, positions, base).unflatten(-1, (-1, 2)).mT.flatten(-2)


def later_by_one(positions: Tensor) -> Tensor:
    """Places that a cache counts one too few, in all pieces but the first."""
    return positions - int(positions[0] > 0)


def tiled(attend: TensorFunction, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Let query heads take turns among the key heads, instead of sharing with their neighbors."""
    group = query.shape[1] // key.shape[1]
    return attend(query, *(x.repeat(1, group, 1, 1) for x in (key, value)))


def softmax(attn_scores: Tensor, keep: Tensor) -> Tensor:
    return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def not_itself(attn_scores: Tensor, keep: Tensor) -> Tensor:
    n_query, n_key = keep.shape
    earlier = keep.tril(n_key - n_query - 1)
    earlier[:, 0] = True  # the first token has nothing else to see
    return softmax(attn_scores, earlier)


def top_left(attn_scores: Tensor, keep: Tensor) -> Tensor:
    return softmax(attn_scores, torch.ones_like(keep).tril())


def one_ahead(attn_scores: Tensor, keep: Tensor) -> Tensor:
    n_query, n_key = keep.shape
    return softmax(attn_scores, torch.ones_like(keep).tril(n_key - n_query + 1))


# What is wrong → how to make it wrong.
MISTAKES: dict[str, Way] = {
    "places count from 1": calling(
        "rotate", lambda rotate, x, places, base: rotate(x, places + 1, base)
    ),
    "ε is 1e-6": with_eps(1e-6),
    "ε is 1e-3": with_eps(1e-3),
    "the base is 500,000": calling(
        "rotate", lambda rotate, x, places, base: rotate(x, places, 500_000.0)
    ),
    "the base is 10,000": calling(
        "rotate", lambda rotate, x, places, base: rotate(x, places, 10_000.0)
    ),
    "norms subtract the mean": hooked("RMSNorm", subtract_mean),
    "blocks 10 and 11 swapped": rebuilt(lambda b: [*b[:10], b[11], b[10], *b[12:]]),
    "block 10 missing": rebuilt(lambda blocks: blocks[:10] + blocks[11:]),
    "the first block missing": rebuilt(lambda blocks: blocks[1:]),
    "the last block missing": rebuilt(lambda blocks: blocks[:-1]),
    "no token sees itself": weighed(not_itself),
    "no causal mask": weighed(lambda attn_scores, keep: attn_scores.softmax(dim=-1)),
    "each token sees the next one": weighed(one_ahead),
    "masked after softmax": weighed(lambda attn_scores, keep: attn_scores.softmax(dim=-1) * keep),
    "the mask's corner at the top left": weighed(top_left),
    "each piece starts at place 0": calling(
        "rotate", lambda rotate, x, places, base: rotate(x, places - places[0], base)
    ),
    "the cache counts one too few": calling(
        "rotate", lambda rotate, x, places, base: rotate(x, later_by_one(places), base)
    ),
    "no rotation": calling("rotate", lambda rotate, x, places, base: x),
    "turned backward": calling("rotate", lambda rotate, x, places, base: rotate(x, -places, base)),
    "halves for pairs": calling("rotate", halves),
    "scores not scaled": calling(
        "attend",
        lambda attend, query, key, value: attend(query * query.shape[-1] ** 0.5, key, value),
    ),
    "scores divided by d_head": calling(
        "attend",
        lambda attend, query, key, value: attend(query / query.shape[-1] ** 0.5, key, value),
    ),
    "key heads in turns": calling("attend", tiled),
    "keys for values": calling("attend", lambda attend, query, key, value: attend(query, key, key)),
    "the two norms swapped": swapped("attention_norm", "feed_forward_norm"),
    "gate and up swapped": swapped("feed_forward.gate", "feed_forward.up"),
    "GELU for SiLU": hooked("GatedFeedForward", by_gelu, after=True),
    "norms by weight + 1": hooked("RMSNorm", one_more, after=True),
    "no last norm": replaced("norm", lambda own: nn.Identity()),
    "low and high bits swapped": twice(swap_halves),
}
