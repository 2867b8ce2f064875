"""Rules for the right numbers in the wrong places."""

import torch

from autograder.judging.compare import Comparison, equal
from autograder.judging.differences.weights import weights_wanted
from autograder.judging.differences.words import dim_name, named, named_output, subject

MOVED = 50  # a number in the wrong place is off by this fraction of the spread, or more


def other_output(c: Comparison) -> str | None:
    """A value that belongs in another output."""
    for name, value in c.others.items():
        several = value.numel() > 1 and bool(c.got.any())  # zeros belong anywhere
        if name != c.name and several and equal(c.got, value, c.tolerance):
            return f"{subject(c, 'holds')} what belongs in {named_output(name)}."
    return None


def shuffled_rows(c: Comparison) -> str | None:
    """The right rows in another order."""
    if c.got.dim() < 2 or not c.got.is_floating_point():
        return None
    got, expected = (t.reshape(-1, t.shape[-1]) for t in (c.got.double(), c.expected.double()))
    near = torch.cdist(got, expected, p=float("inf")) <= c.tolerance
    if bool((near.sum(0) == 1).all() and (near.sum(1) == 1).all()):
        return f"{subject(c, 'has')} the right rows, but in the wrong order."
    return None


def reversed_along(c: Comparison) -> str | None:
    """Right in the reverse order along a dimension."""
    for dim in range(c.got.dim()):
        if equal(c.got.flip(dim), c.expected, c.tolerance):
            return f"{subject(c)} right, but in reverse order along {dim_name(c, dim)}."
    return None


def misplaced(c: Comparison) -> str | None:
    """The right numbers in the wrong places."""
    if c.got.numel() < 6 or not c.got.is_floating_point():
        return None
    got, expected = (t.double().flatten().sort().values for t in (c.got, c.expected))
    if not equal(got, expected, c.tolerance) or expected.unique().numel() < 6:
        return None
    spread = expected[-1] - expected[0]
    if c.tolerance * len(got) > spread:  # any numbers of this kind would do
        return None
    if (c.got - c.expected).abs().max() < spread / MOVED:  # nothing has moved far
        return None
    return (
        f"{subject(c, 'holds')} the right numbers, in the wrong places. `view` and `reshape` keep "
        "numbers in their order; dimensions change places with `transpose` or `permute`."
    )


def first_repeated(c: Comparison) -> str | None:
    """The first element along a dimension, repeated along it."""
    for dim in range(c.got.dim() - 1):
        first = c.expected.narrow(dim, 0, min(1, c.expected.shape[dim])).expand_as(c.expected)
        if c.got.shape[dim] > 1 and equal(c.got, first, c.tolerance):
            wrong = {index[dim] for index in c.wrong_at.nonzero().tolist()}
            if len(wrong) == c.got.shape[dim] - 1:
                return (
                    f"{subject(c)} the same all along {dim_name(c, dim)}: right for the first, and "
                    "repeated for the others."
                )
    return None


def only_first_filled(c: Comparison) -> str | None:
    """The first element along a dimension, and zeros after it."""
    if not c.got.is_floating_point() or weights_wanted(c):
        return None
    for dim in range(c.got.dim()):
        first = torch.zeros_like(c.expected)
        first.narrow(dim, 0, min(1, c.got.shape[dim])).copy_(c.expected.narrow(dim, 0, 1))
        if c.got.shape[dim] > 2 and equal(c.got, first, c.tolerance):
            return (
                f"{subject(c)} right at index 0 of {dim_name(c, dim)}, and 0 elsewhere: does a "
                "`return` inside a loop end it too early?"
            )
    return None


def sums_of_what_came_before(c: Comparison) -> str | None:
    """Each value plus all those before it."""
    if not c.got.is_floating_point():
        return None
    for dim in range(c.got.dim()):
        long, sums = c.got.shape[dim] > 2, c.expected.cumsum(dim)
        slack = c.tolerance * c.got.shape[dim]  # which hides the sums if it is too large
        if long and equal(c.got, sums, slack) and not equal(c.expected, sums, slack):
            return (
                f"Each value of {named(c)} also contains all those before it along "
                f"{dim_name(c, dim)}: is a running sum never reset to 0?"
            )
    return None
