"""The command `serve`: watch nbgrader's exchange until it is told to stop.

What has been graded is known to the gradebook and to `autograded/`, so a new start takes up where
the last one ended, and nothing is graded twice.
"""

import fcntl
import math
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.serving.inbox import Inbox
from autograder.grading.term.learner_names import listed, printable
from autograder.judging.code_marks import count

# What nbgrader does with a lesson, in this order.
STEPS = (
    ("collect", "--update"),
    ("autograde",),
    ("generate_feedback",),
    ("release_feedback",),
)
LOCK = ".serve.lock"
WAIT, LONGEST_WAIT = 60.0, 3600.0  # seconds before a lesson is tried again


def run(options: Namespace) -> int:
    """Serve lessons until SIGTERM or Ctrl-C; return 0. Raises CourseError."""
    inbox = Inbox.of_course(options.course)
    inbox.require(options.lessons)
    served: dict[str, Served] = {}
    with _alone(options.course), _stopping() as stop:
        _say(f"Watching {inbox.folder}. Ctrl-C stops, once the step that runs has ended.")
        while not stop.is_set():
            try:
                for lesson in options.lessons or inbox.lessons():
                    one = served.setdefault(lesson, Served(lesson, options.course, stop))
                    one.look(inbox.arrived(lesson))
            except OSError as error:
                _say(f"The exchange can't be read: {error}")
                stop.wait(WAIT)
            stop.wait(options.every)
    _say("Stopped.")
    return 0


class Served:
    """A lesson: what has arrived of it, and when it is tried again if a step failed.

    stop: ends the steps between two of them.
    """

    def __init__(self, lesson: str, course: Path, stop: threading.Event) -> None:
        self._lesson, self._course, self._stop = lesson, course, stop
        self._arrived: set[str] | None = None  # None, so that a start always grades
        self._wait, self._again = WAIT, math.inf

    def look(self, arrived: set[str]) -> None:
        """Grade if something has arrived, or if it is time to try again."""
        new = arrived - (self._arrived or set())
        if self._arrived is None:
            self._say(f"{count(len(arrived), 'submission')} in the exchange")
        elif new:
            self._say(f"handed in by {listed({name.partition('+')[0] for name in new})}")
            self._wait = WAIT
        elif time.monotonic() < self._again:
            return
        self._arrived = arrived
        if arrived:
            self._grade()

    def _grade(self) -> None:
        unfinished = []
        for step, *options in STEPS:
            if self._stop.is_set():
                return
            if not self._take(step, *options):
                unfinished.append(step)
        if unfinished:
            minutes = count(self._wait / 60, "minute")
            self._say(f"{' and '.join(unfinished)}: not everything was done; again in {minutes}")
            self._again = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)
        else:
            self._say("up to date")
            self._again = math.inf

    def _take(self, step: str, *options: str) -> bool:
        """Take a step, in a session of its own, which a Ctrl-C for this process doesn't reach."""
        place = f"--CourseDirectory.root={self._course.resolve()}"
        command = [sys.executable, "-m", "nbgrader", step, self._lesson, *options, place]
        return subprocess.run(command, start_new_session=True).returncode == 0

    def _say(self, text: str) -> None:
        _say(f"{self._lesson}: {text}")


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM and Ctrl-C set; the step that runs ends first."""
    stop = threading.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(one, lambda *_: stop.set()) for one in signals]
    try:
        yield stop
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


@contextmanager
def _alone(course: Path) -> Iterator[None]:
    """Raise CourseError if another process serves the same course."""
    with (course / LOCK).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(f"{course} is being served already. Stop that first.") from None
        yield


def _say(text: str) -> None:
    print(printable(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}"), flush=True)
