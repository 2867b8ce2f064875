"""Collect from nbgrader's exchange without following what a learner put there.

nbgrader copies a submitted folder with `shutil.copytree`, which follows links: a link to the
gradebook, or to another learner's notebook, is collected as the file itself. Here only plain files
are collected, and a submission that can't be collected doesn't affect anyone else's.
"""

import os
import pwd
import stat
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect

from autograder.atomic_writes import draft_of
from autograder.grading.gradebook.opening import NoGradebook, reading
from autograder.grading.gradebook.released import due_date
from autograder.grading.submission.folder import TIMESTAMP
from autograder.grading.submission.plain_files import read_below, write_below
from autograder.grading.term.dates import read_date
from autograder.grading.term.learner_names import is_learner_name, listed, printable

WHOLE_AFTER = 60.0  # seconds
GROUP_FOLDER, GROUP_FILE = 0o2770, 0o660  # permissions in a course that a group shares


@dataclass(frozen=True)
class InboundFolder:
    """A folder that a learner submitted.

    time: as written in the folder's name.
    when: the same time, in UTC.
    """

    path: Path
    learner: str
    time: str
    when: datetime

    @property
    def owner(self) -> str:
        """The account that made it; "" if unknown."""
        with suppress(OSError, KeyError):
            return pwd.getpwuid(self.path.lstat().st_uid).pw_name
        return ""


class CollectPlainFiles(ExchangeCollect):
    """nbgrader's ExchangeCollect with its options, for plain files alone."""

    def init_src(self) -> None:
        """Find the submission of each learner that counts. Raises ExchangeError."""
        if not self.coursedir.course_id:
            self.fail("The course has no id: set c.CourseDirectory.course_id.")
        inbound = Path(self.root, self.coursedir.course_id, "inbound")
        if not os.access(inbound, os.R_OK | os.X_OK):
            self.fail(f"There is no course that can be collected from: {inbound}")
        by_learner = defaultdict(list)
        for one in self._inbound(inbound):
            by_learner[one.learner].append(one)
        due = self._due() if self.before_duedate else None
        self.src_records = [self._counting(found, due) for found in by_learner.values()]

    def copy_files(self) -> None:
        """Collect what is new. Raises ExchangeError at the end if something can't be collected."""
        lesson, failed = self.coursedir.assignment_id, []
        if not self.src_records:
            self.log.warning("Nobody has handed in %s to %s", lesson, self.coursedir.course_id)
        for one in self.src_records:
            try:
                self._collect(one)
            except OSError as error:
                failed.append(f"{one.learner} ({error})")
        if failed:
            self.fail(f"Not collected: {listed(map(printable, failed))}")

    def _inbound(self, inbound: Path) -> list[InboundFolder]:
        """List the wanted submissions, and warn about folders that nbgrader would never name so."""
        found, strange = [], []
        wanted = self.coursedir.student_id or "*"
        for path in sorted(inbound.iterdir()):
            learner, middle, rest = path.name.partition(f"+{self.coursedir.assignment_id}+")
            if middle and fnmatchcase(learner, wanted):
                one = _read_name(path, learner, rest)
                found += [one] if one and not _is_being_copied(path) else []
                strange += [] if one else [printable(path.name)]
        if strange:
            told = listed(strange)
            self.log.warning("Left out, because nbgrader doesn't give such names: %s", told)
        return found

    def _due(self) -> datetime | None:
        with suppress(NoGradebook), reading(self.coursedir.db_url) as gradebook:
            return due_date(gradebook, self.coursedir.assignment_id)
        return None

    def _counting(self, found: Sequence[InboundFolder], due: datetime | None) -> InboundFolder:
        """Return the last submission before the due date, or else the last one."""
        found = sorted(self._own(found), key=lambda one: one.when)
        in_time = [one for one in found if due and one.when <= due]
        return (in_time or found)[-1]

    def _own(self, found: Sequence[InboundFolder]) -> Sequence[InboundFolder]:
        """Leave out what others submitted in a learner's name, if the learner also submitted."""
        others = [one for one in found if one.owner != one.learner] if self.check_owner else []
        own = [one for one in found if one not in others]
        for one in others:
            self.log.warning(
                "%s was submitted by %s%s. If that isn't cheating, switch this check off: "
                "c.ExchangeCollect.check_owner = False",
                printable(one.path.name),
                one.owner or "an unknown account",
                ", and does not count" if own else "",
            )
        return own or found

    def _collect(self, one: InboundFolder) -> None:
        """Collect a submission, unless it is there already. Raises OSError."""
        course = self.coursedir
        step, lesson = course.submitted_directory, course.assignment_id
        place = Path(course.format_path(step, one.learner, lesson))
        if place.is_dir() and not self._replaces(one, place):
            why = "there is nothing newer" if self.update else "--update takes what is newer"
            self.log.info("Collected before from %s: %s (%s)", one.learner, lesson, why)
            return
        found = read_below(one.path)
        files = {name: found.files[name] for name in found.files if self._is_wanted(name)}
        with draft_of(place, keep_others=False) as draft:
            write_below(draft, files | {TIMESTAMP: one.time.encode()})
            if course.groupshared:
                _share(draft)
        self.log.info("Collected from %s: %s", one.learner, lesson)
        if found.left_out:
            told = listed(map(printable, found.left_out))
            self.log.warning("Left out of what %s handed in: %s", one.learner, told)

    def _replaces(self, one: InboundFolder, place: Path) -> bool:
        """Whether a submission replaces the one that was collected before."""
        there = self.coursedir.get_existing_timestamp(str(place))
        newer = self.update and (there is None or one.when > there)
        return newer or (self.before_duedate and one.when != there)

    def _is_wanted(self, name: str) -> bool:
        course, parts = self.coursedir, Path(name).parts
        ignored = any(fnmatchcase(part, pattern) for part in parts for pattern in course.ignore)
        return not ignored and any(fnmatchcase(parts[-1], one) for one in course.include)


def _is_being_copied(path: Path) -> bool:
    """Whether nbgrader may still be copying into a folder: the time comes after the notebook."""
    about = path.lstat()
    is_new = datetime.now().timestamp() - about.st_mtime < WHOLE_AFTER
    return is_new and stat.S_ISDIR(about.st_mode) and not os.path.lexists(path / TIMESTAMP)


def _read_name(path: Path, learner: str, rest: str) -> InboundFolder | None:
    """Read the time in the rest of a folder's name. It may end with a + and random text."""
    if not is_learner_name(learner):
        return None
    for time in (rest, rest.rpartition("+")[0]):
        with suppress(ValueError):
            return InboundFolder(path, learner, time, read_date(time))
    return None


def _share(folder: Path) -> None:
    """Let the course's group read and write what is in a folder. Raises OSError."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & 0o777 | (GROUP_FOLDER if path.is_dir() else GROUP_FILE))
