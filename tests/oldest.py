"""Run all lessons from the wheel alone, with the oldest libraries that it allows.

python -m tests.oldest [OPTIONS FOR PIP]
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement
from tqdm import tqdm

from autograder.lessons.lesson import Lesson, lesson_names
from autograder.places import ROOT
from tests.support.wheels import (
    build_wheel,
    copy_sources,
    require_full_points,
    run,
    solved_notebook,
)


def oldest() -> list[str]:
    """Return each requirement of the wheel at its lower bound, such as "torch==2.6"."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = []
    for requirement in map(Requirement, project["dependencies"]):
        [bound] = [s.version for s in requirement.specifier if s.operator == ">="]
        found.append(f"{requirement.name}=={bound}")
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wheel = build_wheel(copy_sources(place / "sources"), place)
        venv.create(place / "environment", with_pip=True)
        python = place / "environment" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", wheel, *oldest(), *sys.argv[1:]]
        subprocess.run(install, check=True)
        print("With", *oldest())
        for lesson in tqdm(list(map(Lesson, lesson_names())), disable=None):
            require_full_points(run(solved_notebook(lesson), python, place / lesson.name), lesson)
            print(f"{lesson.name}: every check is right")


if __name__ == "__main__":
    main()
