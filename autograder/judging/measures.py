"""Measures: judge an answer by what it does, where many different answers are right."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import Answer
from autograder.asking.arguments import make_all
from autograder.asking.problem import Problem, ProblemKind

MOST_NUMBERS = 20_000  # in an input; a hundred times what any exercise needs
ALIKE = 1e-4
TOLD_APART, WORDS = "told_apart", "words"


def measured(measure: str, arguments: Mapping[str, Any], answer: Answer) -> Answer:
    """Replace an answer's outputs with what a measure says about them; "" leaves them as they are.

    arguments: descriptions of what the learner's function got, which is built anew.
    """
    if not measure or answer.problem:
        return answer
    function = MEASURES[measure]
    needed = answer.tensors | make_all(dict(arguments))
    if needed.keys() != signature(function).parameters.keys():
        forged = Problem(ProblemKind.COUNT, "other things than what was asked for")
        return Answer(problem=forged)
    return replace(answer, tensors=function(**needed))


def tell_apart(healthy: nn.Module, ill: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """Whether two modules answer differently to x, [batch, n, d_model], and its number of words.

    An input for which the healthy one has no finite answer doesn't count.
    """
    words = x.shape[:-1].numel() if x.dim() == 3 else 0
    return {TOLD_APART: torch.tensor(_differ(healthy, ill, x)), WORDS: torch.tensor(words)}


def _differ(healthy: nn.Module, ill: nn.Module, x: Tensor) -> bool:
    if x.numel() > MOST_NUMBERS:
        return False
    try:
        with torch.no_grad():
            right, other = healthy(x), ill(x)
    except Exception:  # x has a shape or dtype that the modules can't take
        return False
    return bool(right.isfinite().all()) and not torch.allclose(right, other, rtol=0, atol=ALIKE)


def reflect(key: Tensor, i: int, j: int, n: int) -> dict[str, Tensor]:
    """What becomes of n rows that hold 1, 2, …, n, if they are reflected by `key`, [n].

    A key and its opposite reflect alike.
    """
    if key.shape != (n,) or not key.is_floating_point():
        return {"rows": key}
    rows = torch.arange(1, n + 1, dtype=key.dtype)
    return {"rows": rows - 2 * (key @ rows) * key}


MEASURES: dict[str, Callable[..., dict[str, Tensor]]] = {
    "tell apart": tell_apart,
    "reflect": reflect,
}
