"""Check that a library still has the parts that we patch, or use although they are private."""

import inspect
from typing import Any

from autograder.errors import CourseError


class ChangedLibrary(CourseError):
    """A library has changed since this was written."""


def expect(owner: Any, name: str, *parameters: str) -> None:
    """Raise ChangedLibrary unless `owner` has `name`, with these parameters."""
    if not hasattr(owner, name):
        raise _changed(owner, f"has no {name}")
    found = getattr(owner, name)
    if parameters and tuple(inspect.signature(found).parameters) != parameters:
        raise _changed(owner, f"has another {name}{inspect.signature(found)}")


def expect_set(owner: type, *names: str) -> None:
    """Raise ChangedLibrary unless the constructor of `owner` sets these attributes."""
    constructor: Any = owner.__init__  # type: ignore[misc]  # of the class itself
    missing = set(names) - set(constructor.__code__.co_names)
    if missing:
        raise _changed(owner, f"sets no {', '.join(sorted(missing))}")


def _changed(owner: Any, how: str) -> ChangedLibrary:
    name = f"{owner.__module__}.{owner.__name__}" if isinstance(owner, type) else owner.__name__
    return ChangedLibrary(
        f"{name} {how}: this grader was written for another version. Install the versions in "
        "lock.txt (`make lint` does)."
    )
