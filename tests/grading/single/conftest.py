"""One sandbox for all notebooks of a test module: starting one takes most of the time."""

from collections.abc import Iterator

import pytest

from autograder.grading.single import grading
from autograder.grading.worker.own_sandbox import close_own_sandbox


@pytest.fixture(scope="module")
def shared_sandbox(sandbox: None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "close_own_sandbox", lambda: None)
        yield
    close_own_sandbox()
