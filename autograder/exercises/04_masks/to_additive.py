"""The same mask to be added to scores of this dtype: 0 to keep, minus infinity to hide."""

import torch

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def additive_in(dtype: torch.dtype, dims: str = "n_query n_key") -> Inputs:
    return lambda draw: {"keep": draw.keep(dims), "dtype": dtype}


def all_and_none(draw: Draw) -> dict:
    draw.label("a query that may attend to everything, and one to nothing")
    keep = draw.keep("n_query n_key")
    keep[0], keep[-1] = True, False
    return {"keep": keep, "dtype": torch.float32}


def causal_in(dtype: torch.dtype) -> Inputs:
    def case(draw: Draw) -> dict:
        draw.label("a causal mask")
        return {"keep": torch.ones(4, 6, dtype=torch.bool).tril(2), "dtype": dtype}

    return case


def nothing_hidden(draw: Draw) -> dict:
    draw.label("float16, and nothing hidden")
    return {"keep": draw.keep("n_query n_key") | True, "dtype": torch.float16}


EXERCISE = Exercise(
    "to_additive",
    returns="additive",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect(
            "0 to keep, −∞ to hide",
            2,
            [
                additive_in(torch.float32),
                all_and_none,
                additive_in(torch.float32, "batch n_query n_key"),
                additive_in(torch.float32, "batch n_heads n_query n_key"),
            ],
        ),
        Aspect(
            "in the dtype of the scores",
            1,
            [
                nothing_hidden,
                causal_in(torch.float64),
                causal_in(torch.float16),
                *(additive_in(getattr(torch, name)) for name in ("float16", "bfloat16", "float64")),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "polarity reversed",
            "You put −∞ where the key may be seen. Adding 0 keeps a score as it is; adding −∞ "
            "hides it.",
            {"~keep": "keep"},
        ),
        Mistake(
            "zero times infinity",
            "There is NaN where a key may be seen: 0 · (−∞) is not 0. Fill in the two numbers "
            "without multiplying: `masked_fill` or `torch.where`.",
            "return (1 - keep.to(dtype)) * -math.inf",
        ),
        Mistake(
            "floats of keep",
            "These are the booleans as floats, 1 and 0. Added to scores they hide nothing.",
            "return keep.to(dtype)",
        ),
        Mistake(
            "floats of the opposite",
            "These are 0 to keep and 1 to hide. Added to scores, the 1 makes the hidden keys "
            "more attractive.",
            "return (~keep).to(dtype)",
        ),
        Mistake(
            "hidden by −1",
            "−1 only dims a key, by a factor of e. −∞ hides it.",
            {"-math.inf": "-1.0"},
        ),
        Mistake(
            "hidden by −10⁹",
            "−10⁹ works in most rows, but in a row with nothing to attend to it spreads the "
            "weight over hidden keys, and it doesn't fit into float16. Use −∞.",
            {"-math.inf": "-1e9"},
        ),
        Mistake(
            "hidden by −10000",
            "−10000 hides a key only while the scores are far above it, and in a row with nothing "
            "to attend to it spreads the weight over hidden keys. Use −∞.",
            {"-math.inf": "-10000.0"},
            {"-math.inf": "-10000.0", "torch.zeros": "-torch.zeros"},
        ),
        Mistake(
            "hidden by the lowest number",
            "The dtype's lowest number works in most rows, but in a row with nothing to attend "
            "to, the library can't tell it from a score and spreads the weight over hidden keys. "
            "Use −∞.",
            {"-math.inf": "torch.finfo(dtype).min"},
        ),
        Mistake(
            "hidden by +∞",
            "+∞ is the most attractive score there is. The sign is wrong.",
            {"-math.inf": "math.inf"},
        ),
        Mistake(
            "multiplicative",
            "Your mask adds 1 to the scores of keys that may be seen. That does softmax no harm, "
            "since it sees only differences, but these scores shouldn't change: use 0.",
            {"torch.zeros": "torch.ones"},
        ),
        Mistake(
            "dtype ignored",
            "The values are right, but always float32. Use the `dtype` you are given: "
            "`nn.MultiheadAttention`, when it returns weights, refuses a mask of another one.",
            {", dtype=dtype": ""},
        ),
        Mistake(
            "dtype ignored at times",
            "With some dtypes, your mask is of another one. Make it in the `dtype` that you are "
            "given, whichever that is.",
            *(
                {", dtype=dtype": f", dtype=torch.float32 if {when} else dtype"}
                for when in (
                    "dtype in (torch.float16, torch.bfloat16)",
                    "dtype == torch.float16",
                    "dtype == torch.bfloat16",
                    "dtype == torch.float64",
                )
            ),
        ),
        Mistake(
            "transposed",
            "The mask is transposed. Rows are queries and columns keys, as in `keep`.",
            {".masked_fill(~keep, -math.inf)": ".masked_fill(~keep, -math.inf).mT"},
        ),
        Mistake(
            "fill without effect",
            "All zeros: nothing was written into the mask. `masked_fill` returns a new tensor, "
            "which you have to keep; `==` only compares.",
            """
            additive = torch.zeros(keep.shape, dtype=dtype)
            additive.masked_fill(~keep, -math.inf)
            return additive
            """,
        ),
        Mistake(
            "causal whatever keep says",
            "You returned the causal mask, whatever `keep` says.",
            "return torch.full(keep.shape, -math.inf, dtype=dtype).triu(1)",
        ),
    ],
    alternatives=[
        Alternative("where", "return torch.where(keep, 0.0, -math.inf).to(dtype)"),
        Alternative("logarithm of 1 and 0", "return keep.to(dtype).log()"),
        Alternative(
            "filled in place",
            """
            additive = torch.full(keep.shape, -math.inf).to(dtype)
            additive[keep] = 0
            return additive
            """,
        ),
    ],
    hints=[
        "Start from zeros in the shape of `keep`, in the given dtype.",
        "`masked_fill` writes a number wherever a mask is True; `torch.where(condition, a, b)` "
        "chooses between two numbers. Neither multiplies, so no 0 · ∞ can arise.",
        "`-math.inf` is minus infinity, and it fits into float16, bfloat16 and float32 alike.",
    ],
    excuses={"result rounded": "0 and −∞ have no digits to lose"},
)
