"""The state (m, l, o) after one more tile; scores of −∞ are masked."""

from typing import Any

import torch

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake


def state_after(scores: torch.Tensor, value: torch.Tensor) -> dict[str, torch.Tensor]:
    """The state after some scores, [..., n_query, n]; n may be 0."""
    if not scores.shape[-1]:
        nothing = torch.zeros(scores.shape[:-1])
        return {"m": nothing - torch.inf, "l": nothing, "o": scores @ value}
    most = scores.amax(dim=-1)
    exps = (scores - most.masked_fill(most == -torch.inf, 0.0)[..., None]).exp()
    return {"m": most, "l": exps.sum(dim=-1), "o": exps @ value}


def tile_after(
    leading: str = "",
    n_before: int = 3,
    scale: float = 1.0,
    shift: float = 0.0,
    hidden: str = "",
    nothing_before: bool = False,
) -> Inputs:
    """A tile of scores after `n_before` others.

    shift: added to the new scores.
    hidden: "some" of the new scores, or all of a "row".
    nothing_before: whether the first query has seen nothing yet.
    """

    def case(draw: Draw) -> dict[str, Any]:
        batch = f"{leading} " if leading else ""
        old = draw.normal_of([*draw.shape(f"{batch}n_query"), n_before], scale)
        if nothing_before:
            old[..., 0, :] = -torch.inf
        state = state_after(old, draw.normal_of([*draw.shape(leading), n_before, draw.size("d_v")]))
        scores = draw.normal(f"{batch}n_query n_tile", scale) + shift
        if hidden == "row":
            scores[..., [0, -1], :] = -torch.inf
        if hidden == "some":
            scores[~draw.keep(f"{batch}n_query n_tile")] = -torch.inf
        return state | {"scores": scores, "value": draw.normal(f"{batch}n_tile d_v")}

    return case


NEW_MAXIMUM = "torch.maximum(maximum, scores.amax(dim=-1))"
OFFSET = "new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)"
SHRINK = "(maximum - offset).exp()"
NEW_OUTPUT = "shrink[..., None] * output + exps @ value"
NEW_TOTAL = "shrink * total + exps.sum(dim=-1)"

EXERCISE = Exercise(
    "online_step",
    returns="m l o",
    parts=[Trial("take_a_step")],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "one more tile",
            2,
            [
                tile_after(),
                tile_after("batch n_heads"),
                tile_after(shift=3.0),
                tile_after(shift=-3.0),
            ],
        ),
        Aspect(
            "the first tile", 1, [tile_after(n_before=0), tile_after(n_before=0, shift=-5000.0)]
        ),
        Aspect(
            "large scores",
            1,
            [
                tile_after(scale=100.0),
                tile_after(shift=-200.0, scale=30.0),
                tile_after(n_before=0, shift=-200.0, scale=30.0),
                tile_after(n_before=0, shift=-3e4),
            ],
        ),
        Aspect(
            "masked scores",
            2,
            [
                tile_after(hidden="some"),
                tile_after("batch", hidden="row"),
                tile_after(hidden="row", nothing_before=True),
                tile_after(nothing_before=True),
            ],
        ),
        connected(tile_after()),
    ],
    mistakes=[
        Mistake(
            "the tile's maximum only",
            "Your new maximum is that of this tile. An earlier score may be larger.",
            {NEW_MAXIMUM: "scores.amax(dim=-1)"},
        ),
        Mistake(
            "the old maximum stays",
            "Your maximum never changes, so a larger score makes `exp` overflow.",
            {NEW_MAXIMUM: "maximum"},
        ),
        Mistake(
            "never below 0",
            "Your maximum is never below 0, as if it had started there. If all scores are far "
            "below 0, every `exp` is 0.",
            {NEW_MAXIMUM: f"{NEW_MAXIMUM}.clamp(min=0.0)"},
        ),
        Mistake(
            "one maximum for all queries",
            "You took the largest score of all queries. Each query has its own.",
            {"scores.amax(dim=-1)": "scores.amax()"},
            {"scores.amax(dim=-1)": "scores.flatten(-2).amax(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "the maximum along the queries",
            "You took the maximum over the queries. Take it over the keys, the last dimension.",
            {"scores.amax(dim=-1)": ("scores.amax(dim=-2)[..., :1].expand(maximum.shape)")},
        ),
        Mistake(
            "the maximum not as a column",
            "You subtracted m′ along the keys. It has one number for each query: make it a column, "
            "`[..., None]`.",
            {"(scores - offset[..., None])": "(scores - offset)"},
        ),
        Mistake(
            "the factor not as a column",
            "You multiplied the output by exp(m − m′) along the features. It has one number for "
            "each query: make it a column, `[..., None]`.",
            {"shrink[..., None] * output": "shrink * output"},
        ),
        Mistake(
            "a maximum with a dimension more",
            "You took the maximum with `keepdim=True`, and m has no dimension for the keys. Leave "
            "`keepdim` out, and add `[..., None]` where you subtract.",
            {"scores.amax(dim=-1)": "scores.amax(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "a sum with a dimension more",
            "You took the sum with `keepdim=True`, and ℓ has no dimension for the keys. Leave "
            "`keepdim` out.",
            {"exps.sum(dim=-1)": "exps.sum(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "a softmax of the tile",
            "You took a softmax of the tile, which divides by the tile's own sum. Take `exp` of "
            "the scores minus m′. Dividing comes once, after the last tile.",
            {"(scores - offset[..., None]).exp()": "scores.softmax(dim=-1)"},
        ),
        Mistake(
            "the old sum not rescaled",
            "You added to the old sum as it was. It was made with the old maximum: multiply it by "
            "exp(m − m′) first.",
            {NEW_TOTAL: "total + exps.sum(dim=-1)"},
        ),
        Mistake(
            "the old output not rescaled",
            "You added to the old output as it was. It was made with the old maximum: multiply it "
            "by exp(m − m′), as you do with the sum.",
            {NEW_OUTPUT: "output + exps @ value"},
        ),
        Mistake(
            "nothing rescaled",
            "You added to the old sum and the old output as they were. Both were made with the old "
            "maximum: multiply them by exp(m − m′) first.",
            {NEW_TOTAL: "total + exps.sum(dim=-1)", NEW_OUTPUT: "output + exps @ value"},
        ),
        Mistake(
            "rescaled the wrong way",
            "Your factor is upside down: it is exp(m − m′), which is at most 1.",
            {SHRINK: "(offset - maximum).exp()"},
        ),
        Mistake(
            "everything rescaled",
            "You rescaled the new sums as well. They already use the new maximum; only the old "
            "ones need the factor.",
            {
                NEW_TOTAL: "shrink * (total + exps.sum(dim=-1))",
                NEW_OUTPUT: "shrink[..., None] * (output + exps @ value)",
            },
        ),
        Mistake(
            "new scores from the old maximum",
            "You subtracted the old maximum from the new scores. Subtract the new one.",
            {"(scores - offset[..., None])": "(scores - maximum[..., None])"},
        ),
        Mistake(
            "NaN where everything is masked",
            "−∞ − (−∞) is NaN. Where a row has nothing to attend to so far, subtract 0 instead of "
            "the maximum.",
            {OFFSET: "new_maximum"},
        ),
        Mistake(
            "0 for a maximum of nothing",
            "Where a row has seen nothing yet, you return 0 for m. Subtract 0 there, but return "
            "−∞: later scores may be below 0.",
            {"return new_maximum,": "return offset,"},
        ),
        Mistake(
            "the tile's maximum subtracted",
            "You subtracted this tile's own maximum. Subtract m′, which may come from an earlier "
            "tile.",
            {
                "(scores - offset[..., None])": (
                    "(scores - scores.amax(dim=-1, keepdim=True).clamp(min=-1e30))"
                )
            },
        ),
        Mistake(
            "divided too early",
            "Your output is divided by the sum. Leave `o` as the sum of weights times values, and "
            "divide once, after the last tile.",
            {
                f"return new_maximum, new_total, {NEW_OUTPUT}": (
                    f"return new_maximum, new_total, ({NEW_OUTPUT}) / new_total[..., None]"
                )
            },
            {
                f"return new_maximum, new_total, {NEW_OUTPUT}": (
                    "old = (shrink * total)[..., None] * output\n"
                    "    return new_maximum, new_total, (old + exps @ value) / new_total[..., None]"
                )
            },
        ),
        Mistake(
            "the old state lost",
            "You returned the state of this tile alone. Add what came before it.",
            {NEW_TOTAL: "exps.sum(dim=-1)", NEW_OUTPUT: "exps @ value"},
        ),
        Mistake(
            "the mean, not the sum",
            "You took a mean where ℓ is a sum.",
            {"exps.sum(dim=-1)": "exps.mean(dim=-1)"},
        ),
        Mistake(
            "another order",
            "The numbers are right, but the order is m, ℓ, o.",
            {"return new_maximum, new_total,": "return new_total, new_maximum,"},
        ),
        Mistake(
            "no maximum at all",
            "You took `exp` of the scores as they are, which overflows. Subtract the largest "
            "score.",
            {OFFSET: "torch.zeros_like(new_maximum)", SHRINK: "maximum.exp() / maximum.exp()"},
        ),
    ],
    alternatives=[
        Alternative(
            "with where",
            {f"offset = {OFFSET}": ("offset = torch.where(new_maximum.isinf(), 0.0, new_maximum)")},
            excuses={"another number: 0.0 →": "whatever is subtracted from −∞, exp makes it 0"},
        ),
        Alternative(
            "with a finite minimum",
            {
                f"offset = {OFFSET}": (
                    "offset = new_maximum.clamp(min=torch.finfo(scores.dtype).min)"
                )
            },
            excuses={
                "argument dropped: torch.finfo": "any low number will do",
                "another argument: scores → value": "likewise",
            },
        ),
        Alternative(
            "the state as one more score",
            """
            past = (maximum + total.log())[..., None]
            everything = torch.cat([past, scores], dim=-1)
            new_maximum = torch.maximum(maximum, scores.amax(dim=-1))
            offset = torch.where(new_maximum == -torch.inf, 0.0, new_maximum)[..., None]
            exps = (everything - offset).exp()
            mean = output / torch.where(total == 0, 1.0, total)[..., None]
            sums = exps[..., :1] * mean + exps[..., 1:] @ value
            return new_maximum, exps.sum(dim=-1), sums
            """,
            excuses={"another number": "a row with nothing has only zeros"},
        ),
    ],
    hints=[
        "First the new maximum: the larger of m and the tile's own, for each query. Then "
        "exp(score − m′) for the new scores.",
        "The old ℓ and o were made with m. Multiplied by exp(m − m′), they fit the new maximum; "
        "then add the tile's own sums. `exps @ value` is the sum for o.",
        "If the new maximum is −∞, subtract 0 instead: exp(−∞ − 0) is 0, as it should be. "
        "`masked_fill` or `torch.where` can do that.",
    ],
    excuses={
        "another fill": "whatever is subtracted from −∞, exp makes it 0",
        "another number: 0.0 →": "likewise",
        "arguments swapped: torch.maximum": "the order does not matter",
        "input changed": "the first argument is a tuple, which this mutant leaves alone",
    },
)
