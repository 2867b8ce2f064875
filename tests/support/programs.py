"""Programs that a test needs and pip does not bring."""

import os
import shutil
from typing import NoReturn

import pytest

from autograder.sandbox import walls

# CI sets it: there, what is missing is a fault.
NO_SKIPS = "NO_SKIPS"


def find(name: str, package: str, *folders: str) -> str:
    """The path of a program, also in `folders`; without it the test is skipped, or fails in CI.

    package: Debian's, which has it.
    """
    path = shutil.which(name, path=os.pathsep.join([*folders, os.environ["PATH"]]))
    return path or missing(f"the program {name!r} is missing (Debian: apt install {package})")


def require_sandbox() -> None:
    """Without a sandbox on this machine the test is skipped, or fails in CI."""
    try:
        walls.require()
    except walls.NoSandbox as error:
        missing(str(error))


def missing(reason: str) -> NoReturn:
    if os.environ.get(NO_SKIPS):
        pytest.fail(reason)
    pytest.skip(reason)
