"""Weights from 0 to 1 that sum to 1 along `dim`, for finite scores of any size."""

from autograder.lessons.cases import drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Forbids
from autograder.lessons.variants import Alternative, Mistake

ONE_SUM = (
    "All your weights together sum to 1. Each row needs its own sum: give `sum` the dimension."
)
LOST_DIMENSION = (
    "A maximum or a sum lost its dimension, so it does not line up with the rows that it came "
    "from. `keepdim=True` keeps it."
)

OVERFLOWS = (
    "Large scores break it: in float32, exp of 100 is infinity, and infinity / infinity "
    "is NaN. Subtract the largest score of each row first; the weights stay the same."
)


def ties(draw: Draw) -> dict:
    """Rows in which several scores are the same, and the largest."""
    scores = draw.normal("m n")
    scores[:, 1] = scores[:, -1] = scores.amax(-1)
    return {"scores": scores}


EXERCISE = Exercise(
    "softmax",
    returns="weights",
    parts=[Forbids("softmax log_softmax softmin")],
    aspects=[
        Aspect("one row of scores", 1),
        Aspect(
            "every row on its own",
            1,
            [
                drawn("m"),
                ties,
                drawn("batch m"),
                lambda draw: {"scores": draw.normal("batch m n")[:, None, None]},
            ],
        ),
        Aspect(
            "scores above 100",
            1,
            [
                drawn("m", scale=80),
                lambda draw: {"scores": draw.normal("m n") + 1500},
                lambda draw: {"scores": -draw.uniform("n", 100, 102)},
                lambda draw: {"scores": draw.normal("m n") + 150},
                lambda draw: {"scores": draw.normal("m n") - 150},
                lambda draw: {"scores": draw.normal("m n") + draw.normal("m", 300)[:, None]},
            ],
        ),
        Aspect(
            "any dimension",
            1,
            [
                drawn("m", dim=0),
                drawn("batch m", dim=0),
                drawn("batch m", dim=1),
                drawn("batch m", dim=-2),
            ],
        ),
        connected(),
    ],
    mistakes=[
        Mistake(
            "divided by the sum",
            "You divided the scores by their sum. Negative scores then give negative weights; "
            "take the exponential first.",
            "return scores / scores.sum(dim, keepdim=True)",
        ),
        Mistake(
            "columns instead of rows",
            "Your columns sum to 1, but your rows don't: you summed over dimension 0, not `dim`.",
            """
            exps = (scores - scores.amax(0, keepdim=True)).exp()
            return exps / exps.sum(0, keepdim=True)
            """,
        ),
        Mistake(
            "one sum for all rows",
            ONE_SUM,
            {"exps.sum(dim, keepdim=True)": "exps.sum()"},
            "return scores.exp() / scores.exp().sum()",
            """
            exps = (scores - scores.max()).exp()
            return exps / exps.sum()
            """,
        ),
        Mistake(
            "maximum subtracted above only",
            "You subtracted the maximum in the numerator but not in the denominator. Shift both, "
            "or the weights no longer sum to 1.",
            """
            exps = (scores - scores.amax(dim, keepdim=True)).exp()
            return exps / scores.exp().sum(dim, keepdim=True)
            """,
        ),
        Mistake(
            "maximum along the last dimension",
            "The sum follows `dim`, but the maximum doesn't: you always took it along the last "
            "dimension.",
            {"amax(dim,": "amax(-1,"},
        ),
        Mistake(
            "sum along the last dimension",
            "`sum` ignores `dim`: pass it on.",
            {"exps.sum(dim,": "exps.sum(-1,"},
        ),
        Mistake(
            "largest absolute value subtracted",
            "You subtracted the largest absolute value. In a row of very negative scores that "
            "makes all exponentials zero, and 0 / 0 is NaN. Subtract the largest score itself.",
            {"scores.amax(": "scores.abs().amax("},
        ),
        Mistake(
            "float64 instead of a shift",
            "float64 only postpones the overflow: exp of 710 is infinite there too. Subtract the "
            "largest score of each row, and no score is too large.",
            """
            exps = scores.double().exp()
            return (exps / exps.sum(dim, keepdim=True)).to(scores.dtype)
            """,
        ),
        Mistake(
            "divided by the maximum",
            "You divided the scores by the largest. That changes their differences, and with "
            "them the weights. Subtract it.",
            {"scores - scores.amax": "scores / scores.amax"},
        ),
        Mistake("not stable", OVERFLOWS, {"scores - scores.amax(dim, keepdim=True)": "scores"}),
        Mistake(
            "not stable, dim ignored",
            f"{OVERFLOWS} And the argument `dim` has no effect: pass it to `sum`.",
            "return scores.exp() / scores.exp().sum(-1, keepdim=True)",
        ),
        Mistake(
            "one maximum for all rows, dim ignored",
            "Two things. You subtracted one maximum from all rows: in a row far below it, every "
            "exponential becomes zero, and 0 / 0 is NaN. And the argument `dim` has no effect: "
            "pass it to `amax` and to `sum`.",
            {"scores.amax(dim, keepdim=True)": "scores.max()", "exps.sum(dim,": "exps.sum(-1,"},
        ),
        Mistake(
            "Python's max",
            "Python's own `max` compares whole rows, and which of two rows is larger has no "
            "answer. `scores.amax(dim, keepdim=True)` is the largest score of each row.",
            {"scores.amax(dim, keepdim=True)": "max(scores)"},
        ),
        Mistake(
            "mean subtracted",
            "You subtracted the mean, so the largest score can still overflow. Subtract the "
            "largest.",
            {"scores.amax(": "scores.mean("},
        ),
        Mistake(
            "a small number added to the sum",
            "You added a small number to the sum, so the weights don't quite sum to 1. Nothing "
            "can be 0 here: the largest score of a row gives e⁰ = 1.",
            {"exps.sum(dim, keepdim=True)": "(exps.sum(dim, keepdim=True) + 1e-6)"},
            {"exps.sum(dim, keepdim=True)": "(exps.sum(dim, keepdim=True) + 1e-8)"},
            {"exps.sum(dim, keepdim=True)": "(exps.sum(dim, keepdim=True) + 1e-9)"},
        ),
        Mistake(
            "keepdim lost",
            LOST_DIMENSION,
            {"exps.sum(dim, keepdim=True)": "exps.sum(dim)"},
            {"scores.amax(dim, keepdim=True)": "scores.amax(dim)"},
        ),
        Mistake(
            "one maximum for all rows",
            "You subtracted one maximum from all rows. In a row far below it, every exponential "
            "becomes zero, and 0 / 0 is NaN. Take the maximum of each row.",
            {"scores.amax(dim, keepdim=True)": "scores.max()"},
        ),
        Mistake(
            "minimum subtracted",
            "You subtracted the smallest score, so the largest can still overflow. Subtract "
            "the largest.",
            {"scores.amax(": "scores.amin("},
        ),
        Mistake(
            "dim ignored",
            "This is right only for the last dimension: the argument `dim` has no effect.",
            {"amax(dim,": "amax(-1,", "exps.sum(dim,": "exps.sum(-1,"},
        ),
        Mistake(
            "sign reversed",
            "The smallest score gets the largest weight: the sign in the exponent is reversed.",
            {"scores - scores.amax(dim, keepdim=True)": "scores.amin(dim, keepdim=True) - scores"},
        ),
        Mistake(
            "powers of two",
            "Your weights are powers of 2; softmax takes powers of e.",
            {".exp()": ".exp2()"},
        ),
        Mistake(
            "logarithm of the weights",
            "You returned the logarithm of the weights (log-softmax).",
            {"exps / exps.sum(dim, keepdim=True)": "scores - scores.logsumexp(dim, keepdim=True)"},
        ),
        Mistake(
            "not normalized",
            "You returned the exponentials. Divide them by their sum, so that each row sums to 1.",
            {" / exps.sum(dim, keepdim=True)": ""},
        ),
        Mistake(
            "sigmoid",
            "You squeezed each score into the range 0 to 1 on its own (a sigmoid). The weights of "
            "a row have to sum to 1.",
            "return scores.sigmoid()",
        ),
        Mistake(
            "hard attention",
            "You gave all the weight to the largest score. Softmax gives every score a share.",
            "return (scores == scores.amax(dim, keepdim=True)).to(scores.dtype)",
        ),
        Mistake(
            "scores clipped",
            "You clipped large scores, so those above the limit can't be told apart. Subtract the "
            "largest score of the row instead: nothing is lost.",
            {"scores - scores.amax(dim, keepdim=True)": "scores.clamp(-80, 80)"},
            {"scores - scores.amax(dim, keepdim=True)": "scores.clamp(max=80)"},
            {"scores - scores.amax(dim, keepdim=True)": "scores.clamp(max=88)"},
        ),
        Mistake(
            "maximum along another dimension",
            "The number you subtract differs within a row. Take the maximum along `dim`, as you "
            "do for the sum.",
            {"scores.amax(dim, keepdim=True)": "scores.amax(0, keepdim=True)"},
        ),
        Mistake(
            "NaN repaired",
            "Large scores overflow in `exp`, ∞ / ∞ is NaN, and you replaced the NaN afterward. "
            "Subtract the row's largest score before `exp`, and no NaN comes up.",
            """
            exps = scores.exp()
            return (exps / exps.sum(dim, keepdim=True)).nan_to_num(nan=1.0)
            """,
            """
            exps = scores.exp()
            return (exps / exps.sum(dim, keepdim=True)).nan_to_num(nan=0.0)
            """,
        ),
        Mistake(
            "shifted only where it is large",
            "You subtract the largest score only where it is large. Where all scores are far "
            "below 0, `exp` gives 0 for each, and 0/0 is NaN. Subtract it every time.",
            {
                "scores - scores.amax(dim, keepdim=True)": (
                    "scores - scores.amax(dim, keepdim=True) if scores.max() > 50 else scores"
                )
            },
        ),
    ],
    alternatives=[
        Alternative("log-sum-exp", "return (scores - scores.logsumexp(dim, keepdim=True)).exp()"),
        Alternative(
            "max and its values",
            """
            top = torch.max(scores, dim, keepdim=True).values
            weights = torch.exp(scores - top)
            return weights / weights.sum(dim=dim, keepdim=True)
            """,
        ),
        Alternative(
            "one over the sum of differences",
            """
            # weight_i = 1 / sum_j exp(score_j - score_i), row by row
            rows = scores.movedim(dim, -1)
            ratios = (rows[..., None, :] - rows[..., :, None]).exp()
            return (1 / ratios.sum(-1)).movedim(-1, dim)
            """,
        ),
    ],
    hints=[
        "Two steps: take the exponential of every score, then divide by the sum over `dim`.",
        "`sum(dim, keepdim=True)` leaves a dimension of size 1 behind, so that each row is divided "
        "by its own sum.",
        "The weights don't change when you subtract the same number from every score in a row. "
        "Subtract the row's largest score (`amax`), and no exponential can overflow.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)
