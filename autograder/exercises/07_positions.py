"""Lesson 7: positions, in five ways, and what each of them delivers."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    HALF,
    ONES,
    Aspect,
    Exercise,
    ModuleCase,
)
from autograder.lessons.variants import Alternative, Mistake

# ---------------------------------------------------------------- sinusoidal_positions


def table_of(n: int | None = None, **given: Any) -> Callable[[Draw], dict[str, Any]]:
    """A table of `n` places, or of a few, with an even number of features."""

    def case(draw: Draw) -> dict[str, Any]:
        d_model = draw.choose("d_model", 6, 8, 10).size("d_model")
        return {"n": draw.size("n") if n is None else n, "d_model": d_model} | given

    return case


ANGLE_OF_PLACES = "place * base ** (-torch.arange(0, d_model, 2) / d_model)"

sinusoidal_positions = Exercise(
    "sinusoidal_positions",
    returns="positions",
    also=(AGAIN,),
    aspects=[
        Aspect("sine and cosine of every hand", 2, [table_of()]),
        Aspect("another base", 1, [table_of(base=100.0), table_of(base=7.0)]),
        Aspect(
            "tables of any size",
            1,
            [table_of(1), table_of(40), lambda draw: {"n": draw.size("n"), "d_model": 2}],
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
            "Your hands slow down too much: `torch.arange(0, d_model, 2)` is already 2i.",
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
            "You spread the exponents from 0 all the way to −1, as some published code does. The "
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
        "result in float32": "likewise",
        "result clamped: value.clamp(-1, 1)": "sines and cosines are from −1 to 1",
        "result squeezed at the end": "there are two columns at least",
    },
)

# ---------------------------------------------------------------- relative_bias


def lookup(max_distance: int, more: int = 0) -> Callable[[Draw], dict[str, Any]]:
    """Some words ask, and `more` words come before them."""

    def case(draw: Draw) -> dict[str, Any]:
        n_query = draw.size("n_query")
        table = draw.normal_of((2 * max_distance + 1, draw.size("n_heads")))
        return {"table": table, "n_query": n_query, "n_key": n_query + more}

    return case


DISTANCE = "place - place[n_key - n_query :, None]"

relative_bias = Exercise(
    "relative_bias",
    returns="bias",
    aspects=[
        Aspect("the row of each distance", 1, [lookup(8)]),
        Aspect("distances that are too far", 1, [lookup(1), lookup(2), lookup(0)]),
        Aspect("when only the last words ask", 1, [lookup(3, more=3), lookup(1, more=8)]),
        Aspect("gradients reach the table", 1, [lookup(1, more=1)], gradients=True),
    ],
    mistakes=[
        Mistake(
            "query − key",
            "Your distances have the wrong sign: the distance is key − query, negative for the "
            "words before. Row 0 is for those farthest back.",
            {DISTANCE: "place[n_key - n_query :, None] - place"},
        ),
        Mistake(
            "the first words ask",
            "Your queries are the first places. They are the last `n_query` of the `n_key` places: "
            "the first of them is at n_key − n_query.",
            {"place[n_key - n_query :, None]": "place[:n_query, None]"},
        ),
        Mistake(
            "not clipped",
            "You didn't clip the distances. A row number a little below 0 counts from the end of "
            "the table, without complaint; one farther out, on either side, raises an error.",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance).clamp(max=len(table) - 1) % len(table)"
                )
            },
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "distance + max_distance"
                )
            },
        ),
        Mistake(
            "clipped on one side",
            "You clipped the distances on one side only. Words far before and words far after the "
            "query both need it.",
            {"clamp(-max_distance, max_distance)": "clamp(min=-max_distance)"},
            {"clamp(-max_distance, max_distance)": "clamp(max=max_distance)"},
        ),
        Mistake(
            "clipped after moving up",
            "You added max_distance first, and clipped then. Clip first: −max_distance and "
            "max_distance are limits for distances, not for rows.",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance).clamp(-max_distance, max_distance)"
                )
            },
        ),
        Mistake(
            "max_distance is always 2",
            "Your max_distance is always 2. The table tells you what it is: there are "
            "2 · max_distance + 1 rows.",
            {"max_distance = len(table) // 2": "max_distance = 2"},
        ),
        Mistake(
            "moved the wrong way",
            "Your distances are too large by twice n_key − n_query. The queries' places are that "
            "much higher, so the distances, key − query, are lower.",
            {DISTANCE: "place - place[:n_query, None] + (n_key - n_query)"},
        ),
        Mistake(
            "one place too early",
            "Your queries are one place too early. The last of them is at n_key − 1, so the first "
            "is at n_key − n_query.",
            {DISTANCE: "place - (place[:n_query, None] + n_key - n_query - 1)"},
        ),
        Mistake(
            "no sign",
            "You used the same row for words equally far before and after the query. The table has "
            "a separate row for each.",
            {"distance.clamp(": "distance.abs().clamp("},
        ),
        Mistake(
            "nothing after the query",
            "All words after the query got the row of distance 0. The table has rows for them, "
            "too.",
            {"clamp(-max_distance, max_distance)": "clamp(-max_distance, 0)"},
        ),
        Mistake(
            "row 0 for distance 0",
            "Row 0 is for the distance −max_distance, so add max_distance to get the row.",
            {
                "clamp(-max_distance, max_distance) + max_distance": (
                    "clamp(-max_distance, max_distance)"
                )
            },
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They belong in front: [n_heads, "
            "n_query, n_key].",
            {".permute(2, 0, 1)": ""},
        ),
        Mistake(
            "keys before queries",
            "Your rows are keys and your columns are queries. It's the other way around.",
            {".permute(2, 0, 1)": ".permute(2, 1, 0)"},
        ),
    ],
    alternatives=[
        Alternative(
            "score by score",
            """
            m = len(table) // 2
            rows = []
            for query in range(n_key - n_query, n_key):
                row = [table[min(max(key - query, -m), m) + m] for key in range(n_key)]
                rows.append(torch.stack(row))
            return torch.stack(rows).permute(2, 0, 1)
            """,
        ),
        Alternative(
            "all places, then the last rows",
            """
            m = len(table) // 2
            place = torch.arange(n_key)
            row = (place[None] - place[:, None] + m).clamp(0, 2 * m)
            return torch.movedim(table[row], -1, 0)[:, n_key - n_query :]
            """,
        ),
        Alternative(
            "by F.embedding",
            {"table[row].permute(2, 0, 1)": "F.embedding(row, table).permute(2, 0, 1)"},
        ),
    ],
    hints=[
        "Make the distances first: the keys' places are a row, the queries' places a column. The "
        "queries' places are the last `n_query` of 0, 1, …, n_key − 1.",
        "`clamp(-m, m)` clips, and adding m turns distances into row numbers: −m becomes row 0.",
        "`table[row]` is [n_query, n_key, n_heads]. `permute(2, 0, 1)` brings the heads to the "
        "front.",
    ],
    excuses={
        "score by score / arguments swapped: max": "the order does not matter",
        "score by score / arguments swapped: min": "likewise",
    },
)

# ---------------------------------------------------------------- alibi_bias


def linear(n_heads: int, more: int = 0) -> Callable[[Draw], dict[str, Any]]:
    def case(draw: Draw) -> dict[str, Any]:
        n_query = draw.size("n_query")
        draw.label(f"{n_heads} heads")
        return {"n_heads": n_heads, "n_query": n_query, "n_key": n_query + more}

    return case


def one_word(draw: Draw) -> dict[str, Any]:
    return {"n_heads": 4, "n_query": 1, "n_key": 1}


EXTRA = "slopes(2 * power)[0::2][: n_heads - power]"
ALL_SLOPES = "slopes(power) + extra"

alibi_bias = Exercise(
    "alibi_bias",
    returns="bias",
    also=(AGAIN,),
    aspects=[
        Aspect("slope times distance", 2, [linear(8), linear(1), linear(2), linear(16)]),
        Aspect("numbers of heads that aren't powers of two", 1, [linear(6), linear(5), linear(11)]),
        Aspect("when only the last words ask", 1, [linear(4, more=3), one_word]),
    ],
    mistakes=[
        Mistake(
            "the paper's sentence for every number",
            "Your slopes follow the paper's sentence, 2^(−8h/n) for every n. The authors' code "
            "does so only if n is a power of two.",
            {ALL_SLOPES: "slopes(n_heads)"},
        ),
        Mistake(
            "one half, one quarter, for any number",
            "Your slopes are ½, ¼, … whatever the number of heads. That is the sequence for 8 "
            "heads: for n heads, it starts at 2^(−8/n), which is its ratio, too.",
            {ALL_SLOPES: "[2.0 ** -(head + 1) for head in range(n_heads)]"},
        ),
        Mistake(
            "a power that is too small",
            "For 8 heads, you start from the slopes of 4. The power of two may equal n_heads.",
            {
                "power = 2 ** int(math.log2(n_heads))": (
                    "power = 1\n    while power * 2 < n_heads:\n        power *= 2"
                )
            },
        ),
        Mistake(
            "extra slopes in front",
            "The slopes are right, but the extra ones come last.",
            {ALL_SLOPES: "extra + slopes(power)"},
        ),
        Mistake(
            "cut from the next power of two",
            "You took the first slopes of the next power of two. Start with all slopes of the "
            "power of two *below*, and get the rest from every other slope of the next one, "
            "beginning with its first.",
            {ALL_SLOPES: "slopes(power if power == n_heads else 2 * power)[:n_heads]"},
        ),
        Mistake(
            "every second slope from the second on",
            "Get the rest from the first, third, fifth, … slopes of the next power of two. You "
            "took the second, fourth, …, which you already have.",
            {EXTRA: "slopes(2 * power)[1::2][: n_heads - power]"},
        ),
        Mistake(
            "the next slopes in a row",
            "Get the rest from *every other* slope of the next power of two, not from its first "
            "few.",
            {EXTRA: "slopes(2 * power)[: n_heads - power]"},
        ),
        Mistake(
            "sorted",
            "The slopes are right, but you sorted them. The code appends the extra ones at the "
            "end.",
            {ALL_SLOPES: "sorted(slopes(power) + extra, reverse=True)"},
        ),
        Mistake(
            "the first head is one step off",
            "Your first slope is 1. The sequence starts with its ratio, 2^(−8/n).",
            {"(head + 1)": "head"},
        ),
        Mistake(
            "far is better",
            "Your bias rewards distance: it grows with the number of words in between. The "
            "distance is key − query, negative for the words before.",
            {DISTANCE: "place[n_key - n_query :, None] - place"},
        ),
        Mistake(
            "far on both sides",
            "For the words before the query, your bias is right. For those after it, the formula "
            "says slope · (key − query), too, which is positive. (Without a mask, a model would "
            "need yours.)",
            {"slope[:, None, None] * distance": "-slope[:, None, None] * distance.abs()"},
        ),
        Mistake(
            "nothing after the query",
            "You hid the words after the query. The formula holds for every key; hiding is the "
            "mask's job.",
            {"slope[:, None, None] * distance": "slope[:, None, None] * distance.clamp(max=0)"},
            {
                "slope[:, None, None] * distance": (
                    "(slope[:, None, None] * distance).masked_fill(distance > 0, -math.inf)"
                )
            },
        ),
        Mistake(
            "the place of the key alone",
            "You multiplied the slope by the key's place, as the authors' code does. Softmax can't "
            "see the difference, but here the bias is 0 where a word meets itself: subtract the "
            "query's place.",
            {DISTANCE: "place.expand(n_query, n_key)"},
        ),
        Mistake(
            "the first words ask",
            "Your queries are the first places. They are the last `n_query` of the `n_key` places.",
            {"place[n_key - n_query :, None]": "place[:n_query, None]"},
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They belong in front.",
            {"slope[:, None, None] * distance": "distance[:, :, None] * slope"},
        ),
    ],
    alternatives=[
        Alternative(
            "every second one of the next power",
            """
            power = 1
            while power < n_heads:
                power *= 2
            slope = [2 ** (-8 * (head + 1) / power) for head in range(power)]
            slope = slope if power == n_heads else (slope[1::2] + slope[::2])[:n_heads]
            place = torch.arange(n_key)
            return torch.tensor(slope)[:, None, None] * (place - place[n_key - n_query :, None])
            """,
        ),
        Alternative(
            "exponent by exponent",
            """
            power = 1 << (n_heads.bit_length() - 1)
            exponents = [8 * (head + 1) / power for head in range(power)]
            exponents += [8 * (head + 0.5) / power for head in range(n_heads - power)]
            slope = torch.tensor([2.0**-exponent for exponent in exponents])
            distance = torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None]
            return torch.einsum("h,qk->hqk", slope, distance)
            """,
        ),
    ],
    hints=[
        "First for a power of two: `[2 ** (-8 * (head + 1) / n) for head in range(n)]`. Then "
        "multiply each slope by the matrix of distances.",
        "`2 ** int(math.log2(n_heads))` is the largest power of two that isn't above n_heads.",
        "`slopes(2 * power)[0::2]` takes every other slope. Of these, you need n_heads − power.",
    ],
    excuses={
        "result rounded to float32": "it takes no tensor, so there is no other dtype",
        "result in float32": "likewise",
        "every second one of the next power / another comparison: power < n_heads": (
            "for a power of two, every second slope of the next one is what it has itself"
        ),
        "every second one of the next power / another number: 1 → 2": "likewise",
    },
)

# ---------------------------------------------------------------- rotate


def scattered(draw: Draw, most: int) -> Tensor:
    """Different places below `most`, in any order, one for each of n words."""
    return torch.randperm(most, generator=draw.generator)[: draw.size("n")]


def turns(
    dims: str, base: float | None = None, far: bool = False
) -> Callable[[Draw], dict[str, Any]]:
    """x of these dimensions, at places 0, 1, 2, … or, if `far`, at any places up to 50."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(d_head=6)
        places = scattered(draw, 50) if far else torch.arange(draw.size("n"))
        given = {"x": draw.normal(dims), "positions": places}
        return given if base is None else given | {"base": base}

    return case


def far_in_half_precision(draw: Draw) -> dict[str, Any]:
    """Odd places in the thousands, which float16 rounds to even ones."""
    draw.fix(d_head=6)
    return {"x": draw.normal("n d_head").half(), "positions": 3001 + 2 * scattered(draw, 500)}


TURNED = [
    Aspect("each pair turned by its place", 2, [turns("n d_head")]),
    Aspect(
        "places that are not 0, 1, 2, …",
        1,
        [turns("n d_head", far=True), far_in_half_precision],
    ),
    Aspect("a batch, and heads", 1, [turns("batch n d_head"), turns("batch n_heads n d_head")]),
    Aspect("another base", 1, [turns("n d_head", base=100.0), turns("n d_head", base=5e5)]),
]
ALSO_TURNED = (ONES, HALF, GRADIENTS, AGAIN)
PAIR = "a * cos - b * sin, a * sin + b * cos"


def wrong_turns() -> list[Mistake]:
    """What goes wrong in both layouts."""
    return [
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
            "Your second feature should be a · sin + b · cos. With a minus sign there, pairs are "
            "reflected, not turned.",
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
            "Your pairs slow down too much: `torch.arange(0, d_head, 2)` is already 2i.",
            {"torch.arange(0, d_head, 2)": "(2 * torch.arange(0, d_head, 2))"},
        ),
        Mistake(
            "exponents from 0 to −1",
            "You spread the exponents from 0 all the way to −1. The last one is "
            "−(d_head − 2) / d_head.",
            {"torch.arange(0, d_head, 2) / d_head": "torch.linspace(0, 1, d_head // 2)"},
        ),
        Mistake(
            "faster and faster",
            "Each of your pairs turns faster than the one before. The exponent is negative.",
            {"1 / base **": "base **"},
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
            "base 10000 whatever it is",
            "Your base is always 10000. Use `base`.",
            {"1 / base **": "1 / 10000.0 **"},
        ),
        Mistake(
            "angles in half precision",
            "You computed the angles in the dtype of x. Half precision can't tell place 3000 from "
            "place 3001: compute them in float32, and convert their sines and cosines.",
            {
                "angle = positions[:, None] * theta": (
                    "angle = positions[:, None] * theta.to(x.dtype)"
                )
            },
            {
                "angle = positions[:, None] * theta": (
                    "angle = positions[:, None].to(x.dtype) * theta.to(x.dtype)"
                )
            },
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


rotate = Exercise(
    "rotate",
    returns="turned",
    also=ALSO_TURNED,
    aspects=TURNED,
    mistakes=[
        *wrong_turns(),
        Mistake(
            "halves",
            "You paired feature i with feature i + d_head/2. That is the other layout, which comes "
            "later: here the pairs are (0, 1), (2, 3), ….",
            {
                "x[..., 0::2], x[..., 1::2]": "x.chunk(2, dim=-1)",
                f"torch.stack([{PAIR}], dim=-1).flatten(-2)": f"torch.cat([{PAIR}], dim=-1)",
            },
        ),
        Mistake(
            "halves mixed with pairs",
            "The two features of a pair got different angles, so lengths change. You repeated the "
            "angles as the other layout does. For pairs, each angle comes twice in a row.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            angle = torch.cat([angle, angle], dim=-1)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return x * angle.cos() + other * angle.sin()
            """,
        ),
        Mistake(
            "overwritten too early",
            "Your second line uses features that the first one has already turned. Keep both "
            "features of each pair, a and b, before you write.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            turned = x.clone()
            turned[..., 0::2] = turned[..., 0::2] * cos - turned[..., 1::2] * sin
            turned[..., 1::2] = turned[..., 0::2] * sin + turned[..., 1::2] * cos
            return turned
            """,
        ),
        Mistake(
            "an angle for every feature",
            "You gave each feature an angle of its own. The two features of a pair share one.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(d_head) / d_head)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Mistake(
            "pairs taken apart",
            "The numbers are right, but out of order: the first features of all pairs, then the "
            "second ones. The features of a pair belong side by side, as they came.",
            {f"torch.stack([{PAIR}], dim=-1).flatten(-2)": f"torch.cat([{PAIR}], dim=-1)"},
        ),
        Mistake(
            "only half of the head",
            "You left some of the features as they were. Turn all pairs.",
            {
                "return torch.stack(": "half = d_head // 4 * 2\n    turned = torch.stack(",
                "dim=-1).flatten(-2)": (
                    "dim=-1).flatten(-2)\n"
                    "    return torch.cat([turned[..., :half], x[..., half:]], dim=-1)"
                ),
            },
        ),
        Mistake(
            "added",
            "You added sines and cosines to the features. Turn each pair: multiply.",
            {PAIR: "a + sin, b + cos"},
        ),
    ],
    alternatives=[
        Alternative(
            "complex numbers",
            """
            pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
            angle = positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            turned = pairs * torch.polar(torch.ones_like(angle), angle)
            return torch.view_as_real(turned).flatten(-2).to(x.dtype)
            """,
        ),
        Alternative(
            "a matrix for each pair",
            """
            angle = positions[:, None] / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            cos, sin = angle.cos(), angle.sin()
            matrix = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
            pairs = x.unflatten(-1, (-1, 2))
            return (matrix.to(x.dtype) @ pairs[..., None]).squeeze(-1).flatten(-2)
            """,
        ),
        Alternative(
            "every two",
            """
            theta = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            angle = (positions[:, None] * theta).repeat_interleave(2, dim=-1)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Alternative(
            "pair by pair",
            """
            turned = x.clone()
            for i in range(0, x.shape[-1], 2):
                angle = positions * base ** (-i / x.shape[-1])
                turned[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
                turned[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
            return turned
            """,
        ),
    ],
    hints=[
        "The angles are [n, d_head / 2]: places as a column times `base ** (-torch.arange(0, "
        "d_head, 2) / d_head)`, as in `sinusoidal_positions`.",
        "`x[..., 0::2]` holds the first feature a of every pair, `x[..., 1::2]` the second, b. The "
        "new ones are a·cos − b·sin and a·sin + b·cos.",
        "To put them side by side again: `torch.stack([first, second], dim=-1).flatten(-2)`.",
    ],
    excuses={
        "result rounded to float32": "the angles are float32, whatever x is",
        "result squeezed at the end": "there are two features at least",
        "a matrix for each pair / detached: $A.detach() @ $B": "a matrix of sines has no gradient",
    },
)

# ---------------------------------------------------------------- rotate_halves

rotate_halves = Exercise(
    "rotate_halves",
    returns="turned",
    also=ALSO_TURNED,
    aspects=TURNED,
    mistakes=[
        *wrong_turns(),
        Mistake(
            "pairs",
            "You turned neighbors, (0, 1), (2, 3) …, as `rotate` does. Here feature i goes with "
            "feature i + d_head/2.",
            {
                "x.chunk(2, dim=-1)": "x[..., 0::2], x[..., 1::2]",
                f"torch.cat([{PAIR}], dim=-1)": f"torch.stack([{PAIR}], dim=-1).flatten(-2)",
            },
        ),
        Mistake(
            "turned, then interleaved",
            "The numbers are right, but interleaved. Put the halves one after the other, as they "
            "came.",
            {f"torch.cat([{PAIR}], dim=-1)": f"torch.stack([{PAIR}], dim=-1).flatten(-2)"},
        ),
        Mistake(
            "pairs mixed with halves",
            "The two features of a pair got different angles, so lengths change. You repeated each "
            "angle twice in a row, as for neighbors; here, all angles come once, then again.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            angle = angle.repeat_interleave(2, dim=-1)
            a, b = x.chunk(2, dim=-1)
            return x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()
            """,
        ),
        Mistake(
            "an angle for every feature",
            "You gave each feature an angle of its own. The two features of a pair share one.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(d_head) / d_head)
            a, b = x.chunk(2, dim=-1)
            return (x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()).to(x.dtype)
            """,
        ),
        Mistake(
            "neighbors taken apart on the way in",
            "Before `rotate` turns neighbors, features i and i + d_head/2 must *become* neighbors. "
            "You did the opposite, and took neighbors apart.",
            """
            turned = rotate(torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1), positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
        ),
        Mistake(
            "reordered on the way out only",
            "You reordered the result alone. Before `rotate` turns neighbors, features i and "
            "i + d_head/2 must become neighbors.",
            """
            turned = rotate(x, positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "as in transformers",
            """
            theta = 1.0 / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            angle = torch.cat([positions[:, None] * theta] * 2, dim=-1)
            first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
            other = torch.cat((-second, first), dim=-1)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Alternative(
            "by pairs",
            """
            half = x.shape[-1] // 2
            pairs = torch.stack([x[..., :half], x[..., half:]], dim=-1).flatten(-2)
            turned = rotate(pairs, positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
        ),
    ],
    hints=[
        "The angles and the rotation are those of `rotate`. Only a and b are different features.",
        "`x.chunk(2, dim=-1)` cuts x into halves: a is the first, b the second.",
        "What you return has the same order: `torch.cat` puts the new halves one after the other.",
    ],
    excuses={
        "result rounded to float32": "the angles are float32, whatever x is",
        "result squeezed at the end": "there are two features at least",
    },
)

# ---------------------------------------------------------------- to_halves


def projection(n_heads: int | None = None) -> Callable[[Draw], dict[str, Any]]:
    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(d_head=6)
        heads = draw.choose("n_heads", 2, 3).size("n_heads") if n_heads is None else n_heads
        weight = draw.normal_of((heads * draw.size("d_head"), draw.size("d_model")))
        return {"weight": weight, "n_heads": heads}

    return case


SEVERAL_HEADS = projection()
TO_PAIRS = "weight.view(n_heads, rows // n_heads // 2, 2, d_model)"

to_halves = Exercise(
    "to_halves",
    returns="reordered",
    also=(ONES, DOUBLE, AGAIN),
    aspects=[
        Aspect("one head", 1, [projection(1)]),
        Aspect("each head's rows separately", 2, [SEVERAL_HEADS]),
    ],
    second=SEVERAL_HEADS,
    mistakes=[
        Mistake(
            "the way back",
            "That is the way back, from halves to pairs. The first half of a head should be its "
            "even rows: 0, 2, 4, ….",
            {TO_PAIRS: "weight.view(n_heads, 2, rows // n_heads // 2, d_model)"},
        ),
        Mistake(
            "all heads at once",
            "You reordered the rows of all heads together, so rows moved from head to head. "
            "Reorder each head's rows separately.",
            {TO_PAIRS: "weight.view(1, rows // 2, 2, d_model)"},
        ),
        Mistake(
            "heads taken for the innermost",
            "You cut the rows as if those of different heads took turns. Each head owns rows that "
            "follow each other, so n_heads comes first in `view`.",
            {
                TO_PAIRS: "weight.view(rows // n_heads // 2, 2, n_heads, d_model)",
                "pairs.transpose(1, 2)": "pairs.transpose(0, 1)",
            },
        ),
        Mistake(
            "odd rows first",
            "You put the odd rows first. `rotate` turns (even, odd), so the even ones come first.",
            {"pairs.transpose(1, 2)": "pairs.flip(2).transpose(1, 2)"},
        ),
        Mistake(
            "columns",
            "You reordered the columns, which belong to the features of the words. A head's own "
            "features are rows.",
            "even, odd = weight[:, 0::2], weight[:, 1::2]\nreturn torch.cat([even, odd], dim=1)",
        ),
        Mistake(
            "nothing moved",
            "The rows are where they were. `view` and `reshape` don't move numbers; `transpose` "
            "does.",
            {".transpose(1, 2)": ""},
        ),
    ],
    alternatives=[
        Alternative(
            "even rows, then odd ones",
            """
            heads = weight.view(n_heads, -1, weight.shape[1])
            return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)
            """,
        ),
        Alternative(
            "by row numbers",
            """
            row = torch.arange(len(weight)).view(n_heads, -1)
            return weight[torch.cat([row[:, 0::2], row[:, 1::2]], dim=1).flatten()]
            """,
        ),
        Alternative(
            "head by head",
            """
            parts = []
            for head in weight.chunk(n_heads):
                parts += [head[0::2], head[1::2]]
            return torch.cat(parts)
            """,
        ),
    ],
    hints=[
        "`rotate` turns rows 0 and 1 of a head together. `rotate_halves` turns its rows 0 and "
        "d_head/2 together. So row 1 has to move to d_head/2.",
        "In each head, the even rows become the first half and the odd rows the second.",
        "As [n_heads, d_head / 2, 2, d_model], dimension 2 says even or odd. Bring it before "
        "dimension 1, and go back to [n_heads * d_head, d_model].",
    ],
    excuses={
        "result detached": "weights are converted, not trained",
        "without gradients": "likewise",
    },
)

# ---------------------------------------------------------------- RotarySelfAttention


def reading(
    keep: str = "", far: bool = False, nobody: bool = False, scale: float = 1.0, **build: Any
) -> Callable[[Draw], ModuleCase]:
    """A few words; `keep` names the dimensions of a mask, and `far` moves the words around.

    nobody: the first query may attend to nothing.
    """

    def case(draw: Draw) -> ModuleCase:
        n_heads = draw.choose("n_heads", 2, 3).size("n_heads")
        d_model = 6 * n_heads
        draw.fix(d_model=d_model, batch=1 if draw.ones else 5 - n_heads)
        inputs: dict[str, Any] = {"x": draw.normal("batch n d_model", scale)}
        if far or keep:
            places = scattered(draw, 20).sort().values if far else torch.arange(draw.size("n"))
            inputs["positions"] = places
        if keep:
            inputs["keep"] = draw.keep(keep)
            if nobody:
                inputs["keep"][..., 0, :] = False
            draw.label(f"keep [{keep.replace(' ', ', ')}]")
        return ModuleCase({"d_model": d_model, "n_heads": n_heads} | build, inputs)

    return case


TURN_QUERY = "rotate(self.heads_of(self.query(x)), positions, self.base)"
TURN_KEY = "rotate(self.heads_of(self.key(x)), positions, self.base)"
HEADS_OF_VALUE = "self.heads_of(self.value(x))"
ATTEND = f"attend(query, key, {HEADS_OF_VALUE}, keep)"


def both(how: str) -> dict[str, str]:
    """Turn queries and keys in another way; `how` has {layer} for the one that makes them."""
    return {TURN_QUERY: how.format(layer="self.query"), TURN_KEY: how.format(layer="self.key")}


RotarySelfAttention = Exercise(
    "RotarySelfAttention",
    returns="result",
    keeps="attn_weights",
    keeps_detached=True,
    builds_on=("rotate",),
    also=(ONES, HALF, AGAIN),
    aspects=[
        Aspect("words at 0, 1, 2, …", 2, [reading()], outputs=("result",)),
        Aspect("words at other places", 1, [reading(far=True)], outputs=("result",)),
        Aspect("the weights of every head", 1, [reading()], outputs=("attn_weights",)),
        Aspect("another base", 1, [reading(base=50.0)]),
        Aspect("masks", 1, [reading("n n"), reading("batch n n", far=True, nobody=True)]),
        Aspect("gradients", 1, [reading(scale=0.3)], gradients=True),
    ],
    earlier=reading("n n"),
    mistakes=[
        Mistake(
            "keys not turned",
            "You turned the queries, but not the keys. Turn both: only then does the score depend "
            "on their distance.",
            {TURN_KEY: "self.heads_of(self.key(x))"},
        ),
        Mistake(
            "queries not turned",
            "You turned the keys, but not the queries. Turn both: only then does the score depend "
            "on their distance.",
            {TURN_QUERY: "self.heads_of(self.query(x))"},
        ),
        Mistake(
            "nothing turned",
            "Nothing is turned, so your attention doesn't see any order. Turn queries and keys.",
            both("self.heads_of({layer}(x))"),
        ),
        Mistake(
            "values turned, too",
            "You turned the values, too. They only get added up; leave them alone.",
            {HEADS_OF_VALUE: "rotate(self.heads_of(self.value(x)), positions, self.base)"},
        ),
        Mistake(
            "turned before the split",
            "You turned queries and keys before they were split into heads, so each head turns at "
            "different speeds. Split first: every head has all speeds.",
            both("self.heads_of(rotate({layer}(x), positions, self.base))"),
        ),
        Mistake(
            "words turned before the projection",
            "You turned the words, before they were projected. Turn queries and keys: a projection "
            "in between spoils the rotation.",
            both("self.heads_of({layer}(rotate(x, positions, self.base)))"),
        ),
        Mistake(
            "halves",
            "You turned with `rotate_halves`. This exercise uses `rotate`.",
            both("rotate_halves(self.heads_of({layer}(x)), positions, self.base)"),
        ),
        Mistake(
            "positions ignored",
            "You counted places from 0 although `positions` was given.",
            {"if positions is None": "if True"},
        ),
        Mistake(
            "base ignored",
            "You turned with the usual base. Keep `base`, and pass it on.",
            both("rotate(self.heads_of({layer}(x)), positions)"),
        ),
        Mistake(
            "mask ignored",
            "You didn't use `keep`. Hand it to `attend`.",
            {ATTEND: ATTEND.replace(", keep", "")},
        ),
        Mistake(
            "mask the wrong way around",
            "Your mask is the wrong way around: `keep` is True where a query may attend.",
            {ATTEND: ATTEND.replace("keep", "None if keep is None else ~keep")},
        ),
        Mistake(
            "a query that may attend to nothing",
            "A query that may attend to nothing should get weights of 0 everywhere, as from "
            "`attend`. Softmax alone gives it NaN, or equal weights.",
            *(
                {
                    ATTEND: "None, query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5",
                    "        self.attn_weights =": (
                        "        if keep is not None:\n"
                        f"            attn_weights = attn_weights.masked_fill(~keep, {lowest})\n"
                        "        attn_weights = attn_weights.softmax(dim=-1)\n"
                        "        context = attn_weights @ self.heads_of(self.value(x))\n"
                        "        self.attn_weights ="
                    ),
                }
                for lowest in ("-math.inf", "-1e4")
            ),
        ),
        Mistake(
            "masks of sentences read as masks of heads",
            "A mask [batch, n, n] needs a dimension of size 1 for the heads: `keep[:, None]`. "
            "Without it, the batch lines up with the heads.",
            {"keep.dim() == 3": "False"},
        ),
        Mistake(
            "scaled by √d_model",
            "Your scores are divided by √d_model. Each head divides by the root of its own width, "
            "√d_head.",
            {ATTEND: ATTEND.replace("query", "query / self.n_heads**0.5")},
        ),
        Mistake(
            "not scaled",
            "You didn't divide the scores by √d_head.",
            {ATTEND: ATTEND.replace("query", "query * query.shape[-1] ** 0.5")},
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys: the words that ask are rows of the weights.",
            {ATTEND: ATTEND.replace("query, key", "key, query")},
        ),
        Mistake(
            "keys at 0, 1, 2, …",
            "You turned the keys as if they were at 0, 1, 2, …. They are at `positions`, as the "
            "queries are.",
            {TURN_KEY: TURN_KEY.replace("positions", "torch.arange(x.shape[1])")},
        ),
        Mistake(
            "turned before the transposition",
            "`rotate` takes words in the second to last dimension, [batch, n_heads, n, d_head]. "
            "Swap words and heads before you turn.",
            both(
                "rotate({layer}(x).unflatten(-1, (self.n_heads, -1)), positions, self.base)"
                ".transpose(1, 2)"
            ),
        ),
        Mistake(
            "no output projection",
            "You returned the heads side by side. The last step is missing: the output projection.",
            {
                "self.output(context.transpose(1, 2).flatten(2))": (
                    "context.transpose(1, 2).flatten(2)"
                )
            },
        ),
        Mistake(
            "heads not put back",
            "You flattened the heads without moving them back behind the words: `transpose(1, 2)` "
            "first.",
            {"context.transpose(1, 2).flatten(2)": "context.reshape(x.shape)"},
        ),
        Mistake(
            "heads by view",
            "Your split mixes words: `view` straight to [batch, n_heads, n, d_head] cuts the rows. "
            "Cut the features, then transpose.",
            {
                "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": (
                    "x.reshape(len(x), self.n_heads, x.shape[1], -1)"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "places counted from 1",
            {"torch.arange(x.shape[1])": "torch.arange(1, x.shape[1] + 1)"},
        ),
        Alternative(
            "head by head",
            {
                "query = " + TURN_QUERY: (
                    "heads = zip(*(self.heads_of(layer(x)).unbind(1) for layer in (self.query, "
                    "self.key, self.value)))"
                ),
                "        key = " + TURN_KEY + "\n": "",
                f"context, attn_weights = {ATTEND}": (
                    "keep = keep[:, 0] if keep is not None and keep.dim() == 4 else keep\n"
                    "        done = [\n"
                    "            attend(rotate(q, positions, self.base), "
                    "rotate(k, positions, self.base), v, keep)\n"
                    "            for q, k, v in heads\n"
                    "        ]\n"
                    "        context = torch.stack([c for c, _ in done], dim=1)\n"
                    "        attn_weights = torch.stack([w for _, w in done], dim=1)"
                ),
            },
        ),
    ],
    hints=[
        "Project, split into heads, turn queries and keys with `rotate`, attend, put the heads "
        "back together, project.",
        "`rotate` takes any dimensions in front, so it turns [batch, n_heads, n, d_head] as it is.",
        "`x.unflatten(-1, (n_heads, -1)).transpose(1, 2)` splits, and `context.transpose(1, "
        "2).flatten(2)` puts back together.",
    ],
    excuses={
        "result rounded to float32": "the angles are float32, whatever x is",
        "head by head / another number: 0 → -1": "the dimension has size 1",
        "result squeezed at the end": "there are six features at least",
    },
)

# ---------------------------------------------------------------- t5_bucket


def distances(*numbers: int) -> Callable[[Draw], dict[str, Any]]:
    return lambda draw: {"distance": torch.tensor(numbers)}


t5_bucket = Exercise(
    "t5_bucket",
    returns="bucket",
    challenge=True,
    also=(AGAIN,),
    aspects=[
        Aspect("near words have a bucket each", 1, [distances(*range(-2, 17))]),
        Aspect("far words share one", 1, [distances(16, 17, 20, 25, 31, 47, 64, 90, 113, 127)]),
        Aspect("beyond 128, and after the query", 1, [distances(128, 200, 5000, -1, -7, 3)]),
        Aspect(
            "any shape",
            1,
            [
                lambda draw: {"distance": torch.arange(130).view(2, 5, 13)},
                lambda draw: {"distance": torch.tensor([[40]])},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "rounded",
            "You rounded to the nearest step. A distance between two steps belongs to the lower "
            "one.",
            {
                "(distance[..., None] >= edges).sum(dim=-1)": (
                    "(16 * (distance.clamp(16, 120) / 16).log() / math.log(8)).round().long()"
                )
            },
        ),
        Mistake(
            "rounded up",
            "You rounded up. A distance between two steps belongs to the lower one.",
            {
                "(distance[..., None] >= edges).sum(dim=-1)": (
                    "(16 * (distance.clamp(16, 120) / 16).log() / math.log(8)).ceil().long()"
                )
            },
        ),
        Mistake(
            "equal widths",
            "Your far buckets all have the same width. Their edges grow by the same *factor*: each "
            "is 8^(1/16) times the one before.",
            {
                "edges = 16 * (128 / 16) ** (torch.arange(1, 16) / 16)": (
                    "edges = 16 + 7 * torch.arange(1, 16)"
                )
            },
        ),
        Mistake(
            "key − query",
            "Your buckets are for key − query. Here the distance is query − key, positive for the "
            "words before.",
            {"return distance.clamp": "distance = -distance\n    return distance.clamp"},
        ),
        Mistake(
            "all logarithmic",
            "The first 16 distances get a bucket each. The logarithmic steps start at 16: take the "
            "logarithm of distance / 16.",
            "far = 16 + (16 * (distance.clamp(min=1) / 16).log() / math.log(8)).long()\n"
            "return far.clamp(0, 31)",
        ),
        Mistake(
            "no last bucket",
            "There are 32 buckets: the last, 31, takes everything that is farther away.",
            {"torch.arange(1, 16)": "torch.arange(1, 60)"},
        ),
        Mistake(
            "negative buckets",
            "A word after the query has a negative distance, which falls into bucket 0.",
            {"distance.clamp(0, 16)": "distance.clamp(max=16)"},
            {"distance.clamp(0, 16)": "distance.abs().clamp(max=16)"},
        ),
        Mistake(
            "up to 127 only",
            "The logarithmic buckets go up to 128: 16 equal factors whose product is 128 / 16.",
            {"128 / 16": "127 / 16"},
        ),
        Mistake(
            "fifteen steps",
            "There are 16 steps from 16 to 128, and you took 15.",
            {"/ 16)\n": "/ 15)\n"},
        ),
    ],
    alternatives=[
        Alternative(
            "by logarithms",
            """
            far = 16 + (16 * (distance.clamp(min=16) / 16).log() / math.log(8)).long()
            return torch.where(distance < 16, distance.clamp(min=0), far.clamp(max=31))
            """,
        ),
        Alternative(
            "by torch.bucketize",
            {
                "(distance[..., None] >= edges).sum(dim=-1)": (
                    "torch.bucketize(distance, edges, right=True)"
                )
            },
        ),
    ],
    hints=[
        "From 16 to 128 is a factor of 8. So the edges of the far buckets are 16 times 8 to the "
        "power of 1/16, 2/16, ….",
        "The bucket is the distance, clipped to the range 0 to 16, plus the number of edges it has "
        "reached.",
        "Compare `distance[..., None]` with a row of edges, and add up the Trues with "
        "`sum(dim=-1)`.",
    ],
    excuses={
        "another comparison: distance[..., None] >= edges": "no distance is exactly on an edge",
        "by torch.bucketize / another number: True → False": "likewise",
        "by torch.bucketize / keyword dropped": "likewise",
        "by logarithms / another number: 16": "below 16, the other branch counts",
        "by logarithms / another comparison: distance < 16": "both branches give 16",
        "by logarithms / call dropped: distance.clamp(min=16)": "below 16, the other branch counts",
    },
)

EXERCISES = (
    sinusoidal_positions,
    relative_bias,
    alibi_bias,
    rotate,
    rotate_halves,
    to_halves,
    RotarySelfAttention,
    t5_bucket,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "which_contexts_change",
        right="those of the first two",
        choices={
            "all": (
                "From the third place on, each word still sees the same words, and attention sees "
                "a set."
            ),
            "those of the first two": (
                "The first place sees a different word. At the second, a different word asks. The "
                "rest see the same set."
            ),
            "none": "The first place holds another word now, and sees only that.",
        },
    ),
    Prediction(
        "found_by_properties",
        right=5,
        because="Five are rotations of a kind, and pass all three. Only values tell them apart.",
    ),
    Prediction(
        "which_scores_stay",
        right="those of a word with itself",
        choices={
            "all of them": "Scores are sums over pairs, and here the pairs are different.",
            "those of a word with itself": (
                "Query and key turn by the same angle, so it cancels out."
            ),
            "none": "There is one distance at which the turns cancel out.",
        },
    ),
    Prediction(
        "who_fails_at_64",
        right="sinusoidal, learned and rotary",
        choices={
            "learned alone": (
                "Its rows from 32 on were never trained. But neither were the others' vectors for "
                "those places, or turns by such distances."
            ),
            "sinusoidal and learned": "And rotary? It sees distances only, but new ones.",
            "sinusoidal, learned and rotary": (
                "All three meet something at 64 that they never met in training."
            ),
        },
    ),
    Prediction(
        "a_window_of_32",
        right="rotary",
        choices={
            "sinusoidal": (
                "With a window, the distances are familiar, but its places are still new. It does "
                "a little better, but doesn't recover."
            ),
            "learned": (
                "Its rows from 32 on stay untrained, whatever the window. It does a little better, "
                "but doesn't recover."
            ),
            "rotary": "It sees distances only, and within the window there are no new ones.",
        },
    ),
]
