"""Queries or keys, each pair of features (i, i + d_head/2) turned, in the dtype of x."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import ALSO_TURNED, OTHER_PLACES, PAIR, TURNED, WRONG_TURNS

EXERCISE = Exercise(
    "rotate_halves",
    returns="turned",
    also=ALSO_TURNED,
    parts=[OTHER_PLACES],
    aspects=TURNED,
    mistakes=[
        *WRONG_TURNS,
        Mistake(
            "pairs",
            "You turned neighbors, (0, 1), (2, 3) …, as `rotate` does. Here feature i goes with "
            "feature i + d_head/2.",
            {
                "x.chunk(2, dim=-1)": "x[..., 0::2], x[..., 1::2]",
                f"torch.cat([{PAIR}], dim=-1)": f"torch.stack([{PAIR}], dim=-1).flatten(-2)",
            },
        ),
        Mistake(
            "each half by itself",
            "You turned each half by itself. A pair has a feature of each: feature i of the first "
            "half turns with feature i of the second.",
            """
            a, b = x.chunk(2, dim=-1)
            return torch.cat([rotate(a, positions, base), rotate(b, positions, base)], dim=-1)
            """,
            {PAIR: "a * cos - a * sin, b * sin + b * cos"},
        ),
        Mistake(
            "turned, then interleaved",
            "The numbers are right, but interleaved. Put the halves one after the other, as they "
            "came.",
            {f"torch.cat([{PAIR}], dim=-1)": f"torch.stack([{PAIR}], dim=-1).flatten(-2)"},
        ),
        Mistake(
            "pairs mixed with halves",
            "The two features of a pair got different angles, so lengths change. You repeated each "
            "angle twice in a row, as for neighbors; here, all angles come once, then again.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            angle = angle.repeat_interleave(2, dim=-1)
            a, b = x.chunk(2, dim=-1)
            return x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()
            """,
        ),
        Mistake(
            "an angle for every feature",
            "You gave each feature an angle of its own. The two features of a pair share one.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(d_head) / d_head)
            a, b = x.chunk(2, dim=-1)
            return (x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()).to(x.dtype)
            """,
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-2 * torch.arange(d_head) / d_head)
            a, b = x.chunk(2, dim=-1)
            return (x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()).to(x.dtype)
            """,
        ),
        Mistake(
            "neighbors taken apart on the way in",
            "Before `rotate` turns neighbors, features i and i + d_head/2 must *become* neighbors. "
            "You did the opposite, and took neighbors apart.",
            """
            turned = rotate(torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1), positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
            """
            turned = rotate(torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1), positions, base)
            return torch.stack(turned.chunk(2, dim=-1), dim=-1).flatten(-2)
            """,
        ),
        Mistake(
            "reordered on the way out only",
            "Your result is in halves, but the pairs that turned were neighbors. Here features i "
            "and i + d_head/2 turn together.",
            """
            turned = rotate(x, positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
        ),
    ],
    alternatives=[
        Alternative(
            "as in transformers",
            """
            theta = 1.0 / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            angle = torch.cat([positions[:, None] * theta] * 2, dim=-1)
            first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
            other = torch.cat((-second, first), dim=-1)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Alternative(
            "by pairs",
            """
            half = x.shape[-1] // 2
            pairs = torch.stack([x[..., :half], x[..., half:]], dim=-1).flatten(-2)
            turned = rotate(pairs, positions, base)
            return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)
            """,
        ),
    ],
    hints=[
        "The angles and the rotation are those of `rotate`. Only a and b are different features.",
        "`x.chunk(2, dim=-1)` cuts x into halves: a is the first, b the second.",
        "What you return has the same order: `torch.cat` puts the new halves one after the other.",
    ],
    excuses={
        "wrong at one size alone: d_head": "d_head is even",
        "result rounded to float32": "the angles are float32, whatever x is",
        "result squeezed at the end": "there are two features at least",
    },
)
