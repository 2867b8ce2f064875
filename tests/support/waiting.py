"""Wait for something that has to happen. No test measures for how long: machines are busy."""

import time
from collections.abc import Callable

HANG = 600.0  # seconds; anything that takes longer will never happen


def wait_until(reached: Callable[[], object], what: str = "it does not come") -> None:
    """Wait until a condition holds. Raises AssertionError if it never does."""
    deadline = time.monotonic() + HANG
    while not reached():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
