"""What nbgrader's commands say: our errors as sentences, and nothing that repeats our summary."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nbgrader.converters.base import NbGraderException

from autograder.errors import CourseError
from autograder.grading.engine.disk import disk_trouble
from autograder.grading.term.learner_names import printable_lines

GRADEBOOK_LOG = logging.getLogger("tornado.application")  # of nbgrader's gradebook
CONNECTION_LOG = logging.getLogger("sqlalchemy.pool")  # traces a Ctrl-C while a connection closes
# Where nbgrader warns of what our summary says as well: the file, and the function in it.
SAID_IN_SUMMARY = {("autograde.py", "init_assignment"), ("latesubmissions.py", "preprocess")}
NO_GROUPS = (
    "The grader can't make control groups here, so it checks ten times a second what a submission "
    "uses. What that leaves open is in docs/security.md, under What holds where."
)


class Printable(logging.Filter):
    """Replaces the control characters in what a message quotes, such as the name of a file."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = printable_lines(record.getMessage()), ()
        return True


@contextmanager
def errors_as_sentences(log: logging.Logger) -> Iterator[None]:
    """Log a CourseError or trouble with the disk, and raise NbGraderException: no traceback."""
    try:
        yield
    except (CourseError, OSError) as error:
        told = disk_trouble(error) if isinstance(error, OSError) else str(error)
        if not told:
            raise
        log.error(told)
        raise NbGraderException(told) from error


@contextmanager
def quiet(log: logging.Logger) -> Iterator[None]:
    """Silence nbgrader's messages about each submission, except warnings that we don't repeat.

    Its gradebook logs every error that it raises as well, with four tracebacks.
    """
    with at_levels({log: logging.WARNING, GRADEBOOK_LOG: logging.CRITICAL}):
        log.addFilter(_is_news)
        try:
            yield
        finally:
            log.removeFilter(_is_news)


@contextmanager
def at_levels(levels: Mapping[logging.Logger, int]) -> Iterator[None]:
    """Give loggers these levels for a while."""
    before = {logger: logger.level for logger in levels}
    try:
        for logger, level in levels.items():
            logger.setLevel(level)
        yield
    finally:
        for logger, level in before.items():
            logger.setLevel(level)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a warning from nbgrader says more than our summary does."""
    return (record.filename, record.funcName) not in SAID_IN_SUMMARY
