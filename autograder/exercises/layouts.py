"""Tensors as a transpose leaves them: their numbers don't lie side by side, so `view` may fail."""

import torch

from autograder.asking.arguments import Code
from autograder.lessons.draw import Draw


def permuted(draw: Draw, dims: str, order: tuple[int, ...]) -> Code:
    """Normal values of shape `dims` ("batch n d"), whose dimensions are then put in this order."""
    seed = int(torch.randint(1000, (), generator=draw.generator))
    return Code(
        f"numbers = torch.Generator().manual_seed({seed})\n"
        f"x = torch.randn({draw.shape(dims)}, dtype=torch.float64, generator=numbers).float()\n"
        f"x = x.permute({order})"
    )
