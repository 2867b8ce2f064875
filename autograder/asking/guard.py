"""What surrounds a call to a learner's code: silence, randomness, forbidden functions."""

import contextlib
import io
import warnings
from collections.abc import Iterator

import torch
from torch.overrides import TorchFunctionMode


class ForbiddenCall(Exception):
    """The learner's code called what the exercise asks it to write."""


class LineCounter(io.TextIOBase):
    """A stream that keeps nothing but the number of lines written to it."""

    def __init__(self) -> None:
        self.lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)


@contextlib.contextmanager
def silence() -> Iterator[LineCounter]:
    """Swallow what the body prints or warns, and count its lines."""
    counter = LineCounter()
    with (
        contextlib.redirect_stdout(counter),
        contextlib.redirect_stderr(counter),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield counter


class Forbid(TorchFunctionMode):
    """Raise ForbiddenCall when torch is asked for one of the named functions.

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
    """Give the body a fixed seed, and the notebook its own random state back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # only the CPU's: all devices' take a millisecond
        yield
