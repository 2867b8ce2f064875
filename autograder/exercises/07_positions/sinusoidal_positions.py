"""Sines in the even columns, cosines in the odd ones; d_model is even."""

from collections.abc import Callable
from typing import Any

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def table_of(n: int | None = None, **given: Any) -> Callable[[Draw], dict[str, Any]]:
    """A table of `n` places, or of a few, with an even number of features."""

    def case(draw: Draw) -> dict[str, Any]:
        d_model = draw.among("d_model", 6, 8, 10).size("d_model")
        return {"n": draw.size("n") if n is None else n, "d_model": d_model} | given

    return case


ANGLE_OF_PLACES = "place * base ** (-torch.arange(0, d_model, 2) / d_model)"

EXERCISE = Exercise(
    "sinusoidal_positions",
    returns="positions",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("sine and cosine of every hand", 2, [table_of()]),
        Aspect("another base", 1, [table_of(base=100.0), table_of(base=7.0), table_of(base=500.5)]),
        Aspect(
            "tables of any size",
            1,
            [table_of(1), table_of(300), lambda draw: {"n": 2100, "d_model": 2}],
        ),
    ],
    mistakes=[
        Mistake(
            "sine and cosine swapped",
            "Your cosines are in the even columns. Sines go there, starting with column 0.",
            {
                "0::2] = angle.sin()": "0::2] = angle.cos()",
                "1::2] = angle.cos()": "1::2] = angle.sin()",
            },
        ),
        Mistake(
            "sines twice",
            "Both columns of each hand are sines. The odd columns are cosines.",
            {"angle.cos()": "angle.sin()"},
        ),
        Mistake(
            "first all sines, then all cosines",
            "The numbers are right, but all sines come first. Sine and cosine of a hand belong "
            "side by side: columns 0 and 1, 2 and 3, and so on.",
            "angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)\n"
            "return torch.cat([angle.sin(), angle.cos()], dim=1)",
        ),
        Mistake(
            "exponent i / d_model",
            "Your hands slow down too little: the exponent of hand i is −2i / d_model, and yours "
            "is −i / d_model.",
            {"torch.arange(0, d_model, 2)": "torch.arange(d_model // 2)"},
        ),
        Mistake(
            "exponent −4i / d_model",
            "Your exponent is −4i / d_model, so your hands slow down too much. `torch.arange(0, "
            "d_model, 2)` is already 2i, and the divisor is d_model, not its half.",
            {"torch.arange(0, d_model, 2)": "2 * torch.arange(0, d_model, 2)"},
        ),
        Mistake(
            "only −2 in the exponent",
            "Your exponent is −2, and the rest is a factor: `**` comes before `*` and `/`. Put the "
            "whole exponent in parentheses.",
            {
                "base ** (-torch.arange(0, d_model, 2) / d_model)": (
                    "(base ** -2 * torch.arange(d_model // 2) / d_model)"
                )
            },
        ),
        Mistake(
            "divided by d_model − 2",
            "You spread the exponents from 0 all the way to −1, as the authors' own code does. The "
            "paper's exponent is −2i / d_model, which never gets to −1.",
            {"2) / d_model)": "2) / max(d_model - 2, 1))"},
        ),
        Mistake(
            "faster and faster",
            "Each of your hands is faster than the one before. The exponent is negative.",
            {"base ** (-torch": "base ** (torch"},
        ),
        Mistake(
            "a speed for every column",
            "Sine and cosine of a hand have the same angle. You gave each column an angle of its "
            "own.",
            {
                "torch.arange(0, d_model, 2)": "torch.arange(d_model)",
                "angle.sin()": "angle[:, 0::2].sin()",
                "angle.cos()": "angle[:, 1::2].cos()",
            },
            {
                "torch.arange(0, d_model, 2)": "2 * torch.arange(d_model)",
                "angle.sin()": "angle[:, 0::2].sin()",
                "angle.cos()": "angle[:, 1::2].cos()",
            },
        ),
        Mistake(
            "exponents that don't begin at 0",
            "Your exponents don't begin at 0. The first hand moves on by base⁰ = 1 radian with "
            "every word.",
            {"torch.arange(0, d_model, 2)": "torch.arange(2, d_model + 2, 2)"},
            {"torch.arange(0, d_model, 2)": "torch.arange(-2, d_model - 2, 2)"},
        ),
        Mistake(
            "places that are not a column",
            "You multiplied places and angles one by one. Make the places a column, "
            "`torch.arange(n)[:, None]`, so that every place meets the angle of every hand.",
            {ANGLE_OF_PLACES: ANGLE_OF_PLACES.replace("place", "torch.arange(n)")},
            {
                ANGLE_OF_PLACES: (
                    "base ** (-torch.arange(0, d_model, 2) / d_model) * torch.arange(n)"
                )
            },
        ),
        Mistake(
            "counted from one",
            "Your first place is 1. Places count from 0, so the first row is 0, 1, 0, 1, ….",
            {"torch.arange(n)": "torch.arange(1, n + 1)"},
        ),
        Mistake(
            "base 10000 whatever it is",
            "Your base is always 10000. Use `base`.",
            {"* base **": "* 10000.0 **"},
        ),
        Mistake(
            "transposed",
            "Your table lies on its side: it should have a row for each place, [n, d_model].",
            {"return positions": "return positions.T"},
        ),
        Mistake(
            "exponents in whole numbers",
            "`//` divides to whole numbers, so nearly all your exponents are the same. Use `/`.",
            {"-torch.arange(0, d_model, 2) / d_model": "-(torch.arange(0, d_model, 2) // d_model)"},
        ),
    ],
    alternatives=[
        Alternative(
            "by logarithms",
            {
                ANGLE_OF_PLACES: (
                    "place * torch.exp(torch.arange(0, d_model, 2) * (-math.log(base) / d_model))"
                )
            },
        ),
        Alternative(
            "stacked and flattened",
            "angle = torch.arange(n)[:, None] / base ** (torch.arange(0, d_model, 2) / d_model)\n"
            "return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)",
        ),
        Alternative(
            "number by number",
            """
            positions = torch.zeros(n, d_model)
            for place in range(n):
                for i in range(0, d_model, 2):
                    angle = place / base ** (i / d_model)
                    positions[place, i], positions[place, i + 1] = math.sin(angle), math.cos(angle)
            return positions
            """,
        ),
    ],
    hints=[
        "`torch.arange(0, d_model, 2)` holds 2i for every hand i. The base to the power of −2i / "
        "d_model is the angle a hand turns per place.",
        "Places are a column, [n, 1], angles a row: their product is [n, d_model / 2].",
        "Write the sines into `positions[:, 0::2]` and the cosines into `positions[:, 1::2]`.",
    ],
    excuses={
        "result rounded to float32": "it takes no tensor, so there is no other dtype",
        "result in float": "likewise",
        "result clamped: value.clamp(-1, 1)": "sines and cosines are from −1 to 1",
        "result squeezed at the end": "there are two columns at least",
    },
)
