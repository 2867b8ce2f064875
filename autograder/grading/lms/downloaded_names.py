"""The names of files in the zips that Canvas and Moodle make of the submissions to an assignment.

They say whose file it is. Only the part that the system wrote is trusted, never the file's own
name. The forms are from the systems' sources: lib/content_zipper.rb in Canvas,
mod/assign/classes/downloader.php in Moodle.

Both systems expect the same names back with feedback, so a collection keeps them in a table beside
the archive.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.grading.term.read_table import read_table
from autograder.grading.term.write_table import as_csv

KEPT_NAMES = "downloaded_names.csv"
KEPT_COLUMNS = ("learner", "name")

# lovelaceada_LATE_101_2002_lesson.ipynb: the first two numbers in a row are learner and attachment.
# A file called ".zip" leaves a folder without a name of its own.
CANVAS = re.compile(
    r"(?P<prefix>(?:.*?_)?(?P<late>LATE_)?(?P<person>[0-9]+)_(?P<attachment>[0-9]+))_(?P<file>.*)",
    re.DOTALL,
)
TEST_PERSON = "studenttest_"  # Canvas's test student
# In an anonymous assignment: anon_LATE_aB3xZ_2002_lesson.ipynb. The code is nobody's number.
ANONYMOUS = re.compile(
    r"(?P<prefix>(?:LATE_)?anon_(?:LATE_)?(?P<code>\w+?))_(?:LATE_)?(?P<attachment>[0-9]+)_.*",
    re.DOTALL,
)
# "Ada Lovelace_77_assignsubmission_file", a folder, or the beginning of a file's name. Moodle takes
# underscores out of names. Up to 4.0, another underscore ended the folder's name.
MOODLE = re.compile(
    r"(?P<prefix>[^_]*_(?P<person>[0-9]+))_assignsubmission_file(?:_(?P<file>.*))?", re.DOTALL
)


@dataclass(frozen=True)
class DownloadedName:
    """What a name says: the system's number for the learner, the prefix for feedback, and the file.

    person: "" if the system hides who it is.
    file: "" for a folder.
    attachment: Canvas's number of the file, larger for a newer one; 0 if there is none.
    is_test: whether Canvas's test student handed it in.
    """

    person: str = ""
    prefix: str = ""
    file: str = ""
    late: bool = False
    attachment: int = 0
    is_test: bool = False

    @property
    def owner(self) -> str:
        """The name in front of Moodle's number: the learner's, or the group's."""
        return self.prefix.rpartition("_")[0]


def read_canvas_name(name: str) -> DownloadedName | None:
    """Read the name of a file from Canvas; None if it has another form, as online texts do."""
    if hidden := ANONYMOUS.fullmatch(name):
        return DownloadedName(prefix=hidden["prefix"], file=name)
    found = CANVAS.fullmatch(name)
    return found and DownloadedName(
        found["person"],
        found["prefix"],
        found["file"],
        late=bool(found["late"]),
        attachment=int(found["attachment"]),
        is_test=name.startswith(TEST_PERSON),
    )


def read_moodle_name(name: str) -> DownloadedName | None:
    """Read the name of a folder or a file from Moodle; None if it has another form."""
    found = MOODLE.fullmatch(name)
    return found and DownloadedName(found["person"], found["prefix"], found["file"] or "")


def remembered_names(folder: Path) -> dict[str, list[str]]:
    """Read the names by learner; {} if nothing was collected. Raises CourseError."""
    names: dict[str, list[str]] = {}
    for row in read_table(folder / KEPT_NAMES, KEPT_COLUMNS):
        names.setdefault(row["learner"], []).append(row["name"])
    return names


def remember_names(folder: Path, names: Mapping[str, Iterable[str]]) -> None:
    """Keep learners' names, in place of those that an earlier zip had for the same learners."""
    known: dict[str, Iterable[str]] = {**remembered_names(folder), **names}
    rows = [(learner, name) for learner in sorted(known) for name in known[learner]]
    write_whole(folder / KEPT_NAMES, as_csv([KEPT_COLUMNS, *rows]))
