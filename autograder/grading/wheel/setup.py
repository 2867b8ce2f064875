"""Make the grader's wheel: what grades a notebook, with the lessons and their solutions.

It adds to the package that the learners' wheel installs, and requires that wheel in the version of
the same sources. What the sources are, and what they need, is in the repository's pyproject.toml.
"""

import sys
import tomllib
from contextlib import chdir
from os.path import relpath
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from setup import RELEASE, BuildAnew, digest_of, version, wheel_files  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# What lies beside the package in the repository lies inside it here.
LESSONS = {"autograder.solutions": "solutions", "autograder.notebooks": "notebooks"}
FOLDERS = LESSONS | {"autograder": "autograder"}
NOT_INSTALLED = ("autograder.authoring", "autograder.grading.packing")
DATA = {"": ["*.css", "*.csv", "*.jinja", "*.js", "*.json"]}
DATA |= {name: ["*.py", "[0-9]*/*"] for name in LESSONS}


def packages() -> list[str]:
    """List the packages that learners lack, except those that work in the repository only."""
    learners = PROJECT["tool"]["setuptools"]["packages"]
    there = [f"autograder.{name}" for name in find_packages(str(ROOT / "autograder"))]
    lacking = [name for name in there if name not in learners]
    return [*LESSONS, *(name for name in lacking if not name.startswith(NOT_INSTALLED))]


CONTENT = {
    "packages": packages(),
    "package_dir": {name: relpath(ROOT / folder) for name, folder in FOLDERS.items()},
    "package_data": DATA,
}
with chdir(ROOT):
    learners = version()
setup(
    version=f"{RELEASE}+c{digest_of(wheel_files(**CONTENT), learners)}",
    install_requires=[
        f"attention-from-scratch=={learners}",
        *PROJECT["project"]["optional-dependencies"]["instructor"],
    ],
    cmdclass={"build_py": BuildAnew},
    options={"build": {"build_base": relpath(ROOT / "build" / "grader")}},
    **CONTENT,
)
