"""A token as if drawn from `target`, given one that was drawn from `draft`."""

import torch

from autograder.judging.code_marks import count
from autograder.lessons.cases import Goal, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

MOST_PAIRS_ERROR = 6e-4  # of frequencies: ten times the error of pure luck, or more


def two_models(draft: tuple[float, ...], target: tuple[float, ...]) -> Inputs:
    """Probabilities of both models, in random order."""

    def case(draw: Draw) -> Goal:
        order = torch.randperm(len(draft), generator=draw.generator)
        q, p = (torch.tensor(probs)[order] for probs in (draft, target))
        draw.label(count(len(draft), "token"))
        goal = {
            "pairs": pair_chances(q, p),
            "only_possible": torch.tensor(True),
            "by_generator": torch.tensor(True),
            "varies": torch.tensor(not torch.equal(q, p)),
            "advances": torch.tensor(not torch.equal(q, p)),
        }
        return Goal({"draft": q, "target": p}, goal, MOST_PAIRS_ERROR)

    return case


def pair_chances(draft: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """How often each draft token becomes each other one, [n_tokens, n_tokens]."""
    n = len(draft)
    kept = [min(q, p) for q, p in zip(draft.tolist(), target.tolist(), strict=True)]
    lacking = [p - k for p, k in zip(target.tolist(), kept, strict=True)]
    refused = sum(lacking) or 1.0
    pairs = [
        [(draft[i].item() - kept[i]) * lacking[j] / refused + (i == j) * kept[i] for j in range(n)]
        for i in range(n)
    ]
    return torch.tensor(pairs)


CERTAIN = "torch.rand((), generator=generator) < target[token] / draft[token]"
LACKING = "(target - draft).clamp(min=0.0)"
# The same in another order of random numbers.
EITHER = f"target[token] >= draft[token] or {CERTAIN}"


def drawn_from(lacking: str) -> tuple[dict[str, str], ...]:
    """Edits that draw from something else if the draft's token isn't kept."""
    return {LACKING: lacking}, {LACKING: lacking, CERTAIN: EITHER}


EXERCISE = Exercise(
    "speculate",
    returns="pairs",
    parts=[Trial("draw_again")],
    challenge=True,
    also=(),
    aspects=[
        Aspect(
            "tokens as likely as the target's own",
            1,
            [
                two_models((0.6, 0.3, 0.1), (0.2, 0.3, 0.5)),
                two_models((0.4, 0.3, 0.2, 0.1), (0.1, 0.35, 0.25, 0.3)),
                two_models((0.4, *[0.03] * 20, 0.0, 0.0), (0.1, *[0.0] * 20, 0.4, 0.5)),
            ],
        ),
        Aspect(
            "the draft's token, whenever possible",
            1,
            [
                two_models((0.5, 0.5, 0.0), (0.0, 0.25, 0.75)),
                two_models((0.2, 0.5, 0.3), (0.2, 0.5, 0.3)),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "always kept",
            "You keep the draft's token every time, so the text is the draft's.",
            {f"if {CERTAIN}:": "if True:"},
        ),
        Mistake(
            "never kept",
            "Your tokens come as often as they should, but you throw the draft's token away. Keep "
            "it with probability p / q (always, if p ≥ q), so that the draft's work isn't wasted.",
            "return torch.multinomial(target, 1, generator=generator).item()",
        ),
        Mistake(
            "from the target again",
            "If the draft's token isn't kept, you draw from the whole target. Some tokens then "
            "come too often. Draw from max(0, p − q).",
            *drawn_from("target"),
        ),
        Mistake(
            "from the draft again",
            "If the draft's token isn't kept, you draw from the draft once more. Draw from "
            "max(0, p − q).",
            *drawn_from("draft"),
        ),
        Mistake(
            "kept and refused exchanged",
            "You keep the token where you should refuse it. `torch.rand(())` is *below* p / q with "
            "probability p / q.",
            {CERTAIN: CERTAIN.replace("<", ">")},
        ),
        Mistake(
            "the ratio upside down",
            "Your ratio is upside down: keep the token with probability p / q, target by draft.",
            {"target[token] / draft[token]": "draft[token] / target[token]"},
            {
                CERTAIN: "target[token] <= draft[token] or "
                + CERTAIN.replace("target[token] / draft[token]", "draft[token] / target[token]")
            },
        ),
        Mistake(
            "kept if it is more likely",
            "Where p is less than q, you don't leave it to chance whether the token is kept. Keep "
            "it with probability p / q.",
            {CERTAIN: "target[token] >= draft[token]"},
        ),
        Mistake(
            "kept by p alone",
            "You keep the token with probability p. Divide by q: the draft drew it with that "
            "probability already.",
            {"target[token] / draft[token]": "target[token]"},
            {CERTAIN: EITHER.replace(" / draft[token]", "")},
        ),
        Mistake(
            "the difference the wrong way",
            "You drew from the tokens that the draft made too likely. Draw from those it made too "
            "unlikely: max(0, p − q).",
            *drawn_from("(draft - target).clamp(min=0.0)"),
        ),
        Mistake(
            "another source of randomness",
            "You didn't draw with `generator`, so the same generator doesn't give the same token.",
            {CERTAIN: CERTAIN.replace("(), generator=generator", "()")},
            {"torch.multinomial(lacking, 1, generator=generator)": "torch.multinomial(lacking, 1)"},
        ),
        Mistake(
            "the difference without its sign",
            "You took |p − q|. Where q is larger, nothing is lacking: max(0, p − q).",
            *drawn_from("(target - draft).abs()"),
        ),
        Mistake(
            "a softmax of the difference",
            "You took a softmax of max(0, p − q), so even tokens that lack nothing may be drawn. "
            "`torch.multinomial` takes it as it is.",
            *drawn_from(f"{LACKING}.softmax(dim=-1)"),
        ),
        Mistake(
            "a place, not a token",
            "You drew from what `rest[rest > 0]` leaves, and returned a place among these, which "
            "is no token. Draw from all tokens: those that lack nothing have probability 0.",
            *drawn_from(f"{LACKING}\n    lacking = lacking[lacking > 0]"),
        ),
    ],
    alternatives=[
        Alternative(
            "without a division",
            {
                CERTAIN: "torch.rand((), generator=generator) * draft[token] < target[token]",
                LACKING: "torch.maximum(target - draft, torch.zeros(()))",
            },
            excuses={
                "another comparison": "no draw is exactly that",
                "arguments swapped: torch.maximum": "the order does not matter",
            },
        ),
        Alternative(
            "in two steps",
            {
                f"    if {CERTAIN}:\n        return token\n": (
                    "    if target[token] >= draft[token]:\n"
                    "        return token\n"
                    "    kept = torch.rand((), generator=generator)\n"
                    "    if kept < target[token] / draft[token]:\n"
                    "        return token\n"
                )
            },
            excuses={
                "another comparison": "either way, it is kept",
                "condition fixed": "a draw is always below a ratio of 1 or more",
            },
        ),
    ],
    hints=[
        "`torch.rand(())` is below x with probability x, if x is at most 1. And above 1? Then it's "
        "always below.",
        "What the draft is missing: the target minus the draft, with negative numbers set to 0.",
        "`torch.multinomial` doesn't need numbers that sum to 1.",
    ],
    excuses={
        "another comparison: torch.rand": "no draw is exactly that",
        "float32 inside": "that is less than luck does to frequencies",
        "half precision inside": "likewise",
    },
)
