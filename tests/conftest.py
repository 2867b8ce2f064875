"""What several tests share."""

import signal

import pytest
import torch
from hypothesis import HealthCheck, settings

from autograder.lessons.lesson import Lesson, lesson_names
from tests.support import programs, surroundings

# A shell has what it runs in the background ignore Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same examples everywhere, however long a machine takes over them.
settings.register_profile(
    "everywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("everywhere")


def pytest_configure(config: pytest.Config) -> None:
    surroundings.settle(config)


def pytest_collectstart() -> None:
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """No test draws what depends on those before it: which they are differs from run to run."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def sandbox() -> None:
    """For tests that run submissions: skipped, or failed in CI, where no sandbox can be had."""
    programs.require_sandbox()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the argument `lesson` runs for each lesson."""
    if "lesson" in metafunc.fixturenames:
        names = lesson_names()
        metafunc.parametrize("lesson", [Lesson(name) for name in names], ids=names)
