"""Drawing the inputs of a case: tensors whose dimensions have names, and sizes that all differ."""

import hashlib
import math
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

NOTHING: Mapping[str, str] = MappingProxyType({})
SMALLEST, LARGEST = 3, 7


class Draw:
    """Random inputs for one case, the same for the same seed text.

    Each named dimension gets a size that no other dimension of the case has, so that a confusion
    of two dimensions can't go unseen. Sizes may also be fixed: `Draw("seed", n_heads=2)`.
    asked: for each argument of the solution its dimensions, as annotated there.
    """

    def __init__(self, seed: str, asked: Mapping[str, str] = NOTHING, **sizes: int) -> None:
        digest = hashlib.sha256(seed.encode()).digest()
        number = int.from_bytes(digest[:6], "big")
        self.generator = torch.Generator().manual_seed(number)
        self.asked = asked
        self.sizes = dict(sizes)
        self.name = ""
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

    def choose(self, name: str, *sizes: int) -> "Draw":
        """Give a dimension one of several sizes."""
        return self.fix(**{name: self._pick(*sizes)})

    def fix(self, **sizes: int) -> "Draw":
        """Give dimensions a size of your choice."""
        self.sizes |= sizes
        return self

    def named(self, names: str) -> dict[str, int]:
        """Sizes by name: {"d_in": 5, "d_k": 3}."""
        return {name: self.size(name) for name in names.split()}

    def heads(self) -> dict[str, int]:
        """Sizes of a model with heads: d_model and n_heads, where d_model = n_heads * d_head."""
        n_heads, d_head = self._pick(2, 3), self._pick(4, 5)
        self.fix(n_heads=n_heads, d_head=d_head, d_model=n_heads * d_head)
        return self.named("d_model n_heads")

    def label(self, name: str) -> None:
        """Give the case a name that its card shows."""
        self.name = name

    def arguments(self, leading: str = "", scale: float = 1.0, **given: Any) -> dict[str, Any]:
        """What the solution takes: what is given, and normal tensors for the rest.

        leading: the dimensions that `*batch` is this time.
        """
        needed = {
            name: given[name] if name in given else self.normal(_led(dims, leading), scale)
            for name, dims in self.asked.items()
        }
        return needed | given

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

    def keep(self, dims: str) -> Tensor:
        """A boolean mask; every row has at least one True and at least one False."""
        chances = self.uniform(dims)
        cut = self.uniform(dims.rpartition(" ")[0], 0.2, 0.8)[..., None]
        return (
            (chances < cut)
            .scatter(-1, chances.argmin(-1, True), True)
            .scatter(-1, chances.argmax(-1, True), False)
        )

    def lengths(self, batch: str, n: str) -> Tensor:
        """Lengths between 1 and n, int64; the first is n and the second is shorter."""
        count, longest = self.size(batch), self.size(n)
        lengths = torch.randint(1, longest + 1, (count,), generator=self.generator)
        lengths[0], lengths[1] = longest, min(int(lengths[1]), longest - 1)
        return lengths

    def shape(self, dims: str) -> list[int]:
        return [self.size(name) for name in dims.split()]

    def _pick(self, *choices: int) -> int:
        return choices[int(torch.randint(len(choices), (), generator=self.generator))]

    def _candidates(self):
        yield from self._unused
        yield from range(LARGEST + 1, LARGEST + 100)


def _led(dims: str, leading: str) -> str:
    """Dimensions with others in the place of `*batch`."""
    return " ".join(leading if dim.startswith("*") else dim for dim in dims.split())
