"""What surrounds a call to a learner's code: limits on time and output, forbidden functions."""

import contextlib
import io
import signal
import threading
import time
import warnings
from collections.abc import Iterator

import torch
from torch.overrides import TorchFunctionMode


class OutOfTime(BaseException):
    """Time ran out. A BaseException, so that `except Exception` in a loop does not swallow it."""


class ForbiddenCall(Exception):
    """The learner's code called what the exercise asks it to write."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the body after `seconds`.

    Needs a POSIX timer and the main thread. Without them the body runs without a limit, and
    the notebook's Interrupt button ends it.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def expire(signum, frame):
        raise OutOfTime

    previous = signal.signal(signal.SIGALRM, expire)
    # It fires every second from then on, for code that swallows the first one.
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001), 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


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


class Deadline:
    """A share of time that several calls use up together."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self.end - time.monotonic()
