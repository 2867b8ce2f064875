"""The mean of −ln p(next token), over all places that have a next token."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import tokens_of


def guesses(scale: float = 1.0) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.among("n", *LENGTHS)
        return draw.arguments(scale=scale, tokens=tokens_of(draw), ignore=None)

    return case


def padded(ignore: int, empty: bool = False, **sizes: int) -> Inputs:
    """Texts, the first one short, the second padded in front, the last the longest.

    empty: whether the first has no token that counts.
    """

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes).among("n", *LENGTHS).choose("n_tokens", 8, 9)
        if draw.size("n_tokens") == 1:  # then nothing would count
            draw.fix(n_tokens=8)
        draw.label(f"padded with {ignore}")
        tokens = tokens_of(draw)
        tokens[tokens == ignore] = (ignore + 1) % draw.size("n_tokens")
        tokens[:-1, -1], tokens[1:2, :2] = ignore, ignore
        tokens[0, 1 if empty else 2 :] = ignore
        return draw.arguments(tokens=tokens, ignore=ignore)

    return case


def many_tokens(draw: Draw) -> dict[str, Any]:
    """More than a hundred tokens, with number 100 among those that count."""
    tokens = tokens_of(draw.among("n", *LENGTHS).fix(n_tokens=120))
    tokens[:, 1] = 100
    return draw.arguments(tokens=tokens, ignore=None)


LENGTHS = (3, 4, 5, 6, 7, 21)  # where there is nothing to predict, there is no mean
SHIFTED = "predicted, following = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()"
UNSHIFTED = "predicted, following = logits.flatten(0, 1), tokens.flatten()"
BACKWARD = "predicted, following = logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten()"
IGNORED = "-100 if ignore is None else ignore"
LOSS = "F.cross_entropy(predicted, following, ignore_index=ignored)"

EXERCISE = Exercise(
    "next_token_loss",
    returns="loss",
    also=(*SIZES, *CALLS),  # what float64 becomes is left open: libraries return float32
    aspects=[
        Aspect("the next token", 2, [many_tokens, guesses(scale=100.0), guesses()]),
        connected(guesses()),
        Aspect(
            "ignored tokens",
            2,
            [padded(1), padded(0), padded(0, empty=True), padded(1, batch=1), padded(2, n=7)],
        ),
    ],
    mistakes=[
        Mistake(
            "not shifted",
            "You compared each place's logits with the token at the same place. The logits are "
            "about the *next* token: drop the last place's logits and the first token.",
            {SHIFTED: UNSHIFTED},
            {SHIFTED: UNSHIFTED, IGNORED: "-100"},
        ),
        Mistake(
            "shifted backward",
            "You shifted the wrong way: your logits are compared with the token *before* them. "
            "Drop the last place's logits and the first token.",
            {SHIFTED: BACKWARD},
            {SHIFTED: BACKWARD, IGNORED: "-100"},
        ),
        Mistake(
            "two places ahead",
            "You shifted twice: your logits are compared with the token after the next.",
            {SHIFTED: SHIFTED.replace(":-1", ":-2").replace("[:, 1:]", "[:, 2:]")},
        ),
        Mistake(
            "rolled around",
            "`roll` brings the first token around to the end, as if it came after the last place. "
            "The last place has no next token: leave it out.",
            {SHIFTED: "predicted, following = logits.flatten(0, 1), tokens.roll(-1, 1).flatten()"},
        ),
        Mistake(
            "shifted along the batch",
            "You shifted along the batch, so each text is compared with another one. Shift along "
            "the places, dimension 1.",
            {SHIFTED: "predicted, following = logits[:-1].flatten(0, 1), tokens[1:].flatten()"},
        ),
        Mistake(
            "shifted after flattening",
            "You flattened first, then shifted. Now the last place of each text is compared with "
            "the first token of the next text. Shift first.",
            {SHIFTED: "predicted, following = logits.flatten(0, 1)[:-1], tokens.flatten()[1:]"},
        ),
        Mistake(
            "the sum, not the mean",
            "You added up the losses. Take their mean, so that longer texts don't cost more.",
            {LOSS: LOSS[:-1] + ', reduction="sum")'},
        ),
        Mistake(
            "the mean of means",
            "You took the mean of each text first. With padding, short texts would count too much: "
            "take one mean over all the places that count.",
            *(
                {
                    f"return {LOSS}": (
                        'losses = F.cross_entropy(predicted, following, reduction="none", '
                        "ignore_index=ignored)\n"
                        "    kept = (following != ignored).unflatten(0, (len(tokens), -1)).sum(1)\n"
                        "    losses = losses.unflatten(0, (len(tokens), -1)).sum(1)\n"
                        f"    return (losses / {kept}).mean()"
                    ),
                }
                for kept in ("kept", "kept.clamp(min=1)")
            ),
        ),
        Mistake(
            "ignore not used",
            "You didn't use `ignore`: places whose next token is that one still count.",
            {IGNORED: "-100"},
        ),
        Mistake(
            "ignored places counted",
            "The ignored places add nothing to your sum, as they should, but you still divide by "
            "their number. Leave them out of the count, too.",
            {LOSS: LOSS[:-1] + ', reduction="sum") / following.numel()'},
        ),
        Mistake(
            "ignored by the token at the place",
            "You left out the places where the model *reads* the ignored token. Leave out those "
            "where it comes next.",
            {
                f"return {LOSS}": (
                    "counted = tokens[:, :-1].flatten() != ignored\n"
                    "    return F.cross_entropy(predicted[counted], following[counted])"
                )
            },
        ),
        Mistake(
            "ignored at both places",
            "You also left out the places where the model *reads* the ignored token. Only the next "
            "token decides.",
            {
                f"return {LOSS}": (
                    "counted = (tokens[:, :-1].flatten() != ignored) & (following != ignored)\n"
                    "    return F.cross_entropy(predicted[counted], following[counted])"
                )
            },
        ),
        Mistake(
            "token 0 ignored",
            "Without `ignore`, every token counts, and so does token 0. Write `ignore is None`: "
            "`not ignore` is True for 0 as well.",
            {IGNORED: "ignore or 0"},
        ),
        Mistake(
            "0 not ignored",
            "`ignore` may be 0, and 0 counts as False. Ask `if ignore is None`.",
            {IGNORED: "ignore or -100"},
        ),
        Mistake(
            "softmax first",
            "You took a softmax before `cross_entropy`, which takes one itself. Give it the logits "
            "as they are.",
            {LOSS: LOSS.replace("(predicted,", "(predicted.softmax(dim=-1),")},
        ),
        Mistake(
            "the logarithm of a softmax",
            "Softmax rounds very small probabilities down to 0, and the logarithm of 0 is −∞. Use "
            "`log_softmax` or `cross_entropy`, which never take that logarithm.",
            {
                f"return {LOSS}": (
                    "log_probs = predicted.softmax(dim=-1).log()\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
        ),
        Mistake(
            "minus forgotten",
            "Your loss is negative. The loss is −ln p, and ln p is at most 0: put the minus back.",
            {LOSS: f"-{LOSS}"},
        ),
        Mistake(
            "in bits",
            "You measured in bits. Use the natural logarithm, as `cross_entropy` does.",
            {LOSS: f"{LOSS} / torch.tensor(2.0).log()"},
        ),
        Mistake(
            "softmax over the places",
            "Your softmax runs over the places. It should run over the tokens, the last dimension.",
            {
                f"return {LOSS}": (
                    "log_probs = logits.log_softmax(dim=1)[:, :-1].flatten(0, 1)\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
            {
                f"return {LOSS}": (
                    "log_probs = logits[:, :-1].log_softmax(dim=1).flatten(0, 1)\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
        ),
        Mistake(
            "reshaped, not transposed",
            "You reshaped to bring the tokens to another dimension, which mixes them with the "
            "places. Use `transpose(1, 2)`, or flatten the places.",
            {
                f"return {LOSS}": (
                    "classes = logits[:, :-1].reshape(len(tokens), -1, tokens.shape[1] - 1)\n"
                    "    return F.cross_entropy(classes, tokens[:, 1:], ignore_index=ignored)"
                )
            },
            {LOSS: LOSS.replace("(predicted,", "(predicted.reshape(logits.shape[-1], -1).T,")},
        ),
        Mistake(
            "only the last place",
            "You used only one place of each text. All places that have a next token count.",
            {SHIFTED: "predicted, following = logits[:, -2], tokens[:, -1]"},
        ),
        Mistake(
            "the logits, not their logarithms",
            "You took the logits of the right tokens as they are. Turn logits into logarithms of "
            "probabilities first, with `log_softmax`.",
            {f"return {LOSS}": ("return F.nll_loss(predicted, following, ignore_index=ignored)")},
        ),
        Mistake(
            "cut off at the first ignored token",
            "You leave out everything after the first ignored token. Leave out that token alone: "
            "it may stand in the middle.",
            """
            predicted, following = logits[:, :-1], tokens[:, 1:]
            losses = F.cross_entropy(predicted.transpose(1, 2), following, reduction="none")
            counts = torch.ones_like(losses, dtype=torch.bool)
            if ignore is not None:
                counts = (following == ignore).cumsum(1) == 0
            return losses[counts].mean()
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "with gather",
            """
            log_probs = logits[:, :-1].log_softmax(dim=-1)
            following = tokens[:, 1:]
            losses = -log_probs.gather(-1, following[..., None]).squeeze(-1)
            if ignore is not None:
                losses = losses[following != ignore]
            return losses.mean()
            """,
            excuses={
                "call dropped: log_probs.gather": "the mask removes the last dimension, too",
                "another number: 1 → 2 (5)": "likewise",
                "condition fixed": "a mask of True keeps everything",
                "another argument: ignore → logits in": "likewise",
                "another argument: ignore → tokens in": "likewise",
            },
        ),
        Alternative(
            "classes second",
            """
            predicted = logits[:, :-1].transpose(1, 2)
            if ignore is None:
                return F.cross_entropy(predicted, tokens[:, 1:])
            return F.cross_entropy(predicted, tokens[:, 1:], ignore_index=ignore)
            """,
        ),
    ],
    hints=[
        "Which logits have a token to be compared with? All but the last place's. And which tokens "
        "are predicted? All but the first.",
        "`logits[:, :-1]` and `tokens[:, 1:]` line up. `cross_entropy` wants the first as "
        "[places, n_tokens] and the second as [places]: flatten both.",
        "`ignore_index` is `cross_entropy`'s name for a token that doesn't count. It has to be a "
        "number, so without `ignore` pass one that no token has.",
    ],
    excuses={
        "result in float32": "what float64 becomes is left open",
        "result rounded to float32": "likewise",
        "float32 inside": "likewise",
        "wrong at one size alone: n": "after a single token, there is nothing to predict",
        "result without signs": "the logarithm of a probability is at most 0",
        "result without negatives": "likewise",
        "result squeezed": "a loss is a single number",
        "result flipped": "likewise",
        "another number: 100 → 101": "no token has a negative number",
        "another number: 100 → 99": "likewise",
    },
)
