"""The gated delta rule, a chunk of words at a time."""

from typing import Any

import torch

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Trial

from .chunked_gated_delta_variants import ALTERNATIVES, EXCUSES, MISTAKES


def text(
    n: int,
    chunk: int = 0,
    leading: str = "batch",
    continued: bool = False,
    decay: tuple[float, float] = (-2.0, -0.1),
    beta: tuple[float, float] = (0.1, 0.9),
    length: float = 1.0,
) -> Inputs:
    """A text, perhaps with a state to go on from.

    chunk: 0 leaves it at its default.
    decay, beta: the least and the largest.
    length: that of all keys.
    """

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n=draw.same or n)
        draw.label(f"chunks of {chunk or 64}" + (", goes on" if continued else ""))
        given = {
            "beta": draw.uniform(f"{leading} n", *beta),
            "log_decay": draw.uniform(f"{leading} n", *decay),
            "chunk": chunk or 64,
            "state": draw.normal(f"{leading} d_k d_v") if continued else None,
        }
        made = draw.arguments(leading, **given)
        made["key"] = length * torch.nn.functional.normalize(made["key"], dim=-1)
        if not chunk and not continued:
            del made["chunk"], made["state"]
        return made

    return case


def forgotten(draw: Draw) -> dict[str, Any]:
    """A state that the first word fades away: by chance, it would count in some draws.

    Differences of sums of log decays are right to the last digit of the sums, so these stay small.
    """
    made = text(20, decay=(-10.0, 0.0), continued=True)(draw)
    made["log_decay"][..., 0] = -60.0
    return made


BOTH = ("context", "state")

EXERCISE = Exercise(
    "chunked_gated_delta",
    returns="context state",
    parts=[Trial("in_chunks")],
    aspects=[
        Aspect(
            "one chunk",
            3,
            [
                text(6),
                text(4, length=1.4),
                text(5, 5, "batch n_heads"),
                text(6, beta=(1.0, 1.0)),
                text(6, decay=(0.0, 0.0)),
                text(5, beta=(0.0, 0.0)),
                text(40, beta=(0.3, 0.7), decay=(-0.03, 0.0)),
                text(7, 7),
            ],
            BOTH,
        ),
        Aspect(
            "several chunks",
            2,
            [
                text(8, 4),
                text(9, 3, "batch n_heads"),
                text(6, 1),
                text(70),
                text(11, 4, beta=(1.0, 2.0)),
            ],
            BOTH,
        ),
        Aspect(
            "goes on from a state",
            2,
            [
                text(8, 4, continued=True),
                text(7, 3, continued=True),
                text(1, 4, continued=True),
                text(90, 80, continued=True, beta=(0.3, 0.7), decay=(-0.03, 0.0)),
            ],
            BOTH,
        ),
        Aspect(
            "strong decays",
            2,
            [
                text(9, 4, decay=(-60.0, -40.0)),
                text(90, decay=(-3.0, -1.0)),
                forgotten,
            ],
            BOTH,
        ),
        Aspect(
            "a chunk at a time",
            2,
            [text(192, 30, ""), text(224, 32, "", continued=True)],
            (*BOTH, "of_chunks", "chunks", "cuts"),
        ),
        connected(text(7, 3, continued=True), text(9, 4, decay=(-60.0, -40.0)), outputs=BOTH),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    excuses=EXCUSES,
    hints=[
        "Take the loop over chunks from exercise 3. With t = `log_decay[..., "
        "words].cumsum(dim=-1)`, "
        "`t[..., :, None] - t[..., None, :]` has all differences.",
        "Set the differences above the diagonal to −∞ and take `exp`: that's the factor from word "
        "j "
        "to word i. A is β times the factor times k kᵀ, and the contexts need the factor times q "
        "kᵀ.",
        "`beta[..., words, None]` multiplies rows, and so does `t.exp()[..., None]`. The right "
        "side "
        "of the system is β (v − exp(t) k S).",
    ],
)
