"""Everything imported is declared: for learners, for instructors, for developers."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement

from autograder.places import ROOT
from tests.oldest import oldest

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LEARNER = PROJECT["dependencies"]
WITH_MODEL = [*LEARNER, *EXTRAS["model"]]
INSTRUCTOR = [*LEARNER, *EXTRAS["instructor"], *EXTRAS["dask"], *EXTRAS["postgresql"]]
DEVELOPER = [*INSTRUCTOR, *EXTRAS["model"], *EXTRAS["site"], *EXTRAS["dev"]]
OWN = {"autograder", "inside", "tests"}


LOCKED = dict(
    line.split("==")
    for line in (ROOT / "lock.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)


def normal(name):
    """Normalize a distribution's name as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(path):
    """Yield the third-party top-level packages that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        yield from ({name.partition(".")[0] for name in names} - OWN - sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("patterns", "declared"),
    [
        (["utils/**/*.py", "autograder/*.py"], WITH_MODEL),
        ([f"autograder/{part}/*.py" for part in ("asking", "judging", "references")], LEARNER),
        (["autograder/[b-z]*/**/*.py", "nbgrader_config.py"], INSTRUCTOR),
        (["autograder/authoring/**/*.py", "tests/**/*.py"], DEVELOPER),
    ],
    ids=["utils and check", "asking and judging", "grading", "authoring and tests"],
)
def test_all_imports_are_declared(patterns, declared):
    named = {normal(re.split(r"[\[=<>~! ]", line)[0]) for line in declared}
    owners = packages_distributions()
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        if path.name == "setup.py":  # its pyproject.toml declares what it needs to build
            continue
        for package in imported(path):
            assert named & {normal(name) for name in owners[package]}, f"{path}: {package}"


def test_torch_is_pinned_exactly_wherever_the_course_sets_itself_up():
    [pin] = [line for line in EXTRAS["lab"] if Requirement(line).name == "torch"]
    assert pin == f"torch=={LOCKED['torch']}"
    assert any(line.startswith("attention-from-scratch[lab,") for line in EXTRAS["dev"])
    assert "-e .[lab," in (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert "-e '.[lab]'" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_oldest_versions_are_known():
    assert [line.split("==")[0] for line in oldest()] == [Requirement(r).name for r in LEARNER]


def test_the_pages_say_which_are_the_oldest():
    bounds = dict(line.split("==") for line in oldest())
    page = (ROOT / "docs/hub.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if "(`make oldest`)" in line]
    for name in ("torch", "numpy", "matplotlib", "keras", "ipython", "ipykernel"):
        assert f"| {bounds[name]}" in row, name
    page = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")
    assert f"torch {bounds['torch']} or newer" in page


def test_every_dependency_is_locked_at_an_allowed_version():
    locked = {normal(name): version for name, version in LOCKED.items()}
    for line in DEVELOPER:
        requirement = Requirement(line)
        if requirement.name != PROJECT["name"]:
            assert requirement.specifier.contains(locked[normal(requirement.name)]), line
