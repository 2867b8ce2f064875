"""What every package has: wheels, what pip is to install, the grader's options and the secret."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from autograder.building.secret import own_secret
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT

FILES = Path(__file__).parent / "files"
PACKED = ROOT / "packed"
LOCK = "lock.txt"


def write_requirements(folder: Path, wheels: Iterable[str], index: str) -> None:
    """Write what pip is to install, in the versions that the course is tested with.

    wheels: as paths in the folder.
    index: a package index besides the usual one; "" for none.
    """
    shutil.copy2(ROOT / LOCK, folder)
    lines = [f"--constraint {LOCK}", *([f"--extra-index-url {index}"] if index else []), *wheels]
    _write(folder / "requirements.txt", "\n".join(lines))


def write_settings(folder: Path, options: str) -> None:
    """Write the options of `grade-on`, and the secret if there is one."""
    _write(folder / "options", options)
    if secret := own_secret():
        (folder / "secret.txt").touch(0o600)
        _write(folder / "secret.txt", secret)


def secrets_inside() -> str:
    """Say what in a package is not for learners."""
    return "The solutions and your secret are in it" if own_secret() else "The solutions are in it"


def points_of_lesson(lesson: Lesson) -> str:
    """ "19 points"."""
    return f"{sum(exercise.points for exercise in lesson.exercises)} points"


def _write(path: Path, text: str) -> None:
    path.write_text(f"{text}\n", encoding="utf-8")
