"""Queries or keys, each pair of features (2i, 2i + 1) turned by position · θ_i, in x's dtype."""

from autograder.lessons.exercise import Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import ALSO_TURNED, OTHER_PLACES, PAIR, TURNED, WRONG_TURNS

WRITTEN = """
    x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
"""

EXERCISE = Exercise(
    "rotate",
    returns="turned",
    also=ALSO_TURNED,
    parts=[OTHER_PLACES],
    aspects=TURNED,
    mistakes=[
        *WRONG_TURNS,
        Mistake(
            "halves",
            "You paired feature i with feature i + d_head/2. That is the other layout, which comes "
            "later: here the pairs are (0, 1), (2, 3), ….",
            {
                "x[..., 0::2], x[..., 1::2]": "x.chunk(2, dim=-1)",
                f"torch.stack([{PAIR}], dim=-1).flatten(-2)": f"torch.cat([{PAIR}], dim=-1)",
            },
        ),
        Mistake(
            "halves mixed with pairs",
            "The two features of a pair got different angles, so lengths change. You put all the "
            "angles in a row, and then all of them again. Here each comes twice in a row.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            angle = torch.cat([angle, angle], dim=-1)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return x * angle.cos() + other * angle.sin()
            """,
        ),
        Mistake(
            "overwritten too early",
            "Your second line uses features that the first one has already turned. Compute both "
            "new features before you write either. (`x[..., 0::2]` is a view: it changes with x.)",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
            cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            turned = x.clone()
            turned[..., 0::2] = turned[..., 0::2] * cos - turned[..., 1::2] * sin
            turned[..., 1::2] = turned[..., 0::2] * sin + turned[..., 1::2] * cos
            return turned
            """,
        ),
        Mistake(
            "written into x",
            "You wrote into x. The caller's tensor changes, and your second line uses features "
            "that the first one has already turned. Make a new tensor of both.",
            {
                "    a, b = x[..., 0::2], x[..., 1::2]\n": WRITTEN,
                f"torch.stack([{PAIR}], dim=-1).flatten(-2)": "x",
            },
        ),
        Mistake(
            "an angle for every feature",
            "You gave each feature an angle of its own. The two features of a pair share one.",
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-torch.arange(d_head) / d_head)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
            """
            d_head = x.shape[-1]
            angle = positions[:, None] * base ** (-2 * torch.arange(d_head) / d_head)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Mistake(
            "pairs taken apart",
            "The numbers are right, but out of order: the first features of all pairs, then the "
            "second ones. The features of a pair belong side by side, as they came.",
            {f"torch.stack([{PAIR}], dim=-1).flatten(-2)": f"torch.cat([{PAIR}], dim=-1)"},
        ),
        Mistake(
            "only half of the head",
            "You left some of the features as they were. Turn all pairs.",
            {
                "return torch.stack(": "half = d_head // 4 * 2\n    turned = torch.stack(",
                "dim=-1).flatten(-2)": (
                    "dim=-1).flatten(-2)\n"
                    "    return torch.cat([turned[..., :half], x[..., half:]], dim=-1)"
                ),
            },
        ),
        Mistake(
            "added",
            "You added sines and cosines to the features. Turn each pair: multiply.",
            {PAIR: "a + sin, b + cos"},
        ),
    ],
    alternatives=[
        Alternative(
            "complex numbers",
            """
            pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
            angle = positions[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            turned = pairs * torch.polar(torch.ones_like(angle), angle)
            return torch.view_as_real(turned).flatten(-2).to(x.dtype)
            """,
        ),
        Alternative(
            "a matrix for each pair",
            """
            angle = positions[:, None] / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            cos, sin = angle.cos(), angle.sin()
            matrix = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
            pairs = x.unflatten(-1, (-1, 2))
            return (matrix.to(x.dtype) @ pairs[..., None]).squeeze(-1).flatten(-2)
            """,
            excuses={"detached: $A.detach() @ $B": "a matrix of sines has no gradient"},
        ),
        Alternative(
            "every two",
            """
            theta = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
            angle = (positions[:, None] * theta).repeat_interleave(2, dim=-1)
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
            return (x * angle.cos() + other * angle.sin()).to(x.dtype)
            """,
        ),
        Alternative(
            "pair by pair",
            """
            turned = x.clone()
            for i in range(0, x.shape[-1], 2):
                angle = positions * base ** (-i / x.shape[-1])
                turned[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
                turned[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
            return turned
            """,
        ),
    ],
    hints=[
        "The angles are [n, d_head / 2]: places as a column times `base ** (-torch.arange(0, "
        "d_head, 2) / d_head)`, as in `sinusoidal_positions`.",
        "`x[..., 0::2]` holds the first feature a of every pair, `x[..., 1::2]` the second, b. The "
        "new ones are a·cos − b·sin and a·sin + b·cos.",
        "To put them side by side again: `torch.stack([first, second], dim=-1).flatten(-2)`.",
    ],
    excuses={
        "wrong at one size alone: d_head": "d_head is even",
        "result rounded to float32": "the angles are float32, whatever x is",
        "result squeezed at the end": "there are two features at least",
    },
)
