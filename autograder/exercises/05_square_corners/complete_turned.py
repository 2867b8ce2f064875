"""Corners 3 and 4 of turned squares, without their noise, from corners 1 and 2."""

import math
from collections.abc import Callable

import torch

from autograder.lessons.cases import Goal
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.data import NOISE

MANY = 280, 320  # squares, at least and at most
MOST_ERROR_WITHOUT_NOISE = 1e-4  # the nearest of 720 squares is that near
MOST_TURNED_ERROR = 0.0037  # noise alone leaves 0.0025; leaving out the last step, 0.005


def turned_squares(
    way: int | None = None, batch: int | None = None, noisy: bool = True
) -> Callable[[Draw], Goal]:
    """Squares turned by any angle, whose given corners have noise.

    way: 1 for all corners counterclockwise, -1 for clockwise; both by default.
    batch: how many; by default, `MANY`.
    """

    def case(draw: Draw) -> Goal:
        # In float64, so that all processors round to the same float32.
        n = batch or int(torch.randint(*MANY, (), generator=draw.generator))
        ways = torch.full((n, 1), way or 1, dtype=torch.float64)
        if way is None:
            ways[::2] = -1
        angles = draw.normal_of((n, 1), math.pi) + ways * torch.arange(4) * math.pi / 2
        corners = (2**0.5 * torch.stack([angles.cos(), angles.sin()], dim=-1)).float()
        noise = draw.normal_of((n, 2, 2), NOISE * noisy)
        around = {None: "both ways around", 1: "counterclockwise", -1: "clockwise"}[way]
        draw.label(around if noisy else f"{around}, {n} without noise")
        most = MOST_TURNED_ERROR if noisy else MOST_ERROR_WITHOUT_NOISE
        return Goal({"source": corners[:, :2] + noise}, {"result": corners[:, 2:]}, most)

    return case


WAY = "(turned(first) * second).sum(-1, keepdim=True).sign()"

EXERCISE = Exercise(
    "complete_turned",
    challenge=True,
    returns="result",
    also=(),
    aspects=[
        Aspect(
            "one way around",
            1,
            [turned_squares(1, batch=1, noisy=False), turned_squares(1), turned_squares(-1)],
        ),
        Aspect("both ways", 1, [turned_squares(batch=2, noisy=False), turned_squares()]),
    ],
    mistakes=[
        Mistake(
            "a minus sign",
            "That is the minus sign alone, noise and all: an error of 0.01. Use both corners for "
            "both answers. A quarter turn of either one says where the other should be.",
            "return -source",
        ),
        Mistake(
            "not stretched",
            "You average both corners, and that halves the noise. One thing more is known: the "
            "distance from zero is √2. Stretch your corner to it.",
            {
                "2**0.5 * direction / direction.norm(dim=-1, keepdim=True)": "direction / 2",
            },
        ),
        Mistake(
            "stretched, but not averaged",
            "You stretch each corner to √2 by itself. Both corners tell the same angle: average "
            "them first.",
            "return -(2**0.5) * source / source.norm(dim=-1, keepdim=True)",
        ),
        Mistake(
            "one way only",
            "Squares may go either way around. Find out which from the two corners: the sign of "
            "`x1 * y2 - y1 * x2`.",
            {WAY: "1.0"},
            {WAY: "-1.0"},
        ),
        Mistake(
            "one way for all",
            "You found one way around for the whole batch. Each square has its own: sum along the "
            "last dimension only.",
            {WAY: "(turned(first) * second).sum().sign()"},
        ),
        Mistake(
            "the way used once",
            "The way around matters twice: when you turn corner 2 back onto corner 1, and when you "
            "turn corner 3 forward to corner 4.",
            {"first - way * turned(second)": "first - turned(second)"},
            {"-way * turned(corner)": "-turned(corner)"},
        ),
        Mistake(
            "turned on instead of back",
            "Your two corners nearly cancel: the second was turned forward, to where corner 3 is. "
            "Turn it back, onto corner 1.",
            {"first - way * turned(second)": "first + way * turned(second)"},
            {
                "first - way * turned(second)": "first + way * turned(second)",
                "direction / direction.norm(dim=-1, keepdim=True)": "F.normalize(direction)",
            },
        ),
        Mistake(
            "mirrored",
            "Your quarter turn is a mirror: it only swaps the coordinates. One of them changes its "
            "sign, too: [x, y] becomes [−y, x].",
            {"-points[:, 1]": "points[:, 1]"},
        ),
        Mistake(
            "√2 forgotten",
            "Your corners lie at a distance of 1 from zero. The true ones lie √2 away.",
            {"2**0.5 * direction": "direction"},
        ),
        Mistake(
            "one length for all",
            "You divided by one length for the whole batch. Each corner has a length of its own: "
            "`norm(dim=-1, keepdim=True)`.",
            {"norm(dim=-1, keepdim=True)": "norm()"},
            {"norm(dim=-1, keepdim=True)": "norm(dim=0, keepdim=True)"},
        ),
        Mistake(
            "corner 4 by the minus sign",
            "Your corner 3 is as good as it gets, but corner 4 is minus corner 2, noise and all. "
            "Turn corner 3 forward by a quarter.",
            {"-way * turned(corner)]": "-second]"},
        ),
        Mistake(
            "corner 4 first",
            "You returned corner 4 before corner 3.",
            {"[-corner, -way * turned(corner)]": "[-way * turned(corner), -corner]"},
        ),
        Mistake(
            "as if not turned",
            "You treat the squares as if they weren't turned. Here they may lie anywhere at a "
            "distance of √2.",
            "return -source.sign()",
            {"2**0.5 * direction / direction.norm(dim=-1, keepdim=True)": "direction.sign()"},
        ),
        Mistake(
            "corner 4 next to corner 3 on the wrong side",
            "Your corner 3 is right, and your corner 4 is corner 2. Keep going the same way "
            "around.",
            {"-way * turned(corner)": "way * turned(corner)"},
        ),
        Mistake(
            "corners 1 and 2 again",
            "You returned the given corners, without their noise. The ones you want lie opposite.",
            {"[-corner, -way * turned(corner)]": "[corner, way * turned(corner)]"},
        ),
        Mistake(
            "turned by the side alone",
            "You found the angle from the side, corner 2 minus corner 1. That has twice the noise "
            "of the mean of corner 1 and corner 2 turned back onto it.",
            {"first - way * turned(second)": "first - second - way * turned(second - first)"},
        ),
        Mistake(
            "built onto the side",
            "You walked on from the given corners along the side, so their noise adds up. Find "
            "corner 1 without its noise first: average it with corner 2 turned back, and stretch "
            "it to √2.",
            {
                "[-corner, -way * turned(corner)]": (
                    "[second + way * turned(second - first), first + way * turned(second - first)]"
                )
            },
        ),
        Mistake(
            "corner 1 alone",
            "Both answers come from corner 1 alone. Corner 2 tells the same angle: turn it back "
            "onto corner 1, and average the two.",
            {"first - way * turned(second)": "first"},
        ),
        Mistake(
            "corner 2 alone",
            "Both answers come from corner 2 alone. Corner 1 tells the same angle: turn corner 2 "
            "back onto it, and average the two.",
            {"first - way * turned(second)": "-way * turned(second)"},
        ),
        Mistake(
            "the first square's way for all",
            "Every square goes around like the first one of the batch. Each has its own way: keep "
            "the dimension of the batch.",
            {WAY: f"{WAY}[0]"},
            {
                WAY: f"{WAY}[0]",
                "direction / direction.norm(dim=-1, keepdim=True)": "F.normalize(direction)",
            },
        ),
        Mistake(
            "mean of two angles",
            "You averaged two angles as numbers. Angles jump from π to −π, and the mean of two on "
            "either side of the jump points the opposite way. Average the points instead.",
            """
            angle = torch.atan2(source[..., 1], source[..., 0])
            first, second = source[:, 0], source[:, 1]
            way = (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]).sign()
            mean = (angle[:, 0] + angle[:, 1] - way * math.pi / 2) / 2
            angles = torch.stack([mean + math.pi, mean + math.pi + way * math.pi / 2], 1)
            return 2**0.5 * torch.stack([angles.cos(), angles.sin()], -1)
            """,
        ),
        Mistake(
            "stretched to the mean distance",
            "You stretched your corner to the mean distance of the two given ones, which has their "
            "noise. The true distance is known: √2.",
            {"2**0.5 * direction": "source.norm(dim=-1).mean(1, keepdim=True) * direction"},
        ),
    ],
    alternatives=[
        Alternative(
            "complex numbers",
            """
            first, second = torch.view_as_complex(source.contiguous()).unbind(1)
            quarter = 1j * (second / first).imag.sign()
            corner = first + second / quarter
            corner = corner / corner.abs() * 2**0.5
            return -torch.view_as_real(torch.stack([corner, corner * quarter], dim=1))
            """,
        ),
        Alternative(
            "angles",
            """
            angle = torch.atan2(source[..., 1], source[..., 0])
            step = torch.remainder(angle[:, 1] - angle[:, 0] + math.pi, 2 * math.pi) - math.pi
            off = (step.abs() - math.pi / 2) * step.sign()
            start = angle[:, 0] + off / 2
            quarters = start[:, None] + step.sign()[:, None] * math.pi / 2 * torch.arange(2, 4)
            return 2**0.5 * torch.stack([quarters.cos(), quarters.sin()], dim=-1)
            """,
        ),
        Alternative(
            "the nearest of many squares",
            """
            angles = torch.linspace(0, 2 * math.pi, 721)[:-1, None]
            places = torch.arange(4) * math.pi / 2
            both = torch.cat([angles + places, angles - places])
            squares = 2**0.5 * torch.stack([both.cos(), both.sin()], dim=-1).to(source.dtype)
            near = torch.cdist(source.flatten(1), squares[:, :2].flatten(1)).argmin(1)
            return squares[near, 2:]
            """,
        ),
    ],
    hints=[
        "Give corner 2 a quarter turn back, and it should land on corner 1. Each has its own "
        "noise, so their mean has less of it. A quarter turn takes [x, y] to [−y, x].",
        "Which way is back? Corner 1 turned by a quarter lies near corner 2 or opposite it: their "
        "dot product is positive or negative.",
        "The mean still has noise along its own direction, and you can get rid of that: every "
        "corner lies √2 away from zero.",
    ],
)
