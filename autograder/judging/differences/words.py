"""Words for outputs, dimensions, places and numbers."""

import math
from itertools import groupby

import torch
from torch import Tensor

from autograder.asking.answer import GRADIENT
from autograder.judging.compare import Comparison

FEATURES = ("d_k", "d_head")  # whose root divides scores
PLURALS = {"row": "rows", "index": "indices"}
MOST_RUNS = 4


def name_dims(shape: tuple[int, ...], dims: str) -> str:
    """Format a shape with the names of its dimensions: "(batch=2, n_query=3)".

    A name with a star covers all leading dimensions that have no name of their own.
    """
    names = dims.split()
    if names and names[0].startswith("*"):
        leading = len(shape) - len(names) + 1
        names = [names[0][1:]] * leading + names[1:]
    if len(names) != len(shape):
        return str(tuple(shape))
    inside = ", ".join(
        name if name.isdigit() else f"{name}={size}"
        for name, size in zip(names, shape, strict=True)
    )
    return f"({inside})"


def named(c: Comparison) -> str:
    return named_output(c.name)


def named_output(name: str) -> str:
    if name.startswith(GRADIENT):
        return f"the {GRADIENT}`{name.removeprefix(GRADIENT)}`"
    return f"`{name}`" if name else "the result"


def subject(c: Comparison, verb: str = "is") -> str:
    name = named(c)
    return f"{name[0].upper()}{name[1:]} {verb}"


def dim_name(c: Comparison, dim: int) -> str:
    """Name a dimension of the output as its annotation does; else by its number."""
    names = c.dims.split()
    from_the_end = c.got.dim() - dim
    if from_the_end <= len(names) and not names[-from_the_end].startswith("*"):
        return f"`{names[-from_the_end]}`"
    return f"dimension {dim}"


def first_index(where: Tensor) -> tuple[int, ...]:
    return tuple(where.nonzero()[0].tolist())


def places(where: Tensor, word: str) -> str:
    """Name the places along a dimension where something holds: "row 3", "rows 0 to 2, 5".

    where: booleans, [n], at least one of them True.
    """
    found = where.nonzero().flatten().tolist()
    side_by_side = groupby(enumerate(found), lambda pair: pair[1] - pair[0])
    runs = [[place for _, place in run] for _, run in side_by_side]
    named = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    more = " …" if len(named) > MOST_RUNS else ""
    return f"{word if len(found) == 1 else PLURALS[word]} {', '.join(named[:MOST_RUNS])}{more}"


def number(value: Tensor) -> str:
    return f"{value.item():.4g}"


def apart(got: Tensor, expected: Tensor) -> str:
    """Format two different numbers with as many digits as it takes to tell them apart."""
    for digits in range(4, 18):
        pair = f"{got.item():.{digits}g}", f"{expected.item():.{digits}g}"
        if pair[0] != pair[1]:
            break
    return " where ".join(pair)


def largest_gap(c: Comparison) -> str:
    # A number is infinitely far from NaN; equal infinities do not differ.
    gap = (c.got.double() - c.expected.double()).abs().nan_to_num(nan=math.inf)
    gap = torch.where(c.wrong_at, gap, 0.0)
    place = first_index(gap == gap.max())
    return f"at {place}: {apart(c.got[place], c.expected[place])} should be."


def name_factor(factor: float, sizes: dict[str, int]) -> str:
    """Name a factor that is a size, the root of one, or an inverse of these; "" for others.

    There are many ways to get a power of 2, so only the number of features explains one.
    """
    named: dict[float, str] = {}
    is_power = any(math.isclose(math.frexp(factor)[0], half, rel_tol=1e-3) for half in (0.5, 1.0))
    for name, size in sizes.items():
        if not size or (is_power and name not in FEATURES):
            continue
        named |= {float(size): name, math.sqrt(size): f"√{name}"}
        named |= {1 / size: f"1/{name}", 1 / math.sqrt(size): f"1/√{name}"}
    words = (w for value, w in named.items() if math.isclose(factor, value, rel_tol=1e-3))
    return next((f", which is {w} here" for w in words), "")


def name_divisor(factor: float, sizes: dict[str, int]) -> str:
    """Say what scores were divided by if that explains the factor; "" if it does not."""
    for features in (name for name in FEATURES if name in sizes):
        right = math.sqrt(sizes[features])
        known = {float(size): name for name, size in sizes.items()}
        known |= {math.sqrt(size): f"√{name}" for name, size in sizes.items()}
        # Whoever wrote a whole number may not have meant a size.
        known |= {float(value): str(value) for value in range(2, 10)}
        for value, words in known.items():
            if math.isclose(right / factor, value, rel_tol=1e-3):
                return f", as if divided by {words}, not by √{features} = {right:.4g}"
    return ""
