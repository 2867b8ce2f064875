"""Build the course's wheels: what learners install, and the grader."""

import subprocess
import sys
from pathlib import Path

from autograder.errors import CourseError
from autograder.places import PACKAGE, ROOT

LEARNERS, GRADER = ROOT, PACKAGE / "grading" / "wheel"


def build_wheel(project: Path, folder: Path) -> str:
    """Build the wheel of `LEARNERS` or `GRADER` in a folder; return its name.

    Raises CourseError.
    """
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(project)]
    before = {*folder.glob("*.whl")}
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise CourseError(f"A wheel could not be built:\n{ended.stderr.strip()}")
    [wheel] = {*folder.glob("*.whl")} - before
    return wheel.name
