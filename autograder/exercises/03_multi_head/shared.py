"""Inputs that show where each number went when heads are split and merged."""

import torch
from torch import Tensor

from autograder.lessons.draw import Draw


def numbered(draw: Draw, dims: str, *places: int) -> Tensor:
    """Whole numbers whose digits tell their position: 1000 plus the indices times `places`."""
    indices = torch.meshgrid(*(torch.arange(size) for size in draw.shape(dims)), indexing="ij")
    parts = [i * place for i, place in zip(indices, places, strict=True)]
    return torch.stack(parts).sum(dim=0).float() + 1000
