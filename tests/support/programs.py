"""Programs that tests need and that pip does not install."""

import os
import shutil
from typing import NoReturn

import pytest

# CI sets this variable: anything missing there is an error.
NO_SKIPS = "NO_SKIPS"


def find(name: str, package: str, *folders: str) -> str:
    """Find a program, also in `folders`; if it is missing, skip the test, or fail it in CI.

    package: the Debian package that contains it.
    """
    path = shutil.which(name, path=os.pathsep.join([*folders, os.environ["PATH"]]))
    return path or missing(f"the program {name!r} is missing (Debian: apt install {package})")


def require_sandbox() -> None:
    """Skip the test if this machine can't have a sandbox, or fail it in CI."""
    from autograder.sandbox import walls  # not on Windows, where learners' tests run, too

    try:
        walls.standing().require()
    except walls.NoSandbox as error:
        missing(str(error))


def missing(reason: str) -> NoReturn:
    if os.environ.get(NO_SKIPS):
        pytest.fail(reason)
    pytest.skip(reason)
