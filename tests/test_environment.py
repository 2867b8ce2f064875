"""`make` sets up its environment with a Python that the course can use, or none."""

import re
import shutil
import subprocess
import sys

import pytest
from packaging.specifiers import SpecifierSet

from autograder.places import ROOT
from tests.test_dependencies import PROJECT

OLD = "exit 1"
# A Python that fits, but makes empty environments: complete ones take seconds.
NEW = f"""
[ "$1" = -m ] || exec "{sys.executable}" "$@"
rm -rf "$4"; mkdir -p "$4/bin"
ln -s "{sys.executable}" "$4/bin/python"
echo new > "$4/pyvenv.cfg"
"""


@pytest.fixture
def clone(tmp_path):
    for name in ("Makefile", "pyproject.toml", "lock.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def python(path, code):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{code}\n", encoding="utf-8")
    path.chmod(0o755)


def make(clone, code):
    """Set up a learner's environment with this Python, but without the packages."""
    python(clone / "python", code)
    command = ["make", ".venv/learner", f"PYTHON={clone}/python", "INSTALL=echo install"]
    return subprocess.run(command, cwd=clone, capture_output=True, encoding="utf-8")


def test_a_python_that_does_not_fit_makes_nothing(clone):
    done = make(clone, OLD)
    assert done.returncode != 0
    assert "needs Python 3.11" in done.stdout
    assert not (clone / ".venv").exists()


def test_an_environment_that_does_not_fit_is_made_anew(clone):
    python(clone / ".venv/bin/python", OLD)
    for name in ("pyvenv.cfg", "learner"):
        (clone / ".venv" / name).touch()
    assert "install" in make(clone, NEW).stdout
    assert (clone / ".venv/pyvenv.cfg").read_text(encoding="utf-8") == "new\n"
    assert (clone / ".venv/learner").exists()


def test_one_that_fits_is_left_alone(clone):
    assert "install" in make(clone, NEW).stdout
    done = make(clone, OLD)
    assert (done.returncode, done.stdout) == (0, "")
    assert (clone / ".venv/learner").exists()


def test_the_makefile_knows_what_fits():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [fits] = re.findall(r"^FITS = (.*)$", makefile, re.MULTILINE)
    lower, upper = (int(minor) for minor in re.findall(r"\(3, (\d+)\)", fits))
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert [f"3.{minor}" in allowed for minor in range(30)] == [
        lower <= minor < upper for minor in range(30)
    ]


@pytest.mark.parametrize("given", ["1", "01", "01_dot_product_attention"])
def test_a_lessons_number_is_enough(given):
    said = subprocess.run(
        ["make", "--dry-run", "mutants", f"LESSON={given}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip().endswith("mutants 01_dot_product_attention")


@pytest.mark.parametrize("name", ["quick.txt", "learner.txt"])
def test_what_a_list_of_tests_names_is_there(name):
    lines = (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines()
    named = [line.rpartition("=")[2] for line in lines if "=" in line or not line.startswith("-")]
    assert [one for one in named if not is_there(*one.split("::"))] == []


def is_there(path, *test):
    path = ROOT / path
    return path.exists() and all(
        f"def {name}(" in path.read_text(encoding="utf-8") for name in test
    )
