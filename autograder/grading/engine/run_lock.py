"""Avoid conflicts with another run in the same course directory."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError


@contextmanager
def only_run(course: Path) -> Iterator[None]:
    """Keep other runs from grading in a course directory. Raises CourseError if one already is.

    The operating system holds the lock, on the folder itself, so it ends with the process.
    """
    folder = os.open(course, os.O_RDONLY)
    try:
        _lock(folder, course)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, course: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CourseError(
            f"Another run is grading in {course}. Wait until it has ended, or end it."
        ) from error
