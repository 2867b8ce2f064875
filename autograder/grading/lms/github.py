"""GitHub: collect from the clones of learners' repositories, as GitHub Classroom names them.

`gh classroom clone student-repos` makes a folder `lesson-1-submissions`, with a clone
`lesson-1-octocat` for the user octocat. The last commit says when something was handed in.
"""

import stat
import subprocess
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.lms.collector import LmsCollector
from autograder.grading.lms.downloaded_names import DownloadedName
from autograder.grading.submission.plain_files import MOST_NOTEBOOK_BYTES, NOTEBOOK
from autograder.grading.term.dates import read_date

SUBMISSIONS = "-submissions"


class GithubCollector(LmsCollector):
    """Collects from `zip_of_clones`. `worksheet` is the folder of clones."""

    system = "GitHub"

    def read_name(self, name: str) -> DownloadedName | None:
        return DownloadedName(name, prefix=name)

    def learners_by_number(self) -> Mapping[str, str]:
        people = self.term.learners.values()
        return {one.github.casefold(): one.learner for one in people if one.github}

    def times(self) -> Mapping[str, datetime]:
        learners, found = self.learners_by_number(), clones_in(Path(self.worksheet))
        times = {learners[user]: committed(found[user]) for user in found if user in learners}
        return {learner: time for learner, time in times.items() if time}

    def who_it_is(self, person: str) -> str:
        return (
            f"because nobody in learners.csv has github {person}: enter it in the learner's row, "
            f"and leave the folder's name as gh classroom made it, such as lesson-1{SUBMISSIONS}"
        )


def zip_of_clones(folder: Path) -> bytes:
    """Put what is in clones into a zip, in a folder for each user. Raises CourseError."""
    found, content = clones_in(folder), BytesIO()
    if not found:
        raise CourseError(f"There are no clones in {folder}: name the folder that has them.")
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for user, clone in found.items():
            for path in _handed_in(clone):
                _add(file, f"{user}/{path.name}", path)
    return content.getvalue()


def clones_in(folder: Path) -> dict[str, Path]:
    """Return the clones by user, in small letters, because GitHub takes them for the same."""
    slug = folder.resolve().name.removesuffix(SUBMISSIONS)
    clones = [path for path in sorted(folder.iterdir()) if (path / ".git").exists()]
    return {path.name.removeprefix(f"{slug}-").casefold(): path for path in clones}


def committed(clone: Path) -> datetime | None:
    """Return when the last commit was made, in UTC, as its author says; None if unknown.

    Raises CourseError without git.
    """
    command = ["git", f"--git-dir={clone / '.git'}", "log", "-1", "--format=%cI"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise CourseError("git tells when something was handed in: install it first.") from None
    with suppress(ValueError):  # anybody can write anything there
        return read_date(ended.stdout.strip())
    return None


def _handed_in(clone: Path) -> Iterator[Path]:
    """Yield the notebooks at the top of a clone; all files there if there are none."""
    files = [path for path in sorted(clone.iterdir()) if path.is_symlink() or path.is_file()]
    notebooks = [path for path in files if path.suffix == NOTEBOOK]
    yield from notebooks or files


def _add(file: zipfile.ZipFile, name: str, path: Path) -> None:
    """Add a file, or as much as shows that it is too large. A link stays one, and is not read."""
    info = zipfile.ZipInfo(name)
    info.external_attr = path.lstat().st_mode << 16
    data = b""
    if not stat.S_ISLNK(path.lstat().st_mode):
        with path.open("rb") as stream:
            data = stream.read(MOST_NOTEBOOK_BYTES + 1)
    file.writestr(info, data, zipfile.ZIP_DEFLATED)
