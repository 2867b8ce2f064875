"""Draw the inputs of a case: tensors with named dimensions, whose sizes differ by default."""

import hashlib
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

NOTHING: Mapping[str, str] = MappingProxyType({})
NO_SIZES: Mapping[str, int] = MappingProxyType({})
SMALLEST, LARGEST = 3, 7
LARGE, LONG = 10, 21  # from where large sizes begin; those of texts
MORE = 2  # by how much they exceed those to choose from
EXACT, SQUARES = 4, {4, 9, 16}
OF_TEXTS = {"n", "n_query", "n_key", "n_source", "n_target"}


class Draw:
    """Random inputs for one case, determined by the seed text.

    Each named dimension gets a different size, so that confusing two dimensions never goes
    unnoticed. Sizes may also be fixed: `Draw("seed", n_heads=2)`.
    asked: the dimensions of each of the solution's arguments, as annotated there.
    same: if not 0, every size that is not fixed is this one.
    large: whether sizes begin at `LARGE`, and those of texts at `LONG`.
    texts: where the sizes of texts begin; 0 if they're drawn as others are.
    unlike: sizes by name that this draw avoids.
    exact_root: d_k and d_head are 4, whose root is the same number in every dtype. Otherwise they
        are never squares, so that neither a root rounded down nor half of 4 passes for the root.
    """

    def __init__(
        self,
        seed: str,
        asked: Mapping[str, str] = NOTHING,
        same: int = 0,
        large: bool = False,
        texts: int = 0,
        exact_root: bool = False,
        unlike: Mapping[str, int] = NO_SIZES,
        **sizes: int,
    ) -> None:
        self.seed = seed
        digest = hashlib.sha256(seed.encode()).digest()
        number = int.from_bytes(digest[:6], "big")
        self.generator = torch.Generator().manual_seed(number)
        self.asked = asked
        self.same, self.large, self.exact_root, self.unlike = same, large, exact_root, unlike
        self.texts = LONG if large else texts
        self.sizes = dict(sizes)
        self.name = ""
        self._unused = list(range(SMALLEST, LARGEST + 1))
        random.Random(number).shuffle(self._unused)

    def size(self, name: str) -> int:
        """Return the size of a named dimension, or of a product such as "n_heads*d_head"."""
        if "*" in name:
            return math.prod(self.size(part) for part in name.split("*"))
        if name not in self.sizes:
            self.sizes[name] = self._new_size(name)
        return self.sizes[name]

    def _new_size(self, name: str) -> int:
        if self.same:
            return self.same
        has_root = name in ("d_k", "d_head")
        if self.exact_root and has_root:
            return EXACT
        taken = {*self.sizes.values(), self.unlike.get(name)}
        if has_root:
            taken |= SQUARES
        elif self.exact_root:
            taken.add(EXACT)
        return next(size for size in self._candidates(name) if size not in taken)

    @property
    def ones(self) -> bool:
        """Whether every size that is not fixed is 1."""
        return self.same == 1

    def choose(self, name: str, *sizes: int) -> "Draw":
        """Give a dimension one of the given sizes at random, unless it has one.

        Where sizes are large, it gets a larger one.
        """
        if name not in self.sizes:
            more = max(sizes) + MORE if self.large else 0
            self.fix(**{name: self.same or more or self._one_of(name, sizes)})
        return self

    def among(self, name: str, *sizes: int) -> "Draw":
        """Give a dimension one of the given sizes, and no other, in whatever form.

        Where all sizes are equal, the others follow it.
        """
        given = self.sizes.get(name, self.same)
        size = given if given in sizes else self._one_of(name, sizes)
        if self.same > 1:
            self.same = size
        return self.fix(**{name: size})

    def fix(self, **sizes: int) -> "Draw":
        """Give dimensions these sizes."""
        self.sizes |= sizes
        return self

    def named(self, names: str) -> dict[str, int]:
        """Return sizes by name: {"d_in": 5, "d_k": 3}."""
        return {name: self.size(name) for name in names.split()}

    def heads(self) -> dict[str, int]:
        """Choose sizes for a multi-head model: d_model and n_heads; d_model = n_heads * d_head."""
        self.choose("n_heads", 2, 3).choose("d_head", *([EXACT] if self.exact_root else [5, 6]))
        self.fix(d_model=self.size("n_heads") * self.size("d_head"))
        return self.named("d_model n_heads")

    def label(self, name: str) -> None:
        """Give the case a name that its card shows."""
        self.name = name

    def arguments(self, leading: str = "", scale: float = 1.0, **given: Any) -> dict[str, Any]:
        """Return the solution's arguments: those given, and normal tensors for the rest.

        leading: the dimensions that replace `*batch` in this case.
        """
        for name, dims in self.asked.items():
            if not dims and name not in given:
                raise ValueError(f"{name} is not annotated as a float tensor: give it a value")
        needed = {
            name: given[name] if name in given else self.normal(_led(dims, leading), scale)
            for name, dims in self.asked.items()
        }
        return needed | given

    def normal(self, dims: str, scale: float = 1.0) -> Tensor:
        """Draw standard normal values times `scale`, float32, of shape `dims` ("batch n d")."""
        return self.normal_of(self.shape(dims), scale)

    def normal_of(self, shape: Sequence[int], scale: float = 1.0) -> Tensor:
        """Draw standard normal values times `scale`, float32, the same on every processor.

        In float32, processors round the last digits of `torch.randn` differently.
        """
        drawn = torch.randn(shape, dtype=torch.float64, generator=self.generator)
        return (drawn * scale).float()

    def uniform(self, dims: str, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Draw uniform values between low and high, float32, of shape `dims`."""
        return torch.rand(self.shape(dims), generator=self.generator) * (high - low) + low

    def weights(self, dims: str) -> Tensor:
        """Draw positive values that sum to 1 over the last dimension, float32, of shape `dims`."""
        values = self.uniform(dims, 0.1, 1.0).double()
        return (values / values.sum(-1, keepdim=True)).float()

    def keep(self, dims: str) -> Tensor:
        """Draw a boolean mask; every row has at least one True, and one False if there is room."""
        if self.shape(dims)[-1] == 1:
            return torch.ones(self.shape(dims), dtype=torch.bool)
        chances = self.uniform(dims)
        cut = self.uniform(dims.rpartition(" ")[0], 0.2, 0.8)[..., None]
        return (
            (chances < cut)
            .scatter(-1, chances.argmin(-1, True), True)
            .scatter(-1, chances.argmax(-1, True), False)
        )

    def lengths(self, batch: str, n: str) -> Tensor:
        """Draw lengths between 1 and n, int64; the last is n and the first is shorter."""
        count, longest = self.size(batch), self.size(n)
        lengths = torch.randint(1, longest + 1, (count,), generator=self.generator)
        lengths[:1] = lengths[:1].clamp(max=longest - 1)
        lengths[-1] = longest
        return lengths

    def shape(self, dims: str) -> list[int]:
        return [self.size(name) for name in dims.split()]

    def _one_of(self, name: str, sizes: Sequence[int]) -> int:
        if self.large:
            return max(sizes)
        choices = [size for size in sizes if size != self.unlike.get(name)] or sizes
        return choices[int(torch.randint(len(choices), (), generator=self.generator))]

    def _candidates(self, name: str) -> Iterator[int]:
        if least := self.texts if name in OF_TEXTS else LARGE * self.large:
            yield from range(least, least + 100)
        yield from self._unused
        yield from range(LARGEST + 1, LARGEST + 100)


def _led(dims: str, leading: str) -> str:
    """Replace `*batch` in `dims` with the leading dimensions."""
    return " ".join(leading if dim.startswith("*") else dim for dim in dims.split())
