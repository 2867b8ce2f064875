"""Platforms that grade by themselves, made up in a container: set up as each does it, then used."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.building.secret import SECRET_VARIABLE
from autograder.course.__main__ import main
from tests.support.container import run_in_container

ENVIRONMENT = Path("/opt/attention-grader")
SECRET = "a line of ours"
# The container has no network. Instead of what pip would install, it sees the libraries here.
OFFLINE = f"export PIP_NO_INDEX=1 PIP_NO_DEPS=1 PATH={sys.base_prefix}/bin:$PATH; "
LIBRARIES = next(path for path in sys.path if path.endswith("site-packages"))
SEE_LIBRARIES = f"; echo {LIBRARIES} > $(echo {ENVIRONMENT}/lib/*/site-packages)/libraries.pth"


@dataclass(frozen=True)
class Place:
    """A platform's folders in the container, and how it starts grading.

    home: its folder, by its place inside; `submission` is below it.
    """

    home: Path
    submission: str
    start: str
    content: Path
    environment: Path

    def grade(self, lay: Callable[[Path], object]) -> tuple[dict[str, Any], str]:
        """Lay a submission into its folder and grade it; return the results and what was said."""
        work = self.content.parent / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.content, work, symlinks=True)
        (work / self.submission).mkdir()
        lay(work / self.submission)
        ended = self.run(f"{self.start}; chmod -R a+rX {self.home}", work)
        results = (work / "results/results.json").read_text(encoding="utf-8")
        return json.loads(results), ended.stdout + ended.stderr

    def run(self, script: str, work: Path) -> subprocess.CompletedProcess[str]:
        folders = {self.home: work, ENVIRONMENT: self.environment}
        return run_in_container(["bash", "-c", script], folders)


def gradescope(folder: Path, lesson: str) -> Place:
    """Lay out /autograder as Gradescope does, and run `setup.sh`."""
    folder.chmod(0o755)
    _pack("gradescope", lesson, folder / "packed.zip", "--show", "after_due_date")
    content = folder / "content"
    _unzip(folder / "packed.zip", content / "source")
    shutil.copy2(content / "source/run_autograder", content)
    start = "/autograder/run_autograder"
    place = Place(Path("/autograder"), "submission", start, content, folder / "environment")
    return _set_up(place, "/autograder/source/setup.sh", content)


def prairielearn(folder: Path, lesson: str) -> Place:
    """Lay out /grade as PrairieLearn does, with what the Dockerfile makes."""
    folder.chmod(0o755)
    _pack("prairielearn", lesson, folder / "packed")
    content, image = folder / "content", folder / "packed/image"
    shutil.copytree(folder / "packed/questions" / lesson / "tests", content / "tests")
    start = "bash /grade/tests/grade.sh"
    place = Place(Path("/grade"), "student", start, content, folder / "environment")
    steps = re.findall(r"^RUN (.*)", (image / "Dockerfile").read_text(encoding="utf-8"), re.M)
    return _set_up(place, "; ".join(["set -e", "cd /grade", *steps]), image)


PLACES = {"gradescope": gradescope, "prairielearn": prairielearn}


def points_by_exercise(results: dict[str, Any]) -> dict[str, float]:
    """Return the points that either platform gets, by exercise."""
    earned: dict[str, float] = {}
    for test in results["tests"]:
        name = test["name"].partition(":")[0]
        earned[name] = earned.get(name, 0) + test.get("score", test.get("points"))
    return earned


def _set_up(place: Place, script: str, folder: Path) -> Place:
    place.environment.mkdir()
    ended = place.run(f"{OFFLINE} {script} {SEE_LIBRARIES}", folder)
    assert not ended.returncode, ended.stderr
    return place


def _pack(platform: str, lesson: str, to: Path, *more: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        assert main(["pack", platform, lesson, "--to", str(to), *more]) == 0


def _unzip(archive: Path, folder: Path) -> None:
    """Unpack a zip with its permissions, which Python's own function forgets."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
        for one in opened.infolist():
            (folder / one.filename).chmod(one.external_attr >> 16 & 0o777)
