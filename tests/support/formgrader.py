"""nbgrader's formgrader in a course directory for tests, as `make formgrader` starts it."""

from contextlib import AbstractContextManager
from pathlib import Path

from autograder.places import ROOT
from tests.support.lab import jupyter_lab

CONFIG = """
load_subconfig({base!r})
get_config().CourseDirectory.root = {course!r}
"""


def configure(course: Path) -> None:
    """Give a course directory the course's own settings."""
    config = CONFIG.format(base=str(ROOT / "nbgrader_config.py"), course=str(course))
    (course / "nbgrader_config.py").write_text(config, encoding="utf-8")


def formgrader_at(course: Path) -> AbstractContextManager[str]:
    """Run a Jupyter server in a course directory; yield its address."""
    return jupyter_lab(course, "--LabApp.default_url=/formgrader")
