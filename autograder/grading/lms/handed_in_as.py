"""Remember under which names a system's zip had the submissions, to name feedback alike.

They are kept in `handed_in_as.csv`, next to the folder of the collected archive.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.grading.lms.export import as_csv
from autograder.grading.term.read_table import read_table

FILE = "handed_in_as.csv"
COLUMNS = ("learner", "name")


def remembered_names(folder: Path) -> dict[str, list[str]]:
    """Read the names by learner; {} if nothing was collected. Raises CourseError."""
    names: dict[str, list[str]] = {}
    for row in read_table(folder / FILE, COLUMNS):
        names.setdefault(row["learner"], []).append(row["name"])
    return names


def remember_names(folder: Path, names: Mapping[str, Iterable[str]]) -> None:
    """Keep the names of learners, instead of those that an earlier zip had for the same ones."""
    known = remembered_names(folder) | names
    rows = [(learner, name) for learner in sorted(known) for name in known[learner]]
    write_whole(folder / FILE, as_csv([COLUMNS, *rows]))
