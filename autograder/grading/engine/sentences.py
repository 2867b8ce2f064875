"""Errors of the course, as nbgrader's commands end with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger

from nbgrader.converters.base import NbGraderException

from autograder.errors import CourseError


@contextmanager
def sentences(log: Logger) -> Iterator[None]:
    """Log a CourseError, and raise NbGraderException: the command ends without a traceback."""
    try:
        yield
    except CourseError as error:
        log.error(str(error))
        raise NbGraderException(str(error)) from error
