"""Drawing the inputs of a case: tensors whose dimensions have names, and sizes that all differ."""

import hashlib
import math
import random

import torch
from torch import Tensor

SMALLEST, LARGEST = 3, 7


class Draw:
    """Random inputs for one case, the same for the same seed text.

    Each named dimension gets a size that no other dimension of the case has, so that a confusion
    of two dimensions can't go unseen. Sizes may also be fixed: `Draw("seed", n_heads=2)`.
    """

    def __init__(self, seed: str, **sizes: int) -> None:
        digest = hashlib.sha256(seed.encode()).digest()
        number = int.from_bytes(digest[:6], "big")
        self.generator = torch.Generator().manual_seed(number)
        self.sizes = dict(sizes)
        self._unused = list(range(SMALLEST, LARGEST + 1))
        random.Random(number).shuffle(self._unused)

    def size(self, name: str) -> int:
        """The size of a named dimension, or of a product of them such as "n_heads*d_head"."""
        if "*" in name:
            return math.prod(self.size(part) for part in name.split("*"))
        if name not in self.sizes:
            taken = self.sizes.values()
            self.sizes[name] = next(size for size in self._candidates() if size not in taken)
        return self.sizes[name]

    def fix(self, **sizes: int) -> "Draw":
        """Give dimensions a size of your choice."""
        self.sizes |= sizes
        return self

    def normal(self, dims: str, scale: float = 1.0) -> Tensor:
        """Standard normal values times `scale`, float32, of shape `dims` ("batch n d")."""
        return torch.randn(self.shape(dims), generator=self.generator) * scale

    def uniform(self, dims: str, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Values between low and high, float32, of shape `dims`."""
        return torch.rand(self.shape(dims), generator=self.generator) * (high - low) + low

    def weights(self, dims: str) -> Tensor:
        """Positive values whose last dimension sums to 1, float32, of shape `dims`."""
        values = self.uniform(dims, 0.1, 1.0)
        return values / values.sum(-1, keepdim=True)

    def shape(self, dims: str) -> list[int]:
        return [self.size(name) for name in dims.split()]

    def _candidates(self):
        yield from self._unused
        yield from range(LARGEST + 1, LARGEST + 100)
