"""Draw a token."""

import math
from typing import Any

import torch

from autograder.lessons.cases import Goal, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial

from .sample_variants import ALTERNATIVES, MISTAKES

MOST_ERROR = 1.6e-3  # of frequencies: 15 times the error of pure luck, or more


def chances(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> list[float]:
    """The probability of each token, in plain Python."""
    ranked = sorted(range(len(logits)), key=lambda token: -logits[token].item())
    if temperature == 0:
        return [float(token == ranked[0]) for token in range(len(logits))]
    exps = [math.exp(logit / temperature) for logit in logits.tolist()]
    kept = ranked[:top_k]
    if top_p is not None:
        total, reached = sum(exps[token] for token in kept), 0.0
        for count, token in enumerate(kept, start=1):
            reached += exps[token] / total
            if reached >= top_p:
                kept = kept[:count]
                break
    total = sum(exps[token] for token in kept)
    return [exps[token] / total if token in kept else 0.0 for token in range(len(logits))]


def drawing(
    *probs: float,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    shift: float = 1.5,
    stated: bool = True,
    most_error: float = MOST_ERROR,
) -> Inputs:
    """Tokens with these probabilities, in random order; `shift` is added to all logits.

    The first token is not the likeliest.
    stated: whether the other arguments are given; they have defaults.
    """

    def case(draw: Draw) -> Goal:
        order = torch.randperm(len(probs), generator=draw.generator)
        order = order.roll(int(order[0] == 0))
        logits = (torch.tensor(probs, dtype=torch.float64)[order].log() + shift).float()
        how: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        told = [f"{name} {value}" for name, value in how.items() if value is not None]
        draw.label(", ".join(told))
        wanted = torch.tensor(chances(logits.double(), **how))
        goal = {
            "frequencies": wanted,
            "possible": wanted > 0,
            "by_generator": torch.tensor(True),
            "varies": (wanted > 0).sum() > 1,
            "advances": (wanted > 0).sum() > 1,
        }
        return Goal({"logits": logits} | (how if stated else {}), goal, most_error)

    return case


EVEN = (0.28, 0.22, 0.18, 0.14, 0.1, 0.08)
STEEP = (0.55, 0.2, 0.11, 0.08, 0.06)
RARE = (0.6, *[0.00049 - 2e-7 * i for i in range(1000)])  # each is unlikely, all together are not

BELOW_1 = (1 / 41,) * 41  # whose sum in float32 stays below 1, on any processor

EXERCISE = Exercise(
    "sample",
    returns="frequencies",
    parts=[Trial("draw_often")],
    also=(),
    seconds=30.0,
    aspects=[
        Aspect(
            "temperature",
            1,
            [
                drawing(*EVEN, temperature=0.4),
                drawing(*STEEP, temperature=2.5),
                drawing(0.21, 0.2, 0.2, 0.195, 0.195, temperature=0.05),
                drawing(*EVEN, temperature=0.0, shift=-2.0),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "top-k",
            1,
            [
                drawing(*EVEN, top_k=2, shift=-300.0),
                drawing(*EVEN, top_k=9),
                drawing(*STEEP, top_k=1),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "top-p",
            2,
            [
                drawing(*EVEN, top_p=0.6),
                drawing(*STEEP, top_p=0.3),
                drawing(*STEEP, top_p=0.9),
                drawing(*EVEN, top_p=1.0),
                drawing(*BELOW_1, top_p=1.0),
                drawing(0.5, 0.3, 0.2, top_p=0.5002),
                drawing(0.5, 0.25, 0.25, top_p=0.5, shift=0.0),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "several knobs at once",
            1,
            [
                drawing(*EVEN, temperature=3.0, top_p=0.45),
                drawing(*EVEN, top_k=3, top_p=0.7),
                drawing(*STEEP, temperature=3.0, top_k=4, top_p=0.6),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "the generator decides",
            1,
            [
                drawing(*STEEP),
                drawing(*RARE, most_error=MOST_ERROR / 100),
                drawing(*EVEN, stated=False),
            ],
            outputs=("by_generator", "varies", "advances", "frequencies"),
        ),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "In this order: temperature (0 returns at once; otherwise divide), top-k, softmax, top-p, "
        "and the draw. Skip top-k and top-p where they are None.",
        "Top-k: `logits.topk(k).values` are the k largest, the last of them the smallest that "
        "stays. Set everything below it to −∞.",
        "Top-p: `probs.sort(descending=True)` returns the sorted values and their tokens. "
        "`cumsum` of the values is the sum up to each rank; minus the value itself, it's the sum "
        "*before* each rank. A token stays if that is below p.",
    ],
    excuses={
        "another fill: $X.masked_fill($M, -1e4)": "e to that power is 0 in float32",
        "another fill: $X.masked_fill($M, -1e9)": "likewise",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "in place: logits.masked_fill": "what it changes is its own by then",
        "another number: 1 → 0 (2)": "there is one dimension",
        "another number: 1 → 0 (3)": "likewise",
        "arguments swapped: min(top_k": "the order does not matter",
        "float32 inside": "that is less than luck does to frequencies",
        "half precision inside": "likewise",
    },
)
