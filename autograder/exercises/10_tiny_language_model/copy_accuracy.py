"""The share of right guesses, over all places whose next token can be known."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import tokens_of

# What can be known: [batch, n] of True and False.
KNOWN: dict[str, Callable[[Draw, torch.Tensor], torch.Tensor]] = {
    "known from some place on": lambda draw, place: (
        place > 2 + torch.arange(draw.size("batch"))[:, None] % 5
    ),
    "known here and there": lambda draw, place: draw.keep("batch n"),
    "known, but in the first text": lambda draw, place: (
        (torch.arange(draw.size("batch"))[:, None] > 0) & (place > 3)
    ),
    "everything known": lambda draw, place: place.expand(draw.shape("batch n")) >= 0,
}


def guessed(known: str) -> Inputs:
    """Texts, and guesses of which about two in three are right."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.among("n", 10, 12, 14, 22).choose("n_tokens", 11, 13).label(known)
        tokens, logits = tokens_of(draw), draw.normal("batch n n_tokens")
        is_right = draw.uniform("batch n") < 2 / 3
        following = tokens.roll(-1, dims=1)[..., None]
        boosted = logits.scatter(-1, following, logits.amax(dim=-1, keepdim=True) + 1)
        return {
            "logits": torch.where(is_right[..., None], boosted, logits),
            "tokens": tokens,
            "known": KNOWN[known](draw, torch.arange(draw.size("n"))),
        }

    return case


COUNTED = "counted = known[:, 1:]"
RIGHT = "right = logits[:, :-1].argmax(dim=-1) == tokens[:, 1:]"
SHARE = "right[counted].float().mean()"

EXERCISE = Exercise(
    "copy_accuracy",
    returns="accuracy",
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("right guesses, where they count", 3, [guessed(known) for known in reversed(KNOWN)])
    ],
    mistakes=[
        Mistake(
            "all places counted",
            "You counted all places. Where no model could know the next token, it doesn't count.",
            {SHARE: "right.float().mean()"},
        ),
        Mistake(
            "known not shifted",
            "You counted the places that *read* a known token. Count those where the *next* token "
            "is known: `known[:, 1:]`.",
            {COUNTED: "counted = known[:, :-1]"},
        ),
        Mistake(
            "the unknown counted",
            "You counted the places where no model could know the next token. Count the others.",
            {COUNTED: "counted = ~known[:, 1:]"},
        ),
        Mistake(
            "not shifted",
            "You compared each place's guess with the token at the same place. The guess is about "
            "the *next* token.",
            {RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, 1:]"},
            {
                RIGHT: "right = logits.argmax(dim=-1) == tokens",
                COUNTED: "counted = known",
            },
        ),
        Mistake(
            "shifted backward",
            "You shifted the wrong way: your guesses are compared with the token *before* them.",
            {RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, :-1]"},
            {
                RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, :-1]",
                COUNTED: "counted = known[:, :-1]",
            },
        ),
        Mistake(
            "the number, not the share",
            "You counted the right guesses. Divide by the number of guesses that count.",
            {SHARE: "right[counted].float().sum()"},
        ),
        Mistake(
            "divided by all",
            "You counted the right guesses where they count, but divided by the number of all "
            "places. Divide by the number of those that count.",
            {SHARE: "(right & counted).float().mean()"},
        ),
        Mistake(
            "divided by all that are known",
            "You divided by `known.sum()`, which counts the first token, too. No guess is about "
            "that one: divide by the number of `known[:, 1:]`.",
            {SHARE: "right[counted].float().sum() / known.sum()"},
        ),
        Mistake(
            "the mean of means",
            "You took the mean of each text first. All places that count should count alike: take "
            "one mean over them.",
            {SHARE: "((right & counted).sum(dim=1) / counted.sum(dim=1)).mean()"},
            {SHARE: "((right & counted).sum(dim=1) / counted.sum(dim=1)).nanmean()"},
            {SHARE: "((right & counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)).mean()"},
        ),
        Mistake(
            "one accuracy for each text",
            "You returned an accuracy for each text. Return one over all of them.",
            {SHARE: "(right & counted).sum(dim=1) / counted.sum(dim=1)"},
        ),
        Mistake(
            "the probability, not the likeliest",
            "You took the probability of the right token. Ask whether it's the *likeliest* one: "
            "`argmax`.",
            {
                RIGHT: "probs = logits[:, :-1].softmax(dim=-1)\n"
                "    right = probs.gather(-1, tokens[:, 1:, None]).squeeze(-1)"
            },
        ),
        Mistake(
            "rolled around",
            "`roll` brings the first token around to the end, as if it came after the last place. "
            "The last place has no next token: leave it out.",
            {
                RIGHT: "right = logits.argmax(dim=-1) == tokens.roll(-1, dims=1)",
                COUNTED: "counted = known.roll(-1, dims=1)",
            },
        ),
        Mistake(
            "shifted after flattening",
            "You flattened first, then shifted, so the last place of each text guesses the first "
            "token of the next text. Shift first.",
            {
                RIGHT: "right = logits.argmax(dim=-1).flatten()[:-1] == tokens.flatten()[1:]",
                COUNTED: "counted = known.flatten()[1:]",
            },
        ),
        Mistake(
            "whole texts counted",
            "You counted a text only if all its guesses are right. Count each guess by itself.",
            {SHARE: "(right | ~counted).all(dim=1).float().mean()"},
        ),
        Mistake(
            "the error rate",
            "You returned how often the guess is wrong. Return how often it's right.",
            {"argmax(dim=-1) ==": "argmax(dim=-1) !="},
        ),
        Mistake(
            "only the last place",
            "You looked at one place of each text. All places that count should count.",
            {SHARE: "right[:, -1].float().mean()"},
        ),
        Mistake(
            "in percent",
            "You returned a percentage. Return a share, from 0 to 1.",
            {SHARE: f"100 * {SHARE}"},
        ),
        Mistake(
            "the least likely",
            "You took the *least* likely token. The guess is the likeliest: `argmax`.",
            {"argmax": "argmin"},
        ),
        Mistake(
            "the token before has to be known, too",
            "You count a guess only if the token before it is known as well. Only the token that "
            "is guessed has to be: `known[:, 1:]`.",
            {"known[:, 1:]": "known[:, 1:] & known[:, :-1]"},
        ),
        Mistake(
            "right if more than half sure",
            "You count a guess as right only if its probability is above ½. The likeliest token "
            "is the guess, however unlikely it is.",
            {
                "logits[:, :-1].argmax(dim=-1) == tokens[:, 1:]": (
                    "logits[:, :-1].softmax(-1).gather(2, tokens[:, 1:, None])[..., 0] > 0.5"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "by counting",
            """
            right = counted = 0
            for text, guesses, is_known in zip(tokens, logits.argmax(dim=-1), known):
                for place in range(1, len(text)):
                    if is_known[place]:
                        counted += 1
                        right += int(guesses[place - 1] == text[place])
            return torch.tensor(right / counted)
            """,
            excuses={
                "call dropped: int(": "True counts as 1",
            },
        ),
        Alternative(
            "select first",
            """
            following = known[:, 1:]
            guesses = logits[:, :-1][following].topk(1).indices.squeeze(-1)
            return (guesses == tokens[:, 1:][following]).double().mean().to(logits.dtype)
            """,
            excuses={"argument dropped: logits": "several guesses count"},
        ),
    ],
    hints=[
        "What does the model guess at each place? The likeliest token. And what is the guess "
        "about? The next place.",
        "`logits[:, :-1].argmax(dim=-1)` and `tokens[:, 1:]` line up, as in `next_token_loss`.",
        "`known[:, 1:]` says for each of these guesses whether it counts. Use it as an index, "
        "and take the mean of what is left.",
    ],
    excuses={
        "wrong at one size alone: n": "nothing predicts a single token",
        "result clamped": "a share is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "result flipped": "a share is a single number",
        "result squeezed": "likewise",
        "result in float32": "the logits decide which token is likeliest, and nothing else",
        "result rounded to float32": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
        "result detached": "what is counted has no gradient",
        "without gradients": "likewise",
    },
)
