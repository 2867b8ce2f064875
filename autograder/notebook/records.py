"""A learner's progress, kept in a file that outlives the notebook's kernel.

The file is beside the lessons' folders, so that all notebooks of a course share it. If it can't be
written, the record lasts as long as the kernel.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.atomic_writes import write_whole

FILE = ".attention_progress.json"
VARIABLE = "PROGRESS_FILE"  # the path of another file; if empty, no file


@dataclass(frozen=True)
class Record:
    """What was done on one exercise.

    points: those of the last check, out of `most`; None before the first check.
    """

    points: int | None = None
    most: int = 0
    hints: int = 0
    given_up: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether its values, which come from a file, are of the right kinds."""
        numbers = (self.points or 0, self.most, self.hints)
        return all(type(number) is int for number in numbers) and type(self.given_up) is bool


_of_this_kernel: dict[str, Record] = {}


def read_records() -> dict[str, Record]:
    """Read the records of all exercises that the learner has worked on, by name."""
    return _read_file() | _of_this_kernel


def record_of(exercise: str) -> Record:
    return read_records().get(exercise, Record())


def keep_record(exercise: str, record: Record) -> None:
    """Keep the record of an exercise. Other kernels may have written other records meanwhile."""
    _of_this_kernel[exercise] = record
    with contextlib.suppress(OSError):
        if path := _path():
            tree = {name: asdict(record) for name, record in read_records().items()}
            write_whole(path, json.dumps(tree, indent=1).encode())


def _path() -> Path | None:
    chosen = os.environ.get(VARIABLE)
    if chosen is None:
        here = Path.cwd()  # of a lesson, or of the page that lists them
        return (here if (here / FILE).exists() else here.parent) / FILE
    return Path(chosen) if chosen else None


def _read_file() -> dict[str, Record]:
    try:
        path = _path()
        tree = json.loads(path.read_bytes()) if path else {}
        read = {name: Record(**facts) for name, facts in tree.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: record for name, record in read.items() if record.is_sound}
