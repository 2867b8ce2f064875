"""Rules for attention weights: rows that should sum to 1."""

import torch
from torch import Tensor

from autograder.judging.compare import Comparison, equal
from autograder.judging.differences.words import (
    dim_name,
    first_index,
    name_divisor,
    name_factor,
    number,
    subject,
)


def not_divided(c: Comparison) -> str | None:
    """Weights that are right once each row is divided by its sum."""
    if not weights_wanted(c) or c.got.shape[-1] == 1:
        return None
    sums = c.got.sum(-1, keepdim=True)
    if are_ones(sums, 1e-3) or not equal(c.got / sums, c.expected, c.tolerance):
        return None
    return f"{subject(c, 'needs')} one more step: divide each row by its sum."


def divided_by_other_rows(c: Comparison) -> str | None:
    """Column j divided by the sum of row j, instead of each row by its own sum."""
    square = c.got.dim() > 1 and c.got.shape[-1] == c.got.shape[-2] > 2
    if not square or not weights_wanted(c) or not ((c.got > 0) & (c.expected > 1e-6)).all():
        return None
    ratio = (c.got / c.expected).double().log()
    first = ratio[..., :, :1]
    if not equal(ratio, first - first.mT, 1e-3) or equal(first, torch.zeros_like(first), 1e-2):
        return None
    return (
        f"{subject(c)} divided by the sums of other rows: a sum has lost its dimension, which "
        "`keepdim=True` keeps."
    )


def causal_mask_added(c: Comparison) -> str | None:
    """Weights of 0 for all later keys, where no key should be masked."""
    if not weights_wanted(c) or c.got.dim() < 2 or c.got.shape[-1] < 3:
        return None
    later = torch.ones(c.got.shape[-2:], dtype=torch.bool).triu(1)
    seen = (c.expected > 0).all() and (c.got[..., ~later] > 0).all()
    if not seen or c.got[..., later].any():
        return None
    return (
        f"{subject(c)} 0 above the diagonal. That hides all that comes later (a causal mask), and "
        "nothing should be hidden here."
    )


def untouched_by_softmax(c: Comparison) -> str | None:
    """Scores where their softmax or exponential should be."""
    if not c.got.is_floating_point() or c.got.dim() == 0:
        return None
    if equal(c.got.softmax(-1), c.expected, c.tolerance):
        return f"{subject(c)} not weights yet: their softmax would be right."
    if equal(c.got.exp(), c.expected, c.tolerance):
        return f"{subject(c)} the logarithm of what it should be."
    return None


def softmax_twice(c: Comparison) -> str | None:
    """The softmax of the right weights."""
    if not weights_wanted(c) or not equal(c.got, c.expected.softmax(-1), c.tolerance):
        return None
    return f"{subject(c, 'went')} through softmax twice."


def softmax_elsewhere(c: Comparison) -> str | None:
    """Weights that sum to 1 along another dimension."""
    if not weights_wanted(c) or are_ones(c.got.sum(-1), 1e-3):
        return None
    dims = (dim for dim in range(c.got.dim() - 1) if c.got.shape[dim] > 1)
    for dim in dims:
        if are_ones(c.got.sum(dim), 1e-4):
            keys = "over the keys, " if c.dims.endswith("n_key") else "along "
            return (
                f"Your weights sum to 1 along {dim_name(c, dim)}. Take softmax {keys}the last "
                "dimension: `dim=-1`."
            )
    return None


def other_scale(c: Comparison) -> str | None:
    """Weights computed from the right scores times a number."""
    if not weights_wanted(c) or not are_ones(c.got.sum(-1), 1e-4) or c.got.shape[-1] < 2:
        return None
    if not ((c.got > 1e-6).all() and (c.expected > 1e-6).all()):
        return None
    got, expected = (t.double().log() for t in (c.got, c.expected))
    got, expected = (t - t.mean(-1, keepdim=True) for t in (got, expected))
    factor = (got * expected).sum() / expected.square().sum()
    if not 1e-3 < factor.abs() < 1e3 or not equal(got, factor * expected, 1e-2):
        return None
    cause = name_factor(factor.item(), c.sizes) or name_divisor(factor.item(), c.sizes)
    return f"These are the weights you get from the right scores times {factor.item():.4g}{cause}."


def rows_do_not_sum_to_1(c: Comparison) -> str | None:
    """Weights whose rows do not sum to 1."""
    sums = c.got.sum(-1) if weights_wanted(c) else None
    if sums is None or are_ones(sums, 1e-3):
        return None
    if are_ones(c.got.sum(), 1e-3) and not _some_are_ones(sums):
        return "All your weights together sum to 1. Each row should sum to 1 by itself."
    worst = sums.flatten()[(sums - 1).abs().argmax()]
    cause = name_factor(worst.item(), c.sizes)
    return f"Each row of weights should sum to 1; one of yours sums to {number(worst)}{cause}."


def weight_elsewhere(c: Comparison) -> str | None:
    """Weights with a goal that they miss: where they are farthest from it."""
    if c.most_error is None or not weights_wanted(c) or not c.got.isfinite().all():
        return None
    if said := rows_do_not_sum_to_1(c):
        return said
    off = (c.got - c.expected).abs()
    query, key = place = first_index(off == off.max())
    gives, wanted = (f"{weights[place].item():.2f}" for weights in (c.got, c.expected))
    return f"Word {query} gives word {key} {gives} of its attention; {wanted} would be right."


def weights_wanted(c: Comparison) -> bool:
    """Whether rows that sum to 1 are expected, and the answer holds floating-point numbers."""
    if not c.got.is_floating_point() or c.got.dim() == 0:
        return False
    return bool((c.expected >= 0).all()) and are_ones(c.expected.sum(-1), 1e-4)


def are_ones(values: Tensor, tolerance: float) -> bool:
    return equal(values, torch.ones_like(values), tolerance)


def _some_are_ones(values: Tensor) -> bool:
    return any(are_ones(value, 1e-3) for value in values.flatten())
