"""Decide whose file each one in a system's zip is, and under which name it is collected."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.lms.downloaded_names import DownloadedName
from autograder.grading.submission.folder import TIMESTAMP
from autograder.grading.submission.plain_files import NOTEBOOK

# Browsers and Canvas number a file that is handed in again: "lesson (1).ipynb", "lesson-1.ipynb".
COPY = re.compile(r"( ?\(\d+\)|-\d+)+$")
LITTER = {"__MACOSX", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Handed:
    """A file that a learner submitted.

    name: the system's, of the file or of a folder around it.
    about: what that name says.
    file: the learner's own name of the file.
    """

    path: Path
    name: str
    about: DownloadedName
    file: str


@dataclass
class Plan:
    """What becomes of the files: those to collect by learner and name, and the others.

    A learner's notebooks are collected, or else the other files, so that grading can name them.

    files: what to collect, by learner and file name.
    nameless: notebooks whose name is not from the system.
    others: files other than notebooks that are not collected.
    unknown: files of unknown people.
    tests: files of the system's test student, who is not in learners.csv.
    twice: files that learners submitted under a name that they had already used, and the one that
        counts.
    without: what learners submitted instead of a readable notebook.
    having: learners who have a notebook from before, which no other file replaces.
    """

    files: dict[tuple[str, str], Handed] = field(default_factory=dict)
    nameless: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unknown: list[Handed] = field(default_factory=list)
    tests: list[Handed] = field(default_factory=list)
    twice: list[tuple[str, Handed, Handed]] = field(default_factory=list)
    without: dict[str, list[Handed]] = field(default_factory=dict)
    having: Set[str] = frozenset()

    @property
    def by_learner(self) -> dict[str, dict[str, Handed]]:
        """The files to collect by name, for each learner."""
        found: dict[str, dict[str, Handed]] = {}
        for (learner, file), one in self.files.items():
            found.setdefault(learner, {})[file] = one
        return found

    @property
    def late(self) -> list[str]:
        """The learners whom the system calls late."""
        return sorted({learner for (learner, _), one in self.files.items() if one.about.late})

    @property
    def names(self) -> dict[str, list[str]]:
        """The system's names for what was handed in, by learner."""
        collected = {who: [*files.values()] for who, files in self.by_learner.items()}
        found = self.without | collected
        return {who: [one.name for one in handed] for who, handed in found.items()}

    def add(self, learner: str, one: Handed, name: str) -> None:
        """Collect a file under a name, or else under its own, unless both are taken."""
        free = [each for each in (name, one.file) if (learner, each) not in self.files]
        if free[:1] != [name]:
            self.twice.append((learner, one, self.files[learner, name]))
        if free:
            self.files[learner, free[0]] = one


def read_handed(
    path: Path,
    parts: Sequence[str],
    read_name: Callable[[str], DownloadedName | None],
    inside: int = 0,
) -> Handed | None:
    """Read what the outermost name from the system says about a file; None if there is none.

    parts: of the path within the zip.
    inside: how many of them, at the end, the learner chose, because they are in a zip of the
        learner's own. They say nothing about whose it is.
    """
    for place, name in enumerate(parts[: len(parts) - inside]):
        if about := read_name(name):
            own = parts[-1] if parts[place + 1 :] else about.file or name
            return Handed(path, name, about, own)
    return None


def is_litter(parts: Sequence[str]) -> bool:
    """Whether a file is one that an operating system leaves in a folder, and nobody handed in."""
    return not LITTER.isdisjoint(parts) or parts[-1].startswith("._")


def make_plan(
    found: Mapping[Path, Handed | None],
    learners: Mapping[str, str],
    released: Set[str],
    unread: Iterable[Handed] = (),
    having: Set[str] = frozenset(),
    is_blank: Callable[[Path], bool] = lambda path: False,
) -> Plan:
    """Give each file to a learner.

    Of several notebooks for one name, one with answers counts before one without, then the newest.

    found: what the names say about the files.
    learners: by the system's number.
    released: the names of the lesson's notebooks. A numbered copy of one gets its name, unless the
        learner submitted the notebook itself as well.
    is_blank: whether a notebook is as it was handed out.
    unread: what can't be read.
    having: as in `Plan`.
    """
    unnamed = [path for path, one in found.items() if one is None]
    plan = Plan(
        nameless=[path for path in unnamed if _is_notebook(path)],
        others=[path for path in unnamed if not _is_notebook(path)],
        having=having,
    )
    handed, unread = list(filter(None, found.values())), list(unread)
    strangers = [one for one in handed + unread if one.about.person not in learners]
    plan.unknown = [one for one in strangers if not one.about.is_test]
    plan.tests = [one for one in strangers if one.about.is_test]
    known = [(learners[one.about.person], one) for one in handed if one not in strangers]
    notebooks = [pair for pair in known if _is_notebook(pair[1].path)]

    names = Counter((who, _released_name(one.file, released)) for who, one in notebooks)

    def rank(pair: tuple[str, Handed]) -> tuple[bool, int, bool]:
        who, one = pair
        several = names[who, _released_name(one.file, released)] > 1
        return several and is_blank(one.path), -one.about.attachment, _is_copy(one.file, released)

    for learner, one in sorted(notebooks, key=rank):
        plan.add(learner, one, _released_name(one.file, released))
    instead = [pair for pair in known if pair not in notebooks]
    left = [(learners[one.about.person], one) for one in unread if one not in strangers]
    _add_others(plan, instead, left)
    return plan


def _add_others(
    plan: Plan,
    instead: Iterable[tuple[str, Handed]],
    unread: Iterable[tuple[str, Handed]],
) -> None:
    """Add what learners without a notebook handed in."""
    done = set(plan.by_learner)
    for learner, one in instead:
        if learner in done or one.file == TIMESTAMP:
            plan.others.append(one.path)
        elif learner not in plan.having:
            plan.add(learner, one, one.file)
    for learner, one in (*instead, *unread):
        if learner not in done:
            plan.without.setdefault(learner, []).append(one)


def _is_notebook(path: Path) -> bool:
    return path.suffix == NOTEBOOK


def _is_copy(file: str, released: Set[str]) -> bool:
    return _released_name(file, released) != file


def _released_name(file: str, released: Set[str]) -> str:
    """Return the released name that a file's name is a numbered copy of; otherwise its own."""
    plain = COPY.sub("", Path(file).stem) + Path(file).suffix
    return plain if plain in released else file
