"""Keep nbgrader's log to what nobody else says."""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from autograder.grading.engine.patches import GRADEBOOK_LOG

SAID_IN_SUMMARY = re.compile("^No submitted file|seconds late$|^Late submission penalty")


@contextmanager
def less_talk(log: logging.Logger) -> Iterator[None]:
    """Silence nbgrader's messages about each submission, except warnings that nobody else gives.

    Its gradebook logs an error that it raises as well, with four tracebacks.
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
    """Whether a warning of nbgrader's says more than the summary does."""
    return not SAID_IN_SUMMARY.search(record.getMessage())
