"""Ctrl-C: kept where Python would lose it, delayed, or ignored."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

INTERRUPTED = 128 + signal.SIGINT  # the exit status of what it ended


class CtrlC:
    """Keeps a Ctrl-C in its `with` block, even if nothing comes of it where it arrives.

    Python raises KeyboardInterrupt wherever it happens to be. In a finalizer or in the callback of
    a weak reference, no exception gets through: Python prints it and goes on.
    """

    def __init__(self) -> None:
        self._pressed = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was a Ctrl-C."""
        if self._pressed:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        before = signal.getsignal(signal.SIGINT)
        # Ctrl-C may be ignored, as after `nohup`, or handled by code that isn't Python's.
        self._before = before if callable(before) and _can_set() else None
        if self._before:
            signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
        raise KeyboardInterrupt


@contextmanager
def ignored() -> Iterator[None]:
    """Let new processes ignore Ctrl-C, which is meant for the process that hands out jobs."""
    if not _can_set():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def delayed() -> Iterator[None]:
    """Delay Ctrl-C, which Python may lose while it forks or imports C code."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _can_set() -> bool:
    """Whether this thread may say what signals do. Formgrader's may not, and has no terminal."""
    return threading.current_thread() is threading.main_thread()
