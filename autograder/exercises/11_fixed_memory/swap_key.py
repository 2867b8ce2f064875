"""The key with which a delta step with β = 2 and the value 0 swaps two rows of the state."""

from typing import Any

from autograder.lessons.cases import CALLS, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Judged
from autograder.lessons.variants import Alternative, Mistake


def cups(i: int, j: int, n: int) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.label(f"{i} and {j} of {n}")
        return {"i": i, "j": j, "n": n}

    return case


OPPOSITE = "the opposite key reflects alike"
FILLED = "key[i], key[j] = 0.5**0.5, -(0.5**0.5)"

EXERCISE = Exercise(
    "swap_key",
    returns="key",
    challenge=True,
    also=CALLS,
    aspects=[
        Aspect(
            "two cups of several",
            1,
            [cups(0, 2, 3), cups(0, 1, 3), cups(1, 2, 3), cups(1, 4, 6), cups(3, 2, 5)],
        ),
        Aspect("only two cups", 1, [cups(0, 1, 2), cups(1, 0, 2)]),
    ],
    parts=[Judged(by="reflect")],
    mistakes=[
        Mistake(
            "a row",
            "Your key has two dimensions. It is a vector of n numbers.",
            {"return key": "return key[None]"},
            {"return key": "return key[:, None]"},
        ),
        Mistake(
            "whole numbers",
            "Your key holds whole numbers, which cut off 0.7. Make it float32, as `torch.zeros(n)` "
            "is.",
            {"torch.zeros(n)": "torch.zeros(n, dtype=torch.int64)"},
        ),
        Mistake(
            "all cups",
            "Your key has a number for every cup. Only those in places i and j aren't 0.",
            {f"key = torch.zeros(n)\n    {FILLED}": "key = torch.ones(n) / n**0.5"},
        ),
        Mistake(
            "too long",
            "Your key is longer than 1. Divide it by its length, √2.",
            {FILLED: "key[i], key[j] = 1.0, -1.0"},
        ),
        Mistake(
            "halved",
            "Your key is shorter than 1. Its two numbers are ±1 / √2, so that their squares sum "
            "to 1.",
            {FILLED: "key[i], key[j] = 0.5, -0.5"},
        ),
        Mistake(
            "the sum, not the difference",
            "Your key flips the sum of the two rows. Flip their difference: one of the two numbers "
            "is negative.",
            {FILLED: "key[i], key[j] = 0.5**0.5, 0.5**0.5"},
        ),
        Mistake(
            "one row",
            "Your key flips the sign of one row. Two rows should trade places.",
            {FILLED: "key[i] = 1.0"},
            {FILLED: "key[j] = 1.0"},
        ),
        Mistake(
            "only one part divided",
            "Only one of the two was divided: `/` comes before `−`. Put the difference in "
            "parentheses.",
            """
            eye = torch.eye(n)
            return eye[i] - eye[j] / 2**0.5
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "the opposite key",
            {FILLED: "key[j], key[i] = 0.5**0.5, -(0.5**0.5)"},
            excuses={"elements swapped": OPPOSITE},
        ),
        Alternative(
            "a difference of rows",
            """
            rows = torch.eye(n)
            return torch.nn.functional.normalize(rows[i] - rows[j], dim=0)
            """,
            excuses={"another number: 0 → -1": "there is one", "operands swapped": OPPOSITE},
        ),
    ],
    hints=[
        "A reflection leaves everything at a right angle to its key alone, and turns the key "
        "itself around.",
        "What has to turn around, if rows i and j trade places? Their difference.",
        "The key has two numbers that aren't 0, in places i and j, and the length 1.",
    ],
    excuses={"elements swapped": OPPOSITE},
)
