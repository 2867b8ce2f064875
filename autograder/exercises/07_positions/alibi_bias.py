"""Slope times distance (key − query), for each head."""

from collections.abc import Callable
from typing import Any

from autograder.judging.code_marks import count
from autograder.lessons.cases import CALLS
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import DISTANCE


def linear(n_heads: int, more: int = 0, **sizes: int) -> Callable[[Draw], dict[str, Any]]:
    """Some words ask, and `more` words come before them."""

    def case(draw: Draw) -> dict[str, Any]:
        n_query = draw.fix(**sizes).size("n_query")
        draw.label(count(n_heads, "head"))
        return {"n_heads": n_heads, "n_query": n_query, "n_key": n_query + more}

    return case


SLOPE = "2 ** (-8 * (head + 1) / n)"
BY_HEAD = "slope[:, None, None] * distance"
EXTRA = "slopes(2 * power)[0::2][: n_heads - power]"
ALL_SLOPES = "slopes(power) + extra"

EXERCISE = Exercise(
    "alibi_bias",
    returns="bias",
    also=(*CALLS,),
    aspects=[
        Aspect(
            "slope times distance",
            2,
            [linear(8), linear(4, n_query=4), linear(1), linear(2), linear(16)],
        ),
        Aspect(
            "numbers of heads that aren't powers of two",
            1,
            [linear(6), linear(20), linear(5), linear(11)],
        ),
        Aspect(
            "when only the last words ask",
            1,
            [
                linear(4, more=3),
                linear(2, more=140),
                linear(2, more=6),
                linear(4, more=7, n_query=1),
                linear(2, more=3000, n_query=1),
                linear(4, n_query=1),
            ],
        ),
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
            "a ratio of one half, for any number",
            "Each of your slopes is half of the one before, whatever the number of heads. For n "
            "heads, the ratio is 2^(−8/n), as the first slope is.",
            {SLOPE: "2 ** (-8 / n - head)"},
            {ALL_SLOPES: "[2 ** (-8 / n_heads - head) for head in range(n_heads)]"},
        ),
        Mistake(
            "a power that is too large",
            "You rounded the logarithm of n_heads to the nearest whole number, or up. Round it "
            "down, as `int` does: the power of two must not be larger than n_heads.",
            {"int(math.log2(n_heads))": "round(math.log2(n_heads))"},
            {"int(math.log2(n_heads))": "math.ceil(math.log2(n_heads))"},
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
            "divided by //",
            "You divided by `//`, which rounds down: for 16 heads, `8 // 16` is 0. Divide by `/`.",
            {SLOPE: "2.0 ** (-(8 // n) * (head + 1))"},
            {SLOPE: "2.0 ** (-8 * (head + 1) // n)"},
            {SLOPE: "2.0 ** -(8 * (head + 1) // n)"},
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
            {BY_HEAD: "-slope[:, None, None] * distance.abs()"},
        ),
        Mistake(
            "nothing after the query",
            "All words after the query got a bias of 0. The formula holds for them, too: their "
            "distance is positive, and so is their bias.",
            {BY_HEAD: "slope[:, None, None] * distance.clamp(max=0)"},
        ),
        Mistake(
            "hidden after the query",
            "You hid the words after the query. The formula holds for every key; hiding is the "
            "mask's job.",
            {BY_HEAD: f"({BY_HEAD}).masked_fill(distance > 0, -math.inf)"},
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
            "slopes without dimensions for the words",
            "Slopes are [n_heads] and distances [n_query, n_key], so the slopes meet words. With "
            "`slope[:, None, None]`, each head gets a matrix of its own.",
            *({BY_HEAD: product} for product in ("slope * distance", "distance * slope")),
            {"slope[:, None, None]": "slope[:, None]"},
        ),
        Mistake(
            "places that are not a column",
            "You subtracted places one by one. Make the queries' places a column, `[:, None]`, so "
            "that every query meets every key.",
            {"n_query :, None]": "n_query :]"},
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They belong in front.",
            {BY_HEAD: "distance[:, :, None] * slope"},
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
            excuses={
                "another comparison: power < n_heads": (
                    "for a power of two, every second slope of the next one is what it has itself"
                ),
                "another number: 1 → 2": "likewise",
            },
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
        "result in float": "likewise",
    },
)
