"""Where the course's files are: in the repository, or in the grader's wheel."""

from pathlib import Path

PACKAGE = Path(__file__).parent
# Lessons lie beside the package in the repository, and inside it in the wheel.
IS_REPOSITORY = (PACKAGE.parent / "solutions").is_dir()
ROOT = PACKAGE.parent if IS_REPOSITORY else PACKAGE
