"""What takes most of the time: a sandbox for all notebooks of a module, and the wheels."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.single import grading
from autograder.grading.worker.own_sandbox import close_own_sandbox
from tests.support.wheels import GRADER, build_wheel, copy_sources, environment_with


@pytest.fixture(scope="module")
def shared_sandbox(sandbox: None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "close_own_sandbox", lambda: None)
        yield
    close_own_sandbox()


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The learners' wheel and the grader's, in one folder."""
    folder = tmp_path_factory.mktemp("wheels")
    sources = copy_sources(folder / "sources")
    return build_wheel(sources, folder), build_wheel(sources, folder, GRADER)


@pytest.fixture(scope="session")
def python(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with `attention-from-scratch[grader]`."""
    return environment_with(wheels[0], tmp_path_factory.mktemp("grader") / "env", "[grader]")
