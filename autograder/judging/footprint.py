"""Footprints: a few numbers, enough to recognize an answer.

A reference knows hundreds of wrong answers; it need not show them, only recognize them. So it keeps
only each tensor's structure and its products with a few fixed random vectors. Tensors that differ
have different products, whichever elements differ.
"""

import hashlib
import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from autograder.asking.answer import Answer
from autograder.asking.problem import Problem, ProblemKind

PRODUCTS = 4
ROUNDED = 1e-4  # how far rounding may put numbers off, as a fraction of their size
# NaN and infinities are replaced by numbers that no answer contains.
STRANGE = {"nan": 1234.5, "posinf": 2345.6, "neginf": -3456.7}


@dataclass(frozen=True)
class Footprint:
    """A digest of an answer's structure (names, dtypes, shapes, changed inputs), and products."""

    structure: str
    products: Tensor
    problem: Problem | None

    def to_tree(self) -> list[Any]:
        problem = [self.problem.kind, self.problem.detail] if self.problem else None
        return [self.structure, self.products, problem]

    @classmethod
    def from_tree(cls, tree: list[Any]) -> "Footprint":
        structure, products, problem = tree
        kind, detail = problem or (None, "")
        return cls(structure, products, Problem(ProblemKind(kind), detail) if kind else None)

    def matches(self, other: "Footprint", slack: Tensor) -> bool:
        """Whether both belong to the same answer, up to `slack` in each product."""
        if self.problem or other.problem:
            return self.problem is not None and self.problem.same_as(other.problem)
        if self.structure != other.structure:
            return False
        # Products of very large values are infinite, and their difference is NaN.
        same = self.products == other.products
        return bool((same | ((self.products - other.products).abs() <= slack)).all())


def footprint(answer: Answer) -> Footprint:
    """Compute the footprint of an answer."""
    tensors = sorted(answer.tensors.items())
    parts = [f"{name} {str(t.dtype)[6:]} {list(t.shape)}" for name, t in tensors]
    parts += [f"lacks {name}: {lack.kind}" for name, lack in answer.lacks.items()]
    if answer.changed:
        parts.append(f"changed {', '.join(answer.changed)}")
    products = [_products(tensor) for _, tensor in tensors]
    structure = hashlib.blake2b("; ".join(parts).encode(), digest_size=8).hexdigest()
    return Footprint(structure, torch.cat([torch.zeros(0), *products]), answer.problem)


def slack(answer: Answer, tolerance: dict[str, float]) -> Tensor:
    """Return how far each product may be off if the elements may be off by `tolerance`.

    Elements that are much larger than the right ones, as some mistakes make them, may be off by
    more: they are rounded more.
    """
    parts = [torch.zeros(0, dtype=torch.float64)]
    for name, tensor in sorted(answer.tensors.items()):
        if off := tolerance.get(name, 0.0) * math.sqrt(max(tensor.numel(), 1)):
            off = max(off, ROUNDED * _values(tensor).norm().item())
        parts.append(torch.full((PRODUCTS,), 4 * off, dtype=torch.float64))
    return torch.cat(parts)


def _products(tensor: Tensor) -> Tensor:
    values = _values(tensor)
    return (_vectors(len(values)) @ values).float()


def _values(tensor: Tensor) -> Tensor:
    return tensor.double().flatten().nan_to_num(**STRANGE)


@cache
def _vectors(length: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(PRODUCTS, length, dtype=torch.float64, generator=generator)
