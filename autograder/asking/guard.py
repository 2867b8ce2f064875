"""What surrounds a call to a learner's code: silence, randomness, forbidden functions."""

import contextlib
import io
import warnings
from collections.abc import Iterator

import torch
from torch.overrides import TorchFunctionMode


class ForbiddenCall(Exception):
    """The learner's code called the function that it is supposed to implement."""


class LineCounter(io.TextIOBase):
    """A stream that keeps only the number of lines written to it."""

    def __init__(self) -> None:
        self.lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[LineCounter]:
    """Swallow the body's output and warnings, and count the lines."""
    counter = LineCounter()
    with (
        contextlib.redirect_stdout(counter),
        contextlib.redirect_stderr(counter),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield counter


class Forbid(TorchFunctionMode):
    """Raise ForbiddenCall when the code calls one of the named torch functions.

    Catches `torch.softmax(x)`, `x.softmax()`, `F.softmax(x)` and `nn.Softmax()(x)` alike.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in self.names:
            raise ForbiddenCall(name)
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def same_randomness() -> Iterator[None]:
    """Give the body a fixed seed, then restore the notebook's own random state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # CPU only: seeding all devices takes a millisecond
        yield
