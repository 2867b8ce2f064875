"""The weights in blocks of four bits each (Q4_1), in float32."""

from typing import Any

import torch

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def stored(scale: float = 1.0, minimum: float = 1.0) -> Inputs:
    """Blocks with drawn numbers, scales and minima."""

    def case(draw: Draw) -> dict[str, Any]:
        drawn = draw.normal_of((draw.size("n_blocks"), 2))
        grid = (drawn * torch.tensor([scale, minimum])).half()
        numbers = torch.randint(256, (len(grid), 16), generator=draw.generator).byte()
        return {"blocks": torch.cat([grid.view(torch.uint8), numbers], dim=1)}

    return case


SCALE = "scale = blocks[:, :2].view(torch.float16).float()"
MINIMUM = "minimum = blocks[:, 2:4].view(torch.float16).float()"
NUMBERS = "numbers = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)"
WEIGHTS = "scale * numbers + minimum"

EXERCISE = Exercise(
    "dequantize",
    returns="weights",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("numbers, scale and minimum", 2, [stored(), stored(minimum=5.0)]),
        Aspect(
            "every digit in float32",
            2,
            [stored(30.0, 200.0), stored(0.002, 0.01), stored(0.0, 0.0), stored(1e-5, 1e-5)],
        ),
    ],
    mistakes=[
        Mistake(
            "the two of a byte side by side",
            "Your weights take turns: one from the low bits of a byte, the next from its high "
            "bits. The low bits of all 16 bytes come first.",
            {NUMBERS: NUMBERS.replace("cat([", "stack([").replace("dim=1", "dim=2).flatten(1")},
        ),
        Mistake(
            "low and high bits of all blocks",
            "You joined the low bits of all blocks and then the high bits of all. Each block has "
            "both: `torch.cat` along dimension 1.",
            {NUMBERS: "numbers = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4]).view(-1, 32)"},
        ),
        Mistake(
            "high bits first",
            "You put the high bits first. The first 16 weights are in the low ones.",
            {NUMBERS: "numbers = torch.cat([blocks[:, 4:] >> 4, blocks[:, 4:] & 15], dim=1)"},
        ),
        Mistake(
            "scale and minimum swapped",
            "You swapped the scale and the minimum: the scale's two bytes come first.",
            {WEIGHTS: "minimum * numbers + scale"},
        ),
        Mistake(
            "the minimum subtracted",
            "You subtracted the minimum. Add it.",
            {WEIGHTS: "scale * numbers - minimum"},
        ),
        Mistake(
            "no minimum",
            "You left out the minimum. Add it to scale · number.",
            {WEIGHTS: "scale * numbers"},
        ),
        Mistake(
            "no scale",
            "You left out the scale.",
            {WEIGHTS: "numbers + minimum"},
        ),
        Mistake(
            "the minimum scaled, too",
            "You added the minimum before you multiplied. The scale is for the number alone.",
            {WEIGHTS: "scale * (numbers + minimum)"},
        ),
        Mistake(
            "numbers around 0",
            "You subtracted 8 from the numbers, as another format does (Q4_0). Here they go from "
            "0 to 15, and the minimum is given.",
            {WEIGHTS: "scale * (numbers.float() - 8) + minimum"},
        ),
        Mistake(
            "signed numbers",
            "You took the bytes or the numbers as signed. They are whole numbers from 0 to 15.",
            {
                NUMBERS: "signed = blocks[:, 4:].view(torch.int8)\n"
                "    numbers = torch.cat([signed & 15, signed >> 4], dim=1)"
            },
            {
                NUMBERS: f"{NUMBERS}.to(torch.int8)\n"
                "    numbers = torch.where(numbers > 7, numbers - 16, numbers)"
            },
        ),
        Mistake(
            "bytes as numbers",
            "You took whole bytes for the numbers of the weights. Each byte holds two.",
            {NUMBERS: "numbers = blocks[:, 4:].repeat(1, 2)"},
            {NUMBERS: "numbers = blocks[:, 4:].repeat_interleave(2, dim=1)"},
        ),
        Mistake(
            "high bits where they are",
            "Your high bits are still where they were, so their numbers are 16 times too large. "
            "Shift them: `byte >> 4`.",
            {NUMBERS: NUMBERS.replace(">> 4", "& 240")},
        ),
        Mistake(
            "three bits",
            "You kept three bits of each number. It has four: `& 15`.",
            {NUMBERS: NUMBERS.replace("& 15", "& 7")},
        ),
        Mistake(
            "low bits for all",
            "You used the low bits for all weights. The last 16 have the high ones.",
            {NUMBERS: "numbers = (blocks[:, 4:] & 15).repeat(1, 2)"},
        ),
        Mistake(
            "another kind of 16 bits",
            "You read the scale and the minimum as bfloat16. They are float16.",
            {
                SCALE: SCALE.replace("float16", "bfloat16"),
                MINIMUM: MINIMUM.replace("float16", "bfloat16"),
            },
        ),
        Mistake(
            "bytes for the scale",
            "You read each byte of the scale and of the minimum as a number. `view(torch.float16)` "
            "reads two bytes as one number; `to` converts each by itself.",
            {
                SCALE: "scale = blocks[:, :1].float()",
                MINIMUM: "minimum = blocks[:, 2:3].float()",
            },
            {
                SCALE: "scale = blocks[:, :2].to(torch.float16).float().mean(1, keepdim=True)",
                MINIMUM: "minimum = blocks[:, 2:4].to(torch.float16).float().mean(1, keepdim=True)",
            },
        ),
        Mistake(
            "half precision",
            "You computed in half precision, which has three digits. Convert scale and minimum to "
            "float32 first.",
            {
                SCALE: SCALE.removesuffix(".float()"),
                MINIMUM: MINIMUM.removesuffix(".float()"),
                WEIGHTS: f"({WEIGHTS}).float()",
            },
        ),
        Mistake(
            "one scale for all",
            "You used the scale and the minimum of the first block for all blocks. Each has its "
            "own.",
            {WEIGHTS: "scale[0] * numbers + minimum[0]"},
        ),
    ],
    alternatives=[
        Alternative(
            "stacked",
            """
            scale, minimum = blocks[:, :4].view(torch.float16).float().split(1, dim=1)
            numbers = torch.stack([blocks[:, 4:] % 16, blocks[:, 4:] // 16], dim=1)
            return minimum + scale * numbers.flatten(1)
            """,
        ),
        Alternative(
            "half by half",
            """
            grid = blocks[:, :4].view(torch.float16).float()
            weights = grid[:, 1:].repeat(1, 32)
            weights[:, :16] += grid[:, :1] * blocks[:, 4:].bitwise_and(15)
            weights[:, 16:] += grid[:, :1] * blocks[:, 4:].bitwise_right_shift(4)
            return weights
            """,
            excuses={"another number: 16 → -16": "16 is half of 32"},
        ),
    ],
    excuses={
        "result squeezed at the end": "a block has 32 weights",
        "result in float32": "it is",
        "result rounded to float32": "likewise",
        "call dropped: blocks[:, 2:4]": "the sum is float32 if one of its parts is",
        "operands swapped: blocks[:, 4:] & 15": "the order doesn't matter",
        "detached": "whole numbers have no gradients",
    },
    hints=[
        "Cut off the first two bytes, the next two, and the other 16: `blocks[:, :2]`, and so on.",
        "Read two bytes as a number with `.view(torch.float16)`, as `dequantize_8` does, and turn "
        "that into float32.",
        "Put two halves side by side with `torch.cat(…, dim=1)`: first the low bits of all 16 "
        "bytes, then the high ones.",
    ],
)
