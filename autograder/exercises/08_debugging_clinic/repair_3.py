"""The mean cross-entropy of each next word, in all texts, without padding."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Repair, SecondCall
from autograder.lessons.variants import Alternative, Mistake

from .shared import STILL_ILL


def padded(*lengths: int, last: bool = False) -> Callable[[Draw], dict[str, Any]]:
    """Texts of these lengths, with padding after them: the first word or, if `last`, the last."""

    def case(draw: Draw) -> dict[str, Any]:
        long = torch.tensor(lengths)
        if draw.same > 1:  # as many texts as words
            draw.same = len(lengths)
            long = long.clamp(max=len(lengths))
        n = int(long.max())
        n_words = draw.fix(batch=len(long), n=n).choose("n_words", 9, 11).size("n_words")
        words = torch.randint(1, n_words, (len(long), n), generator=draw.generator)
        padding = n_words - 1 if last else 0
        words = words - 1 if last else words
        tokens = words.masked_fill(torch.arange(n) >= long[:, None], padding)
        return draw.arguments(tokens=tokens, padding=padding)

    return case


def padded_first(draw: Draw) -> dict[str, Any]:
    """Texts with padding before them."""
    case = padded(6, 3)(draw)
    return case | {"tokens": case["tokens"].flip(1)}


def padded_within(draw: Draw) -> dict[str, Any]:
    """Texts with padding between their words, too."""
    case = padded(7, 5, 6)(draw)
    case["tokens"][:2, 2:4] = case["padding"]
    return case


def certain(draw: Draw) -> dict[str, Any]:
    """A model that is sure of itself, and right in many places, where the loss is exactly 0."""
    case = padded(7, 5)(draw)
    right = torch.nn.functional.one_hot(case["tokens"].roll(-1, 1), draw.size("n_words"))
    often = torch.tensor([1, 1, 0, 1, 1, 0, 1])[:, None]
    return case | {"logits": case["logits"] + 200.0 * right * often}


def sure_and_wrong(draw: Draw) -> dict[str, Any]:
    """A model that is sure of a wrong word in every third place of long texts."""
    case = padded(80, 71)(draw)
    same = torch.nn.functional.one_hot(case["tokens"], draw.size("n_words"))
    third = torch.arange(same.shape[1])[:, None] % 3 == 0
    return case | {"logits": case["logits"] + 60.0 * same * third}


EACH = "(losses * counts).sum(dim=1)"
LOSS = "return (losses * counts).sum() / counts.sum()"

EXERCISE = Exercise(
    "repair_3",
    returns="loss",
    also=(Form.EQUAL, Form.DOUBLE, *CALLS),
    parts=[Repair("as it came in"), SecondCall(after=padded(4, 2, 6, 3))],
    aspects=[
        Aspect(
            "texts of different lengths",
            1,
            [
                padded(4),
                padded(2, 6, 3, 1, 5),
                padded(1, 3, 1, 1),
                padded(5, 5, 5, 5),
                padded(7, 2, 4),
            ],
        ),
        Aspect("another padding", 1, [padded(3, 6, last=True), padded_first, padded_within]),
        Aspect("targets that cost nothing, or much", 1, [sure_and_wrong, certain]),
        connected(padded(7, 2, 4)),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Take a text of two targets and one of twenty. How much does each target "
            "count?",
            {LOSS: "return ((losses * counts).sum(dim=1) / counts.sum(dim=1)).mean()"},
        ),
        Mistake(
            "a mean of means",
            "You still take the mean of each text first, so the words of short texts count more.",
            {LOSS: f"return ({EACH} / counts.sum(dim=1).clamp(min=1)).mean()"},
            {LOSS: f"return ({EACH} / counts.sum(dim=1)).nanmean()"},
        ),
        Mistake(
            "up to the first padding",
            "You count targets up to the first padding only. Words that come after it count, too.",
            {"counts = target != padding": "counts = (target != padding).cumprod(dim=1).bool()"},
        ),
        Mistake(
            "as many from the start as count",
            "You count targets from the start of each text, as if all padding came last. It may "
            "come anywhere: ask of each target whether it is padding.",
            {
                "counts = target != padding": (
                    "length = (target != padding).sum(dim=1, keepdim=True)\n"
                    "    counts = torch.arange(target.shape[1]) < length"
                )
            },
        ),
        Mistake(
            "not shifted",
            "You took the shift away, so each place is judged by its own word. It predicts the "
            "next one: `logits[:, :-1]` go with `tokens[:, 1:]`.",
            {"target = tokens[:, 1:]": "target = tokens", "logits[:, :-1]": "logits"},
        ),
        Mistake(
            "shifted the wrong way",
            "You shifted the wrong way, so each place is judged by the word before it. It predicts "
            "the next one: `logits[:, :-1]` go with `tokens[:, 1:]`.",
            {
                "target = tokens[:, 1:]": "target = tokens[:, :-1]",
                "logits[:, :-1]": "logits[:, 1:]",
            },
        ),
        Mistake(
            "reshaped",
            "`reshape` keeps numbers in their order, so your places and words get mixed up. To "
            "swap two dimensions, use `transpose(1, 2)`.",
            {
                "logits[:, :-1].transpose(1, 2)": (
                    "logits[:, :-1].reshape(len(logits), logits.shape[2], -1)"
                )
            },
        ),
        Mistake(
            "divided by one too many",
            "You divide by one too many. Divide by the number of targets that count.",
            {LOSS: "return (losses * counts).sum() / (counts.sum() + 1)"},
        ),
        Mistake(
            "divided by all places",
            "You divide by the number of all places, padding included, so padding makes the loss "
            "smaller.",
            {LOSS: "return (losses * counts).mean()"},
        ),
        Mistake(
            "inputs that are padding",
            "You leave out the places where the *input* is padding. What counts is the target, "
            "which is the next word.",
            {"counts = target != padding": "counts = tokens[:, :-1] != padding"},
            {
                "counts = target != padding": (
                    "counts = (target != padding) & (tokens[:, :-1] != padding)"
                )
            },
        ),
        Mistake(
            "losses of zero left out",
            "You leave out targets whose loss is 0. A model that is sure and right has earned "
            "them.",
            {LOSS: "counts = counts & (losses > 0)\n    " + LOSS},
        ),
        Mistake(
            "padding counts",
            "Your mean includes padding.",
            {LOSS: "return losses.mean()"},
        ),
        Mistake(
            "divided by the number of words",
            "You divide by the number of words that aren't padding. The first word of a text is "
            "nobody's target: divide by the number of targets.",
            {LOSS: "return (losses * counts).sum() / (tokens != padding).sum()"},
        ),
        Mistake(
            "a sum",
            "This is the sum of the losses. Divide it by the number of targets that count.",
            {LOSS: "return (losses * counts).sum()"},
        ),
        Mistake(
            "divided by the number of texts",
            "You divide by the number of texts, so long texts make the loss larger. Divide by the "
            "number of targets that count.",
            {LOSS: "return (losses * counts).sum() / len(tokens)"},
        ),
        Mistake(
            "padding in the sum alone",
            "You divide by the number of targets that count, but the sum has the losses of "
            "padding in it, too. Leave them out of both.",
            {LOSS: "return losses.sum() / counts.sum()"},
        ),
    ],
    alternatives=[
        Alternative(
            "ignore_index",
            "return F.cross_entropy(\n"
            "    logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=padding\n"
            ")",
        ),
        Alternative("picked out", {LOSS: "return losses[counts].mean()"}),
    ],
    hints=[
        "Which targets count, and how much does each? They should all count the same.",
        "A mean of means isn't the mean: a short text's words count more.",
        "Add up all losses that count, in all texts, and divide once.",
    ],
    excuses={
        "wrong at one size alone: n": "one word has no next one, or is padding",
        "result squeezed": "it has no dimensions",
        "result flipped": "likewise",
        "result without signs": "no loss is negative",
        "result without negatives": "likewise",
    },
)
