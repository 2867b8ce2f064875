"""Rules for numbers that are off in a way that has a name."""

import math

import torch
from torch import Tensor

from autograder.asking.answer import GRADIENT
from autograder.judging.code_marks import count
from autograder.judging.compare import Comparison, equal
from autograder.judging.differences.words import (
    first_index,
    largest_gap,
    name_divisor,
    name_factor,
    named,
    number,
    subject,
)
from autograder.judging.finding import SENTENCES, General

STANDS_OUT = 20  # times the tolerance
ENOUGH = 4  # so many numbers have few digits by no accident


def too_few_digits(c: Comparison) -> str | None:
    """Right, but with fewer digits than the dtype has."""
    if not c.got.is_floating_point() or c.got.dim() == 0:
        return None
    scale = max(1.0, c.expected.abs().nan_to_num(posinf=1.0).max().item())
    few = "" if _few_digits(c.expected, c.expected) else _few_digits(c.got, c.expected)
    if not equal(c.got, c.expected, (1e-2 if few else 1e-3) * scale):
        return None
    said = f"{subject(c)} almost right: {largest_gap(c)}"
    if few:
        return f"{said} {few}"
    if c.expected.dtype is torch.float64 and equal(c.got, c.expected, 1e-5 * scale):
        return (
            f"{subject(c)} right to about 7 digits, and the inputs are float64, with 16. "
            "Something on the way is float32 (a `.float()`, or a tensor made without "
            "`dtype=x.dtype`), or a small number is added."
        )
    return (
        f"{said} Something changes it only a little: fewer digits on the way, a small number "
        "added, or a factor near 1."
    )


def _few_digits(values: Tensor, exact: Tensor) -> str:
    """Say how many digits the values have; "" if they have as many as their dtype."""
    if values.numel() < ENOUGH or values.dtype is torch.float16:
        return ""
    for dtype in (torch.float16, torch.bfloat16):
        if torch.equal(values, values.to(dtype).to(values.dtype)):
            return "No number has more digits than half precision holds."
    rounded = (n for n in range(1, 6) if torch.equal(values, values.round(decimals=n)))
    digits = next(rounded, 0)
    if not digits or not equal(values, exact, 0.51 * 10**-digits):
        return ""
    return f"All numbers are rounded to {count(digits, 'decimal')}."


def no_gradient(c: Comparison) -> str | None:
    """A gradient of zeros where it should not be zero."""
    if not c.name.startswith(GRADIENT) or c.got.any():
        return None
    return f"{subject(c)} 0 everywhere, so nothing flows back. {SENTENCES[General.BROKEN_PATH]}"


def all_the_same(c: Comparison) -> str | None:
    """One value everywhere."""
    if c.got.numel() < 2 or not (c.got == c.got.flatten()[0]).all():
        return None
    return f"{subject(c)} the same everywhere: {number(c.got.flatten()[0])}."


def rounded_down(c: Comparison) -> str | None:
    """The right values, rounded down to whole numbers."""
    if not c.got.is_floating_point() or not equal(c.got, c.expected.floor(), c.tolerance):
        return None
    if c.expected.abs().max() < 1:
        return f"{subject(c, 'holds')} only whole numbers. If you divide, do it by `/`, not `//`."
    return f"{subject(c)} rounded down to whole numbers. `//` does that; `/` divides."


def times_a_size(c: Comparison) -> str | None:
    """A single number that is too large or too small by a factor that is exactly a size."""
    if c.got.dim() or not c.got.is_floating_point():
        return None
    for name, size in c.sizes.items():
        for factor, words in ((size, f"times {size}"), (1 / size, f"divided by {size}")):
            if size > 1 and math.isclose(c.got, c.expected * factor, rel_tol=1e-5):
                return f"{subject(c)} the right number {words}, which is {name} here."
    return None


def constant_factor(c: Comparison) -> str | None:
    """Right up to a factor, named if it is a size, the root of one, or an inverse of these."""
    if not c.got.is_floating_point():
        return None
    largest = c.expected.abs().max()
    if not c.tolerance < largest < math.inf or c.expected.numel() == 1:
        return None
    place = first_index(c.expected.abs() == largest)
    factor = (c.got[place] / c.expected[place]).item()
    if not math.isfinite(factor) or abs(factor) < 1e-3:
        return None
    if not equal(c.got / factor, c.expected, c.tolerance / min(abs(factor), 1.0)):
        return None
    cause = name_factor(factor, c.sizes) or name_divisor(factor, c.sizes)
    return f"{subject(c, 'holds')} the right values times {factor:.4g}{cause}."


def _stands_out(offset: Tensor, c: Comparison) -> bool:
    """Whether a difference is so large that what is left after it is subtracted doesn't count."""
    return bool(offset.abs().max() > STANDS_OUT * c.tolerance)


def row_offset(c: Comparison) -> str | None:
    """Right except for a number added to each row."""
    if not c.got.is_floating_point() or c.got.dim() == 0 or c.got.shape[-1] < 2:
        return None
    offset = (c.got - c.expected)[..., :1]
    if not (_stands_out(offset, c) and equal(c.got - offset, c.expected, 2 * c.tolerance)):
        return None
    if c.got.dim() == 1:
        return f"Each value of {named(c)} is off by the same number, {offset.item():+.4g}."
    return f"Each row of {named(c)} is off by a constant of its own."


def same_vector_added(c: Comparison) -> str | None:
    """Right except for one vector that is added to every row."""
    few = c.got.dim() < 2 or c.got.shape[-1] < 2 or c.got.numel() == c.got.shape[-1]
    if few or not c.got.is_floating_point():
        return None
    offset = (c.got - c.expected).reshape(-1, c.got.shape[-1])[:1]
    if not (_stands_out(offset, c) and equal(c.got - offset, c.expected, 2 * c.tolerance)):
        return None
    return f"{subject(c)} off by the same vector in every row: is a bias missing, or one too many?"


def lost_signs(c: Comparison) -> str | None:
    """Right except that negative values became positive or 0."""
    if not c.got.is_floating_point() or not (c.expected < 0).any():
        return None
    if equal(c.got, c.expected.abs(), c.tolerance):
        return f"{subject(c)} right but for the signs: negative values have become positive."
    if equal(c.got, c.expected.relu(), c.tolerance):
        return f"{subject(c)} right where it is positive, and 0 where it should be negative."
    return None


def cut_off(c: Comparison) -> str | None:
    """Right except that values beyond a bound became that bound."""
    if not c.got.is_floating_point() or not c.expected.isfinite().all():
        return None
    low, high = c.got.min(), c.got.max()
    between = (c.expected > low + c.tolerance) & (c.expected < high - c.tolerance)
    if not between.any() or not equal(c.got, c.expected.clamp(low, high), c.tolerance):
        return None
    return f"{subject(c)} cut off: no value is below {number(low)} or above {number(high)}."
