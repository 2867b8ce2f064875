"""Rotary position embeddings: a right one for lesson 8, and ten wrong ones for lesson 7 to find.

Each takes x, [..., n, d_head], and positions, [n], as `rotate` does.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

BASE = 10000.0


def _angles(positions: Tensor, d_head: int, base: float = BASE, step: float = 2.0) -> Tensor:
    """Compute position times base to the power of −step · i / d_head, [n, d_head / 2]."""
    pair = torch.arange(d_head // 2, dtype=torch.float64)
    return positions[:, None] * base ** (-step * pair / d_head)


def _pairs(x: Tensor) -> tuple[Tensor, ...]:
    return x.unflatten(-1, (-1, 2)).unbind(-1)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.view_as_real(torch.complex(*_pairs(x)) * torch.complex(cos, sin)).flatten(-2)


def _rotated(x: Tensor, positions: Tensor, base: float = BASE, step: float = 2.0) -> Tensor:
    angle = _angles(positions, x.shape[-1], base, step)
    return _turned(x, angle.cos(), angle.sin())


def _half_of_the_head(x: Tensor, positions: Tensor) -> Tensor:
    half = x.shape[-1] // 4 * 2
    return torch.cat([_rotated(x, positions)[..., :half], x[..., half:]], dim=-1)


def _sine_for_cosine(x: Tensor, positions: Tensor) -> Tensor:
    angle = _angles(positions, x.shape[-1])
    return _turned(x, angle.sin(), angle.cos())


def _missing_sign(x: Tensor, positions: Tensor) -> Tensor:
    angle = _angles(positions, x.shape[-1])
    (a, b), cos, sin = _pairs(x), angle.cos(), angle.sin()
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def _halves_mixed_with_pairs(x: Tensor, positions: Tensor) -> Tensor:
    angle = _angles(positions, x.shape[-1]).repeat(1, 2)  # the angles of halves
    a, b = _pairs(x)
    other = torch.stack([-b, a], dim=-1).flatten(-2)  # the partners of pairs
    return x * angle.cos() + other * angle.sin()


def rotate_pairs(x: Tensor, positions: Tensor) -> Tensor:
    """Turn x, [..., n, d_head], by its positions, [n], as it should be, in the dtype of x."""
    angle = _angles(positions, x.shape[-1])
    return _turned(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype))


WRONG_ROTATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "wrong direction": lambda x, positions: _rotated(x, -positions),
    "exponent i / d": partial(_rotated, step=1.0),
    "base 500": partial(_rotated, base=500.0),
    "sign of the exponent forgotten": partial(_rotated, step=-2.0),
    "half of the features left alone": _half_of_the_head,
    "sine and cosine swapped": _sine_for_cosine,
    "minus sign forgotten": _missing_sign,
    "one place too far": lambda x, positions: _rotated(x, positions + 1),
    "place // 2": lambda x, positions: _rotated(x, positions // 2),
    "halves mixed with pairs": _halves_mixed_with_pairs,
}
