"""Errors of the course, as nbgrader's commands end with them."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from logging import Logger

from nbgrader.converters.base import NbGraderException

from autograder.errors import CourseError
from autograder.grading.term.learner_names import printable


@contextmanager
def sentences(log: Logger) -> Iterator[None]:
    """Log a CourseError, and raise NbGraderException: the command ends without a traceback."""
    try:
        yield
    except CourseError as error:
        log.error(str(error))
        raise NbGraderException(str(error)) from error


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return a question with the known names that are like a wrong one; "" if there are none."""
    alike = [one for one in sorted(known) if one.startswith(name)][:3]
    alike = alike or get_close_matches(name, known, n=1)
    return f" Did you mean {' or '.join(map(printable, alike))}?" if alike else ""
