"""What is packed, set up in a container as each platform does it, and notebooks graded there."""

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
from tests.support.classroom import LESSON
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


def pack(platform: str, to: Path, *more: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        assert main(["pack", platform, LESSON.name, "--to", str(to), *more]) == 0


@pytest.fixture(scope="session")
def gradescope(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """/autograder as Gradescope lays it out, after `setup.sh`."""
    folder = tmp_path_factory.mktemp("gradescope")
    folder.chmod(0o755)
    pack("gradescope", folder / "packed.zip", "--show", "after_due_date")
    content, environment = folder / "content", folder / "environment"
    unzip(folder / "packed.zip", content / "source")
    shutil.copy2(content / "source/run_autograder", content)
    environment.mkdir()
    place = Place(
        Path("/autograder"), "submission", "/autograder/run_autograder", content, environment
    )
    ended = place.run(f"{OFFLINE} /autograder/source/setup.sh {SEE_LIBRARIES}", content)
    assert not ended.returncode, ended.stderr
    return place


@pytest.fixture(scope="session")
def prairielearn(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """/grade as PrairieLearn lays it out, in the image that the Dockerfile makes."""
    folder = tmp_path_factory.mktemp("prairielearn")
    folder.chmod(0o755)
    pack("prairielearn", folder / "packed")
    content, environment = folder / "content", folder / "environment"
    shutil.copytree(folder / "packed/questions" / LESSON.name / "tests", content / "tests")
    environment.mkdir()
    place = Place(Path("/grade"), "student", "bash /grade/tests/grade.sh", content, environment)
    image = folder / "packed/image"
    steps = re.findall(r"^RUN (.*)", (image / "Dockerfile").read_text(encoding="utf-8"), re.M)
    build = "set -e; cd /grade; " + "; ".join(steps)
    ended = place.run(f"{OFFLINE} {build} {SEE_LIBRARIES}", image)
    assert not ended.returncode, ended.stderr
    return place


def unzip(archive: Path, folder: Path) -> None:
    """Unpack a zip with its permissions, which Python's own function forgets."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
        for one in opened.infolist():
            (folder / one.filename).chmod(one.external_attr >> 16 & 0o777)
