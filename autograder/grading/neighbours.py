"""Getting along with others at work in the same course directory: another run, formgrader."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from nbgrader import api
from sqlalchemy import Engine, create_engine, event

from autograder.errors import CourseError

PATIENCE = 60  # seconds; Python's own are five


@contextmanager
def only_run(course: Path) -> Iterator[None]:
    """Keep other runs from grading in a course directory. Raises CourseError when one does.

    The lock is the operating system's, on the folder itself: it ends with its process.
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


def wait_for_sqlite() -> None:
    """Let whoever finds an SQLite gradebook locked wait, a long time if need be."""
    if not event.contains(Engine, "connect", _be_patient):
        event.listen(Engine, "connect", _be_patient)


def keep_statements() -> None:
    """Let whoever opens a gradebook again find its SQL compiled.

    nbgrader opens it a dozen times for each submission. Each still has its own connection.
    """
    api.create_engine = _engine


@cache
def _engine(db_url: str, **options: object) -> Engine:
    return create_engine(db_url, **options)


def _be_patient(connection: object, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
