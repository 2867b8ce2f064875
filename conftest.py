"""Setup and fixtures that several tests share."""

import gc
import signal
import sys
from collections.abc import Generator, Iterator
from functools import cache

import pytest
import torch
from hypothesis import HealthCheck, settings
from nbval.plugin import IPyNbCell

from autograder.lessons.lesson import Lesson, lesson_names
from tests.support import programs, real_model, surroundings, trained

LONGEST = (
    "05_square_corners.ipynb",
    "07_positions.ipynb",
    "10_tiny_language_model.ipynb",
    "11_fixed_memory.ipynb",
    "12_inside_a_real_model.ipynb",
)
FIRST = (*LONGEST, "test_references.py")

# Shells make background jobs ignore Ctrl-C, and everything that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same examples everywhere, however long a machine takes.
settings.register_profile(
    "everywhere", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("everywhere")


def pytest_configure(config: pytest.Config) -> None:
    surroundings.settle(config)


def pytest_collectstart() -> None:
    torch.manual_seed(0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: a worker that gets it last leaves the others idle."""
    items.sort(key=lambda item: (item.path.name not in FIRST, item.path.suffix != ".ipynb"))
    for item in items:
        if item.path.name in LONGEST:
            item.add_marker(pytest.mark.anywhere)
        tags = item.cell.metadata.get("tags", []) if isinstance(item, IPyNbCell) else []
        if trained.TAG in tags:
            trained.compare_roughly(item)
        if real_model.TAG in tags and (reason := real_model.missing()):
            item.add_marker(pytest.mark.skip(reason))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn garbage collection off while tests are found: what is loaded then stays loaded."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Keep tests' random draws independent of earlier tests, which differ from run to run."""
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute on one thread, as lessons do that train small models: it is faster."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def cheap_forks() -> None:
    """Move memory to huge pages: grading forks this process, and a fork then costs half as much."""
    if sys.platform == "linux":
        from autograder.sandbox.inside.huge_pages import use_huge_pages

        use_huge_pages()


@pytest.fixture(scope="session")
def sandbox() -> None:
    """Skip tests that run submissions if no sandbox is available; in CI, fail them."""
    programs.require_sandbox()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with an argument `lesson` for each lesson."""
    if "lesson" in metafunc.fixturenames:
        first, *others = lessons()
        is_enough = metafunc.definition.get_closest_marker("first_is_enough")
        marks = pytest.mark.long if is_enough else ()
        each = [first, *(pytest.param(lesson, marks=marks) for lesson in others)]
        metafunc.parametrize("lesson", each, ids=lesson_names())


@cache
def lessons() -> list[Lesson]:
    """Return all lessons, each of which reads its text once."""
    return [*map(Lesson, lesson_names())]
