"""What several tests share."""

import os
import signal
import sys
from pathlib import Path

import pytest
import torch

from autograder.authoring.lesson import Lesson, lesson_names
from tests import programs

# Small tensors are fastest on one thread, and the tests run side by side.
torch.set_num_threads(1)
# nbgrader and the alembic that it calls stand beside this interpreter.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# nbval and nbgrader start kernels as this process's children.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A shell has what it runs in the background ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sandbox() -> None:
    """For tests that run submissions: skipped, or failed in CI, where no sandbox can be had."""
    programs.require_sandbox()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument `lesson` runs for each lesson."""
    if "lesson" in metafunc.fixturenames:
        names = lesson_names()
        metafunc.parametrize("lesson", [Lesson(name) for name in names], ids=names)
