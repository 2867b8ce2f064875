"""A limit on the time that a learner's code takes.

What counts is processor time, so that a busy machine refuses nothing that is right. Code that
sleeps or waits uses none; behind it is a limit by the wall clock, several times as wide.
"""

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 5.0  # wall seconds allowed for each second of processor time
EVERY = 0.05  # seconds between two looks
AGAIN = 1.0  # seconds until code that swallowed the exception meets the next one


class OutOfTime(BaseException):
    """Time ran out. A BaseException, so that `except Exception` in a loop does not swallow it."""


class TimeLimit:
    """Time that several bodies of code use up together.

    seconds: of this process's processor time. wall_seconds: of the clock on the wall.
    waited: whether the wall clock ended it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.wall_seconds = seconds, PATIENCE * seconds
        self.waited = False
        self._spent = self._wall_spent = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the body's time, and raise OutOfTime in it when there is none left.

        A sleeping body is woken in the main thread of a POSIX system. Elsewhere the exception
        waits until the next line of Python runs.
        """
        over, start = threading.Event(), (time.process_time(), time.monotonic())
        with _alarm(over) as alarm:
            watch = threading.Thread(target=self._watch, args=(alarm, over, start), daemon=True)
            watch.start()
            try:
                yield
            finally:
                try:
                    over.set()  # the alarm may ring even here, but then not again for a while
                finally:
                    over.set()
                    watch.join()
                    self._spent += time.process_time() - start[0]
                    self._wall_spent += time.monotonic() - start[1]

    def _watch(
        self, alarm: Callable[[], None], over: threading.Event, start: tuple[float, float]
    ) -> None:
        cpu_start, wall_start = start
        while not over.wait(EVERY):
            spent = self._spent + time.process_time() - cpu_start
            waited = self._wall_spent + time.monotonic() - wall_start
            if spent > self.seconds or waited > self.wall_seconds:
                self.waited = spent <= self.seconds
                break
        while not over.is_set():
            alarm()
            over.wait(AGAIN)


@contextmanager
def _alarm(over: threading.Event) -> Iterator[Callable[[], None]]:
    """A function that raises OutOfTime in this thread, from any other, until `over` is set."""
    thread = threading.get_ident()
    if hasattr(signal, "pthread_kill") and threading.current_thread() is threading.main_thread():

        def expire(signum: int, frame: object) -> None:
            if not over.is_set():
                raise OutOfTime

        before = signal.signal(signal.SIGALRM, expire)
        try:
            yield lambda: signal.pthread_kill(thread, signal.SIGALRM)
        finally:
            signal.signal(signal.SIGALRM, before)
    else:
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        try:
            yield lambda: raise_in(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))
        finally:
            raise_in(ctypes.c_ulong(thread), None)
