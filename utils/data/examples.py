"""The examples that lessons compute with: six words, a play, and squares."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

LABELS = ["Your", "journey", "starts", "with", "one", "step"]
FEATURES = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]


def six_words() -> tuple[list[str], Float[Tensor, "6 3"]]:
    """Return six words and their vectors of three features, small enough to follow by eye."""
    return list(LABELS), torch.tensor(FEATURES)


RIDDLE = ["The", "trophy", "doesn't", "fit", "in", "the", "suitcase", "because", "it", "is", "too"]
# Features, set by hand: goes into things, holds things, speaks of size. All other words have none.
RIDDLE_FEATURES = {
    "trophy": [6.0, 0.0, 0.0],
    "suitcase": [0.0, 6.0, 0.0],
    "it": [0.0, 0.0, 4.0],
    "big": [3.0, 0.0, 4.0],
    "small": [0.0, 3.0, 4.0],
}


def riddle(ending: str) -> tuple[list[str], Float[Tensor, "12 3"]]:
    """Return the words of Levesque's riddle and their vectors. ending: "big" or "small"."""
    words = [*RIDDLE, ending]
    return words, torch.tensor([RIDDLE_FEATURES.get(word, [0.0, 0.0, 0.0]) for word in words])


def riddle_weights(ending: str) -> Float[Tensor, "12 12"]:
    """Return where each word looks in a second round, after it has heard from the others.

    In the second round, only the first two features count.
    """
    _, words = riddle(ending)
    heard = torch.softmax(words @ words.T, dim=-1) @ words
    return torch.softmax(heard[:, :2] @ words[:, :2].T, dim=-1)


TEXTS = Path(__file__).parent / "texts"


def as_you_like_it() -> str:
    """Return Shakespeare's play, 125,179 characters; texts/sources.md says where it comes from."""
    return (TEXTS / "as_you_like_it.txt").read_text(encoding="utf-8")


def plain_paragraphs() -> list[str]:
    """Return three short texts in plain English: facts, a story, and advice."""
    return (TEXTS / "paragraphs.txt").read_text(encoding="utf-8").strip().split("\n\n")


CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
NOISE = 0.1  # standard deviation of each coordinate, so the best mean squared error is 0.01
NOISE_FLOOR = NOISE**2


class Squares(NamedTuple):
    """Squares drawn corner by corner."""

    points: Float[Tensor, "n 4 2"]
    directions: Int[Tensor, " n"]  # 1: in the order of CORNERS, 0: in reverse


def generate_squares(n: int = 128, seed: int = 13) -> Squares:
    """Draw noisy squares from a random start in a random direction.

    The numbers are exactly those of published notebooks, but come from a separate generator:
    numpy's global random state stays as it is.
    """
    random = np.random.RandomState(seed)

    # On Windows this generator defaults to 32 bits.
    starts, directions = (random.randint(below, size=n, dtype=np.int64) for below in (4, 2))
    corners = [
        np.roll(CORNERS, -start, axis=0)[:: 2 * direction - 1]
        for start, direction in zip(starts, directions, strict=True)
    ]
    points = np.stack(corners) + random.randn(n, 4, 2) * NOISE
    return Squares(torch.from_numpy(points).float(), torch.from_numpy(directions))
