"""Compare a freshly built reference with the stored one.

Whatever is exact on every machine, such as the inputs, has to be equal. But processors round
differently: expected values may be off by their own measured tolerance, and footprints by a
fraction of their scale. Predictions of a trained model differ altogether.
"""

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from autograder.judging.footprint import PRODUCTS, Footprint
from autograder.judging.key import AnswerKey, CaseKey, MistakeKey
from autograder.references.store import LessonReference

ROUNDING = 1e-5  # share of a tensor's scale
# Mistakes are computed in float32; where large terms cancel, only rounding errors are left.
FOOTPRINT_ROUNDING = 1e-3
FOOTPRINT_NOISE = 60.0  # tolerances, for a sum of many elements


def differences(fresh: LessonReference, stored: LessonReference) -> Iterator[str]:
    """Yield each difference in words; none if `stored` is up to date."""
    if fresh.source != stored.source:
        yield "the sources differ"
    yield from _in_tree("exercises", list(fresh.keys), list(stored.keys))
    for name in fresh.keys.keys() & stored.keys.keys():
        questions = fresh.questions[name].to_tree(), stored.questions[name].to_tree()
        yield from _in_tree(f"the question of {name}", *questions, slack=0.0)
        yield from _in_key(name, fresh.keys[name], stored.keys[name])


def _in_key(name: str, fresh: AnswerKey, stored: AnswerKey) -> Iterator[str]:
    yield from _in_tree(f"the key of {name}", _plain(fresh), _plain(stored))
    if len(fresh.cases) != len(stored.cases) or len(fresh.mistakes) != len(stored.mistakes):
        yield f"{name} has different cases or mistakes"
        return
    for number, cases in enumerate(zip(fresh.cases, stored.cases, strict=True)):
        yield from _in_case(f"case {number} of {name}", *cases)
    for mistakes in zip(fresh.mistakes, stored.mistakes, strict=True):
        yield from _in_mistake(name, *mistakes, fresh.cases)


def _plain(key: AnswerKey) -> dict[str, Any]:
    return key.to_tree() | {"cases": None, "mistakes": None}


def _in_case(where: str, fresh: CaseKey, stored: CaseKey) -> Iterator[str]:
    apart = {"expected": None, "tolerance": None}
    yield from _in_tree(where, vars(fresh) | apart, vars(stored) | apart)
    yield from _in_tree(f"outputs of {where}", list(fresh.expected), list(stored.expected))
    for name, value in fresh.expected.items():
        if name in stored.expected:
            slack = fresh.tolerance.get(name)
            yield from _in_tree(f"{name} of {where}", value, stored.expected[name], slack)
    for name, tolerance in fresh.tolerance.items():
        if not math.isclose(tolerance, stored.tolerance.get(name, -1.0), rel_tol=0.5):
            yield f"the tolerance of {name} of {where}"


def _in_mistake(
    exercise: str, fresh: MistakeKey, stored: MistakeKey, cases: list[CaseKey]
) -> Iterator[str]:
    where = f"the mistake {fresh.name!r} of {exercise}"
    yield from _in_tree(where, [fresh.name, fresh.say], [stored.name, stored.say])
    for variants in zip_longest(fresh.variants, stored.variants, fillvalue=()):
        if len(set(map(len, variants))) > 1:
            yield f"{where} has different variants"
            return
        for number, (one, other, case) in enumerate(zip(*variants, cases, strict=False)):
            if not _same_footprint(one, other, case):
                yield f"{where}, case {number}"


def _same_footprint(fresh: Footprint, stored: Footprint, case: CaseKey) -> bool:
    if fresh.problem or stored.problem:
        return fresh.problem is not None and fresh.problem.same_as(stored.problem)
    if fresh.structure != stored.structure:
        return False
    if case.most_error:  # the answer was trained: rounding errors grow with every step
        return True
    noise = FOOTPRINT_NOISE * max(case.tolerance.values(), default=ROUNDING)
    groups = zip(fresh.products.split(PRODUCTS), stored.products.split(PRODUCTS), strict=True)
    return all(_close(a, b, noise + FOOTPRINT_ROUNDING * _scale(a)) for a, b in groups)


def _in_tree(where: str, fresh: Any, stored: Any, slack: float | None = None) -> Iterator[str]:
    """Compare trees.

    slack: how far tensors may be off; by default, `ROUNDING` times their scale.
    """
    match fresh, stored:
        case Tensor(), Tensor():
            same_form = fresh.shape == stored.shape and fresh.dtype == stored.dtype
            slack = ROUNDING * _scale(fresh) if slack is None else slack
            if not (same_form and _close(fresh, stored, slack)):
                yield where
        case dict(), dict() if list(fresh) == list(stored):
            for name in fresh:
                yield from _in_tree(f"{name} in {where}", fresh[name], stored[name], slack)
        case (list() | tuple(), list() | tuple()) if len(fresh) == len(stored):
            for a, b in zip(fresh, stored, strict=True):
                yield from _in_tree(where, a, b, slack)
        case _ if type(fresh) is not type(stored) or fresh != stored:
            yield f"{where}: {fresh!r:.200} was {stored!r:.200}"


def _close(a: Tensor, b: Tensor, slack: float) -> bool:
    if not a.is_floating_point():
        return a.equal(b)
    return torch.allclose(a.double(), b.double(), rtol=0, atol=slack, equal_nan=True)


def _scale(values: Tensor) -> float:
    finite = values[values.isfinite()].double()
    return finite.abs().max().item() if finite.numel() else 0.0
