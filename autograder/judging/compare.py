"""Compare one output with its expected value."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Comparison:
    """An output and its expected value.

    name: the output's name.
    dims: its named dimensions, such as "*batch n_query n_key".
    sizes: the size of each named dimension in this case.
    most_error: the largest mean squared error allowed; if given, it replaces the tolerance.
    others: all the outputs expected in this case, by name.
    label: the case's name, "" if its sizes say enough.
    choices: what to say about a wrong choice; a number in the output is an index into this list.
    """

    name: str
    got: Tensor
    expected: Tensor
    tolerance: float
    dims: str
    sizes: dict[str, int]
    most_error: float | None = None
    others: dict[str, Tensor] = field(default_factory=dict)
    label: str = ""
    choices: list[str] = field(default_factory=list)

    @property
    def error(self) -> float:
        """Mean squared error; infinite if the shapes differ or a value is not finite."""
        if self.got.shape != self.expected.shape:
            return math.inf
        error = (self.got.double() - self.expected.double()).square().mean().item()
        return error if math.isfinite(error) else math.inf

    @property
    def right(self) -> bool:
        if self.most_error is not None:
            return self.error <= self.most_error
        return equal(self.got, self.expected, self.tolerance)

    @property
    def wrong_at(self) -> Tensor:
        """Where the values differ, as booleans. Requires equal shapes."""
        return ~_close(self.got, self.expected, self.tolerance)


def equal(a: Tensor, b: Tensor, tolerance: float) -> bool:
    """Whether two tensors have the same shape, dtype and, within `tolerance`, values."""
    same_form = a.shape == b.shape and a.dtype == b.dtype
    return same_form and bool(_close(a, b, tolerance).all())


def _close(a: Tensor, b: Tensor, tolerance: float) -> Tensor:
    if not a.is_floating_point():
        return a == b
    return torch.isclose(a.double(), b.double(), rtol=0, atol=tolerance, equal_nan=True)
