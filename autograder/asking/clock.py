"""A limit on the time that a learner's code takes.

The limit is on processor time, so that a busy machine does not fail correct code. Code that sleeps
or waits uses none, so there is also a limit on wall time, several times as long.
"""

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

PATIENCE = 10.0  # wall seconds allowed for each second of processor time
EVERY = 0.05  # seconds between two checks
AGAIN = 1.0  # seconds until code that swallowed the exception gets another one

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class OutOfTime(BaseException):
    """Time ran out. A BaseException, so `except Exception` in a loop does not swallow it."""


class TimeLimit:
    """A time budget that several bodies of code share, in the thread that enters it.

    seconds: the limit on this process's processor time.
    wall_seconds: the limit on wall time.
    waited: whether wall time ran out first.

    In the main thread of a POSIX system, a sleeping body is woken. Elsewhere the exception waits
    until the next line of Python runs.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.wall_seconds = seconds, PATIENCE * seconds
        self.waited = self._rang = False
        self._spent = self._wall_spent = 0.0
        self._start: tuple[float, float] | None = None  # of the running body
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._thread_id = threading.get_ident()
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._by_signal = in_main_thread and hasattr(signal, "pthread_kill")

    def __enter__(self) -> Self:
        if self._by_signal:
            self._before = signal.signal(signal.SIGALRM, self._expire)
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closed.set()
        if self._by_signal:
            signal.signal(signal.SIGALRM, self._before)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the body's time, and raise OutOfTime in it when none is left."""
        self._start = time.process_time(), time.monotonic()
        try:
            yield
        finally:
            try:
                self._stop()  # the alarm may ring even here, but not again for a while
            finally:
                self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._spent, self._wall_spent = self._used()
            self._start = None
            if not self._by_signal:
                _raise_in(ctypes.c_ulong(self._thread_id), None)

    def _used(self) -> tuple[float, float]:
        """Return the processor and wall seconds used so far."""
        if self._start is None:
            return self._spent, self._wall_spent
        cpu, wall = self._start
        spent = self._spent + time.process_time() - cpu
        return spent, self._wall_spent + time.monotonic() - wall

    def _watch(self) -> None:
        while not self._closed.wait(AGAIN if self._rang else EVERY):
            with self._lock:
                spent, waited = self._used()
                if self._start is not None and (spent > self.seconds or waited > self.wall_seconds):
                    if not self._rang:
                        self.waited = spent <= self.seconds
                    self._rang = True
                    self._ring()

    def _ring(self) -> None:
        """Raise OutOfTime in the body's thread."""
        if self._by_signal:
            signal.pthread_kill(self._thread_id, signal.SIGALRM)
        else:
            _raise_in(ctypes.c_ulong(self._thread_id), ctypes.py_object(OutOfTime))

    def _expire(self, signum: int, frame: object) -> None:
        if self._rang and self._start is not None:  # the code may set alarms too
            raise OutOfTime
