"""The bucket of each distance (query − key), from 0 to 31."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.lessons.cases import CALLS
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def distances(*numbers: int) -> Callable[[Draw], dict[str, Any]]:
    return lambda draw: {"distance": torch.tensor(numbers)}


EDGES_REACHED = "(distance[..., None] >= edges).sum(dim=-1)"
STEPS = "(16 * (distance.clamp(16, 128) / 16).log() / math.log(8))"
LOWERED = (".long()", ".long().clamp(max=15)")

EXERCISE = Exercise(
    "t5_bucket",
    returns="bucket",
    challenge=True,
    also=(*CALLS,),
    aspects=[
        Aspect("near words have a bucket each", 1, [distances(*range(-2, 17))]),
        Aspect("far words share one", 1, [distances(16, 17, 20, 25, 31, 47, 64, 90, 113, 127)]),
        Aspect(
            "beyond 128, and after the query", 1, [distances(128, 200, 5000, 40_000, -1, -7, 3)]
        ),
        Aspect(
            "any shape",
            1,
            [
                lambda draw: {"distance": torch.arange(130).view(2, 5, 13)},
                lambda draw: {"distance": torch.tensor([[40]])},
                lambda draw: {"distance": torch.tensor(70)},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "rounded",
            "You rounded to the nearest step. A distance between two steps belongs to the lower "
            "one.",
            {EDGES_REACHED: f"{STEPS}.round().long()"},
            {EDGES_REACHED: f"{STEPS}.round().long().clamp(max=15)"},
        ),
        Mistake(
            "rounded up",
            "You rounded up. A distance between two steps belongs to the lower one.",
            {EDGES_REACHED: f"{STEPS}.ceil().long()"},
            {EDGES_REACHED: f"{STEPS}.ceil().long().clamp(max=15)"},
        ),
        Mistake(
            "rounded too early",
            "You rounded too early: `//` and `.long()` drop decimals. Round down the number of "
            "steps, and nothing before.",
            {EDGES_REACHED: f"{STEPS}.long().clamp(max=15)".replace("/ 16)", "// 16)")},
            {EDGES_REACHED: f"{STEPS}.long().clamp(max=15)".replace("log()", "log().long()")},
        ),
        Mistake(
            "rounded edges",
            "You rounded the edges. Where one moves down, a distance reaches it too early: keep "
            "the decimals.",
            {"torch.arange(1, 16) / 16)": "torch.arange(1, 16) / 16)\n    edges = edges.round()"},
            {"torch.arange(1, 16) / 16)": "torch.arange(1, 16) / 16)\n    edges = edges.long()"},
        ),
        Mistake(
            "equal widths",
            "Your far buckets all have the same width. Their edges grow by the same *factor*: each "
            "is 8^(1/16) times the one before.",
            {
                "edges = 16 * (128 / 16) ** (torch.arange(1, 16) / 16)": (
                    "edges = 16 + 7 * torch.arange(1, 16)"
                )
            },
        ),
        Mistake(
            "key − query",
            "Your buckets are for key − query. Here the distance is query − key, positive for the "
            "words before.",
            {"return distance.clamp": "distance = -distance\n    return distance.clamp"},
        ),
        Mistake(
            "all logarithmic",
            "The first 16 distances get a bucket each. The logarithmic steps start at 16: take the "
            "logarithm of distance / 16.",
            "far = 16 + (16 * (distance.clamp(min=1) / 16).log() / math.log(8)).long()\n"
            "return far.clamp(0, 31)",
        ),
        Mistake(
            "buckets for both directions",
            "You kept half of the buckets for words after the query, as T5's encoder does. Here "
            "they all share bucket 0, and the words before the query have all 32.",
            *(
                "n = distance.abs()\n"
                "far = 8 + (8 * (n.clamp(min=1) / 8).log() / math.log(128 / 8)).long()\n"
                f"return torch.where(n < 8, n, far.clamp(max=15)) + 16 * (distance {side} 0)"
                for side in "<>"
            ),
        ),
        Mistake(
            "the logarithm of 128",
            "You divided by the logarithm of 128. The steps go from 16 to 128, so divide by that "
            "of 128 / 16.",
            *({EDGES_REACHED: f"{STEPS}{end}".replace("log(8)", "log(128)")} for end in LOWERED),
        ),
        Mistake(
            "no last bucket",
            "There are 32 buckets: the last, 31, takes everything that is farther away.",
            {"torch.arange(1, 16)": "torch.arange(1, 60)"},
        ),
        Mistake(
            "negative buckets",
            "A word after the query has a negative distance, which falls into bucket 0.",
            {"distance.clamp(0, 16)": "distance.clamp(max=16)"},
            {"distance.clamp(0, 16)": "distance.abs().clamp(max=16)"},
        ),
        Mistake(
            "up to 127 only",
            "The logarithmic buckets go up to 128: 16 equal factors whose product is 128 / 16.",
            {"128 / 16": "127 / 16"},
        ),
        Mistake(
            "fifteen steps",
            "There are 16 steps from 16 to 128, and you took 15.",
            {"/ 16)\n": "/ 15)\n"},
        ),
    ],
    alternatives=[
        Alternative(
            "by logarithms",
            """
            far = 16 + (16 * (distance.clamp(min=16) / 16).log() / math.log(8)).long()
            return torch.where(distance < 16, distance.clamp(min=0), far.clamp(max=31))
            """,
            excuses={
                "another number: 16": "below 16, the other branch counts",
                "another comparison: distance < 16": "both branches give 16",
                "call dropped: distance.clamp(min=16)": "below 16, the other branch counts",
            },
        ),
        Alternative(
            "by torch.bucketize",
            {EDGES_REACHED: "torch.bucketize(distance, edges, right=True)"},
            excuses={
                "another number: True → False": "no distance is exactly on an edge",
                "keyword dropped": "likewise",
            },
        ),
    ],
    hints=[
        "From 16 to 128 is a factor of 8. So the edges of the far buckets are 16 times 8 to the "
        "power of 1/16, 2/16, ….",
        "The bucket is the distance, clipped to the range 0 to 16, plus the number of edges it has "
        "reached.",
        "Compare `distance[..., None]` with a row of edges, and add up the Trues with "
        "`sum(dim=-1)`.",
    ],
    excuses={
        "another comparison: distance[..., None] >= edges": "no distance is exactly on an edge",
    },
)
