"""Decide whose each file of a system's zip is, and under which name it is collected."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path

from autograder.grading.lms.downloaded_name import DownloadedName

# Browsers and Canvas number a file that is handed in again: "lesson (1).ipynb", "lesson-1.ipynb".
COPY = re.compile(r"( ?\(\d+\)|-\d+)+$")
LITTER = {"__MACOSX", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Handed:
    """A file that was handed in. name: the system's, of the file or of a folder around it."""

    path: Path
    name: str
    about: DownloadedName
    file: str


@dataclass
class Plan:
    """What becomes of the files: those to collect by learner and name, and the others.

    nameless: files without a name that the system gave. unknown: files of people who are not known.
    twice: what learners handed in under a name that they had used already.
    """

    files: dict[tuple[str, str], Handed] = field(default_factory=dict)
    nameless: list[Path] = field(default_factory=list)
    unknown: list[Handed] = field(default_factory=list)
    twice: list[tuple[str, Handed]] = field(default_factory=list)

    @property
    def late(self) -> list[str]:
        """The learners whom the system calls late."""
        return sorted({learner for (learner, _), one in self.files.items() if one.about.late})

    @property
    def names(self) -> dict[str, list[str]]:
        """The system's names of the collected files, by learner."""
        names: dict[str, list[str]] = {}
        for (learner, _), handed in self.files.items():
            names.setdefault(learner, []).append(handed.name)
        return names


def read_handed(
    path: Path, parts: Iterable[str], read_name: Callable[[str], DownloadedName | None]
) -> Handed | None:
    """Read what the outermost name that the system gave says of a file; None if there is none.

    parts: of the path within the zip.
    """
    inside = list(dropwhile(lambda part: read_name(part) is None, parts))
    if not inside:
        return None
    about = read_name(inside[0])
    return Handed(path, inside[0], about, inside[-1] if inside[1:] else about.file)


def is_litter(parts: Sequence[str]) -> bool:
    """Whether a file is one that a system leaves in a folder, and nobody handed in."""
    return not LITTER.isdisjoint(parts) or parts[-1].startswith("._")


def make_plan(
    found: Mapping[Path, Handed | None], learners: Mapping[str, str], released: Set[str]
) -> Plan:
    """Give each file to a learner.

    found: what names say of the files. learners: by the system's number. released: the names of the
    lesson's notebooks; a numbered copy of one gets its name, unless the learner handed in the
    notebook itself as well.
    """
    plan = Plan(nameless=[path for path, handed in found.items() if handed is None])
    handed = filter(None, found.values())
    for one in sorted(handed, key=lambda one: _released_name(one.file, released) != one.file):
        learner = learners.get(one.about.person)
        if learner is None:
            plan.unknown.append(one)
            continue
        names = [_released_name(one.file, released), one.file]
        free = [name for name in names if (learner, name) not in plan.files]
        if free[:1] != names[:1]:
            plan.twice.append((learner, one))
        if free:
            plan.files[learner, free[0]] = one
    return plan


def _released_name(file: str, released: Set[str]) -> str:
    """Return the released name that a file's name is a numbered copy of; otherwise its own."""
    plain = COPY.sub("", Path(file).stem) + Path(file).suffix
    return plain if plain in released else file
