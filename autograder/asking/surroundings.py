"""What surrounds a call to a learner's code: silence, randomness, forbidden functions."""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.library import Library
from torch.overrides import TorchFunctionMode

MOST_PRINTED = 500  # characters
START = 9_021_077  # a seed that nobody would choose, so that a seed set by the code is noticed
DRAWS = {Tensor.normal_.__name__, Tensor.uniform_.__name__}  # what `nn.init` calls


# The kernels that do a function's work, whatever the name and the thread it is called by, and the
# kind of tensors that each one handles.
KERNELS = {
    "softmax": [
        *(("_softmax", "CPU"), ("_softmax.out", "CPU")),
        *(("_softmax", "MkldnnCPU"), ("_softmax", "NestedTensorCPU")),
        *(("_masked_softmax", "CPU"), ("_sparse_softmax", "SparseCPU")),
        ("_scaled_dot_product_flash_attention_for_cpu", "CPU"),
    ],
    "log_softmax": [
        *(("_log_softmax", "CPU"), ("_log_softmax.out", "CPU")),
        ("_sparse_log_softmax", "SparseCPU"),
    ],
    "scaled_dot_product_attention": [
        ("_scaled_dot_product_flash_attention_for_cpu", "CPU"),
        ("_scaled_dot_product_attention_math", "CPU"),
    ],
}


class ForbiddenCall(Exception):
    """The learner's code called the function that it is supposed to implement."""


class Printed(io.TextIOBase):
    """A stream that keeps the beginning of what is written to it, and how many lines it had."""

    def __init__(self) -> None:
        self.lines, self.begins = 0, ""

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        self.begins += text[: MOST_PRINTED - len(self.begins)]
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[Printed]:
    """Keep the body's output and warnings from being shown."""
    printed = Printed()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield printed


@contextlib.contextmanager
def usual_settings() -> Iterator[None]:
    """Give the body torch's usual settings and one thread, whatever the notebook has set."""
    gradients, dtype, threads = (
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_num_threads(),
    )
    elsewhere = torch.get_default_device().type != "cpu"
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)
    try:
        with (
            torch.device("cpu") if elsewhere else contextlib.nullcontext(),
            torch.autocast("cpu", enabled=False),
            torch.inference_mode(False),
        ):
            yield
    finally:
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)


@contextlib.contextmanager
def forbid(names: Sequence[str]) -> Iterator[None]:
    """Raise ForbiddenCall when the body calls one of the named torch functions, by any name.

    Their kernels are replaced, so other threads, `torch.ops` and TorchScript don't get around it.
    """
    kernels = Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about replacing a kernel
            for name in names:
                for kernel, kind in KERNELS.get(name, ()):
                    kernels.impl(kernel, _refusing(name), kind)
        with ByName(names):
            yield
    finally:
        del kernels  # which restores the originals


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise ForbiddenCall(name)

    return refuse


class ByName(TorchFunctionMode):
    """Raise ForbiddenCall with the name by which the code calls a function.

    Catches `torch.softmax(x)`, `x.softmax()`, `F.softmax(x)` and `nn.Softmax()(x)` alike.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in self.names:
            raise ForbiddenCall(name)
        return func(*args, **(kwargs or {}))


class Undrawn(TorchFunctionMode):
    """Skip drawing weights: on the meta device, that would only import torch's compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


class SameDropout(TorchFunctionMode):
    """Replace dropout: a number's value decides how much of it is left.

    This gives the same result on every processor, and for every right way to arrange the numbers.
    The share is a smooth function of the value, so that rounding changes nothing.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is F.dropout:
            return _dropout(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if not training or p == 0:
        return x
    share = (1 + (37 * x.detach()).cos()) / 2
    kept = x * share / (1 - p) if p < 1 else torch.zeros_like(x)
    return x.copy_(kept) if inplace else kept


@contextlib.contextmanager
def same_randomness() -> Iterator[None]:
    """Give the body a fixed seed, then restore the notebook's own random state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(START)  # only the CPU's: seeding all devices takes 1 ms
        yield
