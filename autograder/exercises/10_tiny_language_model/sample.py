"""Draw a token."""

import math
from typing import Any

import torch

from autograder.lessons.cases import Goal, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

MOST_ERROR = 8e-4  # of frequencies: six times the error of pure luck


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
) -> Inputs:
    """Tokens with these probabilities, in random order; `shift` is added to all logits.

    The first token is not the likeliest.
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
        }
        return Goal({"logits": logits} | how, goal, MOST_ERROR)

    return case


EVEN = (0.28, 0.22, 0.18, 0.14, 0.1, 0.08)
STEEP = (0.55, 0.2, 0.11, 0.08, 0.06)
DIVIDED = "logits = logits / temperature"
LEAST = "least = logits.topk(min(top_k, len(logits))).values[-1]"
HIDDEN = "logits = logits.masked_fill(logits < least, -torch.inf)"
LIKELIER = "likelier = ranked.cumsum(dim=-1) - ranked"
REMOVED = "probs[order[likelier >= top_p]] = 0.0"
DRAWN = "torch.multinomial(probs, 1, generator=generator).item()"
SORTED = """
if temperature == 0:
    return int(logits.argmax())
ranked, order = (logits / temperature).softmax(dim=-1).sort(descending=True)
if top_k is not None:
    ranked = ranked[:top_k] / ranked[:top_k].sum()
if top_p is not None:
    ranked = ranked[: int((ranked.cumsum(0) < top_p).sum()) + 1]
return int(order[torch.multinomial(ranked, 1, generator=generator)])
"""
KEPT = "int((ranked.cumsum(0) < top_p).sum()) + 1"
FIRST_K = """if top_k is not None:
    ranked = ranked[:top_k] / ranked[:top_k].sum()
"""

EXERCISE = Exercise(
    "sample",
    returns="frequencies",
    parts=[Trial("draw_often")],
    also=(),
    seconds=15.0,
    aspects=[
        Aspect(
            "temperature",
            1,
            [
                drawing(*EVEN, temperature=0.4),
                drawing(*STEEP, temperature=2.5),
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
            [drawing(*STEEP)],
            outputs=("by_generator", "varies", "frequencies"),
        ),
    ],
    mistakes=[
        Mistake(
            "always the likeliest",
            "You always take the likeliest token. Draw one at random, with `torch.multinomial`.",
            {DRAWN: "probs.argmax().item()"},
        ),
        Mistake(
            "no zero",
            "At temperature 0, you divide by 0. Take the likeliest token there.",
            {
                "    if temperature == 0:\n        return logits.argmax().item()\n": "",
            },
        ),
        Mistake(
            "temperature ignored",
            "You didn't use the temperature: divide the logits by it.",
            {DIVIDED: "logits = logits.clone()"},
            SORTED.replace("(logits / temperature)", "logits"),
        ),
        Mistake(
            "times the temperature",
            "You multiplied by the temperature, so it works backward. Divide the logits by it.",
            {DIVIDED: "logits = logits * temperature"},
            SORTED.replace("logits / temperature", "logits * temperature"),
        ),
        Mistake(
            "temperature on the probabilities",
            "You divided the probabilities by the temperature, which changes nothing: they are "
            "made to sum to 1 again. Divide the logits.",
            {
                f"    {DIVIDED}\n": "",
                "probs = logits.softmax(dim=-1)": "probs = logits.softmax(dim=-1) / temperature",
            },
        ),
        Mistake(
            "the least likely",
            "Your top-k keeps the *least* likely tokens.",
            {
                LEAST: LEAST.replace("topk(", "neg().topk(").replace(".values", ".values.neg()"),
                "logits < least": "logits > least",
            },
        ),
        Mistake(
            "one too many",
            "Your top-k keeps one token too many.",
            {"min(top_k, len(logits))": "min(top_k + 1, len(logits))"},
        ),
        Mistake(
            "one too few",
            "Your top-k keeps one token too few: keep the k-th, too.",
            {"logits < least": "logits <= least"},
        ),
        Mistake(
            "only the k-th",
            "Your top-k keeps only the k-th token. Keep those above it, too.",
            {"logits < least": "logits != least"},
        ),
        Mistake(
            "top-k larger than the number of tokens",
            "If `top_k` is larger than the number of tokens, keep them all: `min(top_k, "
            "len(logits))`.",
            {"min(top_k, len(logits))": "top_k"},
        ),
        Mistake(
            "top-k ignored",
            "You didn't use `top_k`.",
            {HIDDEN: "pass"},
        ),
        Mistake(
            "logits of 0",
            "You set the other logits to 0, but a logit of 0 isn't a probability of 0: e⁰ is 1. "
            "Set them to −∞, or set probabilities to 0.",
            {HIDDEN: "logits = logits.masked_fill(logits < least, 0.0)"},
        ),
        Mistake(
            "without the token that crosses",
            "Your top-p leaves out the token that crosses the line. It stays in: keep a token if "
            "those *before* it haven't reached p.",
            {LIKELIER: "likelier = ranked.cumsum(dim=-1)", ">= top_p": "> top_p"},
            {
                LIKELIER: "likelier = ranked.cumsum(dim=-1)",
                REMOVED: "probs[order[1:][likelier[1:] > top_p]] = 0.0",
            },
            SORTED.replace(KEPT, "max(1, int((ranked.cumsum(0) < top_p).sum()))"),
        ),
        Mistake(
            "one after the one that crosses",
            "Your top-p keeps a token too many, the one after the one that crosses the line.",
            {
                REMOVED: "keep = int((likelier < top_p).sum()) + 1\n"
                "        probs[order[keep:]] = 0.0"
            },
            SORTED.replace(KEPT, KEPT.replace("+ 1", "+ 2")),
        ),
        Mistake(
            "each token against p",
            "You compared each single probability with p. What counts is the sum, from the "
            "likeliest token down.",
            {REMOVED: "probs[probs < min(top_p, probs.max())] = 0.0"},
            {REMOVED: "probs[probs < 1 - top_p] = 0.0"},
        ),
        Mistake(
            "not put back in order",
            "Your top-p removes tokens by their rank, not by their number. `sort` also returns "
            "where each value was; use that to get back.",
            {REMOVED: "probs[likelier >= top_p] = 0.0"},
        ),
        Mistake(
            "a rank, not a token",
            "You drew from the sorted probabilities and returned the rank. Look up which token has "
            "that rank.",
            {
                REMOVED: "probs = ranked.masked_fill(likelier >= top_p, 0.0)",
            },
            SORTED.replace("order[torch", "(torch").replace("generator)]", "generator))"),
        ),
        Mistake(
            "from the least likely up",
            "Your top-p adds up from the *least* likely token. Sort with `descending=True`.",
            {"probs.sort(descending=True)": "probs.sort()"},
        ),
        Mistake(
            "top-p ignored",
            "You didn't use `top_p`.",
            {REMOVED: "pass"},
        ),
        Mistake(
            "top-p before temperature",
            "Your top-p works with the probabilities at temperature 1. The temperature comes "
            "first.",
            {
                f"    {DIVIDED}\n": "",
                "probs.sort(descending=True)": "probs.sort(descending=True)",
                f"    return {DRAWN}": (
                    f"    probs = (probs.log() / temperature).softmax(dim=-1)\n    return {DRAWN}"
                ),
            },
            SORTED.replace("(logits / temperature)", "logits").replace(
                "(ranked, 1", "(ranked ** (1 / temperature), 1"
            ),
        ),
        Mistake(
            "top-p before top-k",
            "Your top-p works with the probabilities before top-k. Top-k comes first, and what it "
            "leaves sums to 1 again.",
            {
                HIDDEN: "pass",
                f"    return {DRAWN}": (
                    "    if top_k is not None:\n"
                    "        probs = probs.masked_fill(logits < least, 0.0)\n"
                    f"    return {DRAWN}"
                ),
            },
            SORTED.replace(FIRST_K, "").replace("return int(order", f"{FIRST_K}return int(order"),
        ),
        Mistake(
            "another source of randomness",
            "You didn't draw with `generator`, so the same generator doesn't give the same token.",
            {DRAWN: "torch.multinomial(probs, 1).item()"},
        ),
        Mistake(
            "a new generator",
            "Without a generator, you make a new one for each draw, and it always starts the same. "
            "Pass None on: torch then draws from a generator of its own.",
            {DRAWN: DRAWN.replace("=generator", "=generator or torch.Generator()")},
        ),
        Mistake(
            "the seed set anew",
            "You set the generator's seed, so it gives the same token each time. Leave its state "
            "to the caller.",
            {DRAWN: "torch.multinomial(probs, 1, generator=generator.manual_seed(1)).item()"},
        ),
        Mistake(
            "evenly",
            "All remaining tokens come up equally often. Draw according to their probabilities.",
            {DRAWN: "torch.multinomial((probs > 0).float(), 1, generator=generator).item()"},
        ),
        Mistake(
            "logits as probabilities",
            "You drew by something other than the probabilities. Take a softmax of the logits.",
            {"probs = logits.softmax(dim=-1)": "probs = logits.sigmoid()"},
            {"probs = logits.softmax(dim=-1)": "probs = logits.clamp(min=0.0) + 1e-9"},
        ),
    ],
    alternatives=[
        Alternative(
            "by a running sum",
            {
                f"return {DRAWN}": (
                    "level = torch.rand((), generator=generator) * probs.sum()\n"
                    "    return int(torch.searchsorted(probs.cumsum(dim=-1), level))"
                )
            },
            excuses={"another number: 1 → 0": "there is one dimension"},
        ),
        Alternative(
            "among the sorted",
            SORTED,
            excuses={
                "another comparison": "no sum is exactly p",
                "another number: 1 → 0": "there is one dimension",
                "another number: 0 → -1": "likewise",
                "call dropped: int((ranked": "a tensor can be an index",
            },
        ),
        Alternative(
            "by adding noise",
            {
                f"return {DRAWN}": (
                    "noise = torch.empty(len(probs)).exponential_(generator=generator)\n"
                    "    return int((probs / noise).argmax())"
                )
            },
        ),
    ],
    hints=[
        "Four steps, and the first three are skipped if nobody asks for them: temperature 0 "
        "returns at once; otherwise divide; then top-k; then softmax and top-p. At the end, draw.",
        "Top-k: `logits.topk(k).values` are the k largest, the last of them the smallest that "
        "stays. Set everything below it to −∞.",
        "Top-p: `probs.sort(descending=True)` returns the sorted values and their tokens. "
        "`cumsum` of the values is the sum up to each rank; minus the value itself, it's the sum "
        "*before* each rank. A token stays if that is below p.",
    ],
    excuses={
        "another comparison: likelier >= top_p": "no sum is exactly p",
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
