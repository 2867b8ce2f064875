"""What the two layouts of rotary positions share: aspects, and mistakes in both."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.layouts import permuted
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, connected
from autograder.lessons.parts import SecondCall
from autograder.lessons.variants import Mistake

DISTANCE = "place - place[n_key - n_query :, None]"


def scattered(draw: Draw, most: int) -> Tensor:
    """Different places from 1 to `most` for n words, in any order."""
    return 1 + torch.randperm(most, generator=draw.generator)[: draw.size("n")]


def turns(
    dims: str, base: float | None = None, far: bool = False, stacked: bool = False, **sizes: int
) -> Callable[[Draw], dict[str, Any]]:
    """x with these dimensions, at places 0, 1, 2, … or, if `far`, at any others up to 50.

    stacked: whether another dimension comes in front.
    """

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes).among("d_head", 6, 8)
        places = scattered(draw, 50) if far else torch.arange(draw.size("n"))
        x = draw.normal(dims)
        given = {"x": torch.stack([x, 2 * x]) if stacked else x, "positions": places}
        return given if base is None else given | {"base": base}

    return case


def far_in_half_precision(dtype: torch.dtype) -> Callable[[Draw], dict[str, Any]]:
    """Odd places from the thousands on, which half precision rounds, and many frequencies."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.choose("d_head", 32, 64)
        x = draw.normal("n d_head").to(dtype)
        return {"x": x, "positions": 3001 + 2 * scattered(draw, 10_000)}

    return case


def heads_of_words(draw: Draw) -> dict[str, Any]:
    """Heads as a transpose leaves them."""
    draw.among("d_head", 6, 8).label("heads split by `transpose`")
    x = permuted(draw, "batch n n_heads d_head", (0, 2, 1, 3))
    return {"x": x, "positions": scattered(draw, 50)}


TURNED = [
    Aspect("each pair turned by its place", 1, [turns("n d_head")]),
    Aspect(
        "places that are not 0, 1, 2, …",
        1,
        [
            turns("n d_head", far=True),
            turns("batch n d_head", far=True, n=1),
            far_in_half_precision(torch.float16),
            far_in_half_precision(torch.bfloat16),
        ],
    ),
    Aspect(
        "a batch, and heads",
        1,
        [
            turns("batch n d_head"),
            turns("batch n_heads n d_head", stacked=True),
            heads_of_words,
            turns("batch n_heads n d_head"),
        ],
    ),
    Aspect(
        "another base",
        1,  # of the same sizes, at the same places
        [turns("n d_head", base, n=5, d_head=8) for base in (100.0, 500.5, 5e5)],
    ),
    connected(turns("n d_head")),
]
OTHER_PLACES = SecondCall(after=turns("n d_head", far=True))
ALSO_TURNED = (*SIZES, Form.HALF, *CALLS)
ANGLE = "angle = positions[:, None] * theta"
PAIR = "a * cos - b * sin, a * sin + b * cos"


# What goes wrong in both layouts.
WRONG_TURNS = [
    Mistake(
        "wrong direction",
        "You turned the other way. The paper's matrix has −sin in its first row.",
        {PAIR: "a * cos + b * sin, b * cos - a * sin"},
    ),
    Mistake(
        "minus sign forgotten",
        "One of the two sines needs a minus sign. Without it, this isn't a rotation: lengths "
        "change.",
        {PAIR: "a * cos + b * sin, a * sin + b * cos"},
    ),
    Mistake(
        "a reflection",
        "Your second feature should be a · sin + b · cos. With a minus sign there, pairs "
        "change their length, so they aren't turned.",
        {PAIR: "a * cos - b * sin, a * sin - b * cos"},
    ),
    Mistake(
        "features of a pair swapped",
        "You swapped the two features of each pair: a · cos − b · sin is the first.",
        {PAIR: "a * sin + b * cos, a * cos - b * sin"},
    ),
    Mistake(
        "sine and cosine swapped",
        "Sine and cosine are swapped: at place 0, where nothing should turn, your pairs are "
        "turned by a right angle.",
        {PAIR: "a * sin - b * cos, a * cos + b * sin"},
    ),
    Mistake(
        "exponent i / d_head",
        "The exponent of pair i is −2i / d_head, and yours is −i / d_head: your pairs slow "
        "down too little.",
        {"torch.arange(0, d_head, 2)": "torch.arange(d_head // 2)"},
    ),
    Mistake(
        "exponent −4i / d_head",
        "Your exponent is −4i / d_head, so your pairs slow down too much. `torch.arange(0, d_head, "
        "2)` is already 2i, and the divisor is d_head, not its half.",
        {"torch.arange(0, d_head, 2)": "(2 * torch.arange(0, d_head, 2))"},
    ),
    Mistake(
        "exponents from 0 to −1",
        "You spread the exponents from 0 all the way to −1. The last one is "
        "−(d_head − 2) / d_head.",
        {"torch.arange(0, d_head, 2) / d_head": "torch.linspace(0, 1, d_head // 2)"},
    ),
    Mistake(
        "exponents that don't begin at 0",
        "Your exponents don't begin at 0. The first pair turns by base⁰ = 1 radian per place.",
        {"torch.arange(0, d_head, 2)": "torch.arange(2, d_head + 2, 2)"},
        {"torch.arange(0, d_head, 2)": "torch.arange(-2, d_head - 2, 2)"},
    ),
    Mistake(
        "faster and faster",
        "Each of your pairs turns faster than the one before. The exponent is negative.",
        {"1 / base **": "base **"},
    ),
    Mistake(
        "places that are not a column",
        "You multiplied places and angles one by one. Make the places a column, "
        "`positions[:, None]`, so that every place meets the angle of every pair.",
        {ANGLE: "angle = positions * theta"},
        {ANGLE: "angle = theta * positions"},
    ),
    Mistake(
        "one place too far",
        "Every word is turned as if it were one place later. At place 0, nothing turns.",
        {"positions[:, None]": "(positions[:, None] + 1)"},
    ),
    Mistake(
        "places counted instead of taken",
        "You turned the words as if they were at 0, 1, 2, …. Their places are in `positions`.",
        {"positions[:, None]": "torch.arange(x.shape[-2])[:, None]"},
    ),
    Mistake(
        "places counted from the first word's",
        "You moved all places so that the first is 0. Scores won't notice, but `positions` "
        "says where the words are: take it as it is.",
        {"positions[:, None]": "(positions - positions[0])[:, None]"},
    ),
    Mistake(
        "counted on from the first word's place",
        "You took the place of the first word and counted on from there. Places may have gaps and "
        "come in any order: take each word's own.",
        {"positions[:, None]": "(positions[0] + torch.arange(x.shape[-2]))[:, None]"},
    ),
    Mistake(
        "a single word left as it is",
        "You leave a single word as it is. It may stand at any place, and turns by it.",
        {"d_head = x": "if x.shape[-2] == 1:\n        return x\n    d_head = x"},
    ),
    Mistake(
        "base 10000 whatever it is",
        "Your base is always 10000. Use `base`.",
        {"1 / base **": "1 / 10000.0 **"},
    ),
    Mistake(
        "angles in half precision",
        "Something on the way to your angles has the dtype of x. Half precision can't tell place "
        "3000 from place 3001, and an error per place grows with the place: compute the angles in "
        "float32, and convert their sines and cosines.",
        {ANGLE: "angle = positions[:, None] * theta.to(x.dtype)"},
        {ANGLE: "angle = positions[:, None].to(x.dtype) * theta.to(x.dtype)"},
        {ANGLE: "angle = positions[:, None] * theta.to(x.dtype).float()"},
    ),
    Mistake(
        "not converted back",
        "Your result has the dtype of the angles. Compute these in float32, and convert their "
        "sines and cosines to the dtype of x.",
        {"angle.cos().to(x.dtype), angle.sin().to(x.dtype)": "angle.cos(), angle.sin()"},
    ),
    Mistake(
        "one angle for all pairs",
        "All your pairs turn at the same speed. Pair i turns by base^(−2i / d_head) per place.",
        {"1 / base ** (torch.arange(0, d_head, 2) / d_head)": "torch.ones(d_head // 2)"},
    ),
]
