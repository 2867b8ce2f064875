"""The data of the lessons."""

import torch
from jaxtyping import Float
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
    """Six words and their vectors of three features, small enough to follow by eye."""
    return list(LABELS), torch.tensor(FEATURES)
