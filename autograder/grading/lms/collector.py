"""nbgrader's collector for the zips of submissions that Canvas and Moodle offer for download.

What differs between the two is in `canvas` and `moodle`. A zip doesn't say when something was
submitted, because both systems write the time of the download into it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from itertools import dropwhile
from pathlib import Path
from typing import Any

from nbgrader.apps import ZipCollectApp
from nbgrader.plugins import FileNameCollectorPlugin
from traitlets import Unicode

from autograder.errors import CourseError
from autograder.grading.engine.plugins import course_term
from autograder.grading.lms import groups
from autograder.grading.lms.downloaded_names import DownloadedName, remember_names
from autograder.grading.lms.extract import ExtractPlainFiles
from autograder.grading.lms.kept_times import KeptTimes
from autograder.grading.lms.whose import Handed, Plan, is_litter, make_plan, read_handed
from autograder.grading.submission.plain_files import MOST_NOTEBOOK_BYTES, NOTEBOOK
from autograder.grading.submission.read_notebook import code_of
from autograder.grading.term.learner_names import listed, printable
from autograder.grading.term.tables import Term

LATE = (
    "{system} says that these are late, but not how late, so no points come off: {learners}. Write "
    "the time into timestamp.txt in the submission's folder, or let {system} take off points"
)


class LmsCollector(FileNameCollectorPlugin):
    """Finds out whose each extracted file is, from learners.csv. Each system has a subclass."""

    system = ""
    worksheet = Unicode(help="The system's table that says who handed in when.").tag(config=True)

    def read_name(self, name: str) -> DownloadedName | None:
        """Read a name that the system gave; None if the name is not from the system."""
        raise NotImplementedError

    def learners_by_number(self) -> Mapping[str, str]:
        """Return learners by the system's number for them. Raises CourseError."""
        raise NotImplementedError

    def who_it_is(self, person: str) -> str:
        """Say what is known about the owner of an unknown number, and what to do."""
        raise NotImplementedError

    def times(self) -> Mapping[str, datetime]:
        """Return when learners handed in, in UTC, if known. Raises CourseError."""
        return {}

    def collect(self, submitted_file: str) -> dict[str, Any] | None:
        """Return learner and file name for nbgrader; None if the file should not be collected.

        Errors are logged, and end with exit status 1.
        """
        try:
            return self._answers.get(Path(submitted_file))
        except CourseError as error:
            self.log.error(str(error))
            raise SystemExit(1) from None

    @cached_property
    def term(self) -> Term:
        """The tables of the term. Raises CourseError."""
        return course_term(self.parent.coursedir)

    @cached_property
    def plan(self) -> Plan:
        """What becomes of all extracted files. Raises CourseError."""
        course = self.parent.coursedir
        learners = self.learners_by_number()
        folder = course.format_path(course.release_directory, ".", course.assignment_id)
        released = sorted(Path(folder).glob(f"*{NOTEBOOK}"))
        names = {path.name for path in released}
        given = [code_of(path.read_bytes(), MOST_NOTEBOOK_BYTES) for path in released]

        def is_blank(path: Path) -> bool:
            """Whether a notebook has no code but that of the released one."""
            code = code_of(path.read_bytes(), MOST_NOTEBOOK_BYTES)
            return any(code <= one for one in given)

        return make_plan(
            dict(self._found()), learners, names, self._unread(), self._having, is_blank
        )

    def report(self) -> list[str]:
        """Say what was not collected, and what else is worth knowing. Raises CourseError."""
        plan, system = self.plan, self.system
        nameless = [f"{path.name} doesn't have a name from {system}" for path in plan.nameless]
        others = [f"{self._shown(path)} is not a notebook" for path in plan.others]
        people = {one.about.person or one.about.prefix: one for one in plan.unknown}
        unknown = [
            f"Not collected: {one.name}, {self._who(one.about.person)}" for one in people.values()
        ]
        names = listed(one.name for one in plan.tests)
        tests = (
            [f"Left out, because {system}'s test student handed it in: {names}"] if names else []
        )
        twice = [
            f"{learner} handed in {one.file} twice, or a copy of it: {self._shown(counts.path)} "
            f"counts, {self._shown(one.path)} doesn't"
            for learner, one, counts in plan.twice
        ]
        late = [one for one in plan.late if one not in self.kept_times.times]
        untimed = [LATE.format(system=system, learners=", ".join(late))] if late else []
        without = [self._without(one, handed) for one, handed in plan.without.items()]
        kept = self.kept_times.report()
        told = [*nameless, *others, *unknown, *tests, *twice, *untimed, *kept, *sorted(without)]
        return [*told, *self._about_groups()]

    def _about_groups(self) -> Iterator[str]:
        for giver in dict.fromkeys(self._shared.values()):
            got = listed(one for one, other in self._shared.items() if other == giver)
            yield f"{giver} handed in for the group: {got} got the same"
        yield from groups.left_over(self._groups.values(), self.plan.by_learner)

    def share_with_groups(self) -> None:
        """Give the members of groups what one of them handed in. Raises OSError."""
        for learner, giver in self._shared.items():
            groups.copy(self._folder(giver), self._folder(learner))

    @cached_property
    def _shared(self) -> Mapping[str, str]:
        return groups.shared(self._groups.values(), self.plan.by_learner)

    @cached_property
    def _groups(self) -> Mapping[str, list[str]]:
        """The members of each group, by its name in small letters."""
        return groups.members(self.term.learners.values())

    def left_out(self) -> list[str]:
        """Say what in the zip was not extracted, and why."""
        return [f"{self._inside(path)} {why}" for path, why in self._left_out.items()]

    @cached_property
    def kept_times(self) -> KeptTimes:
        """What becomes of the times of the learners who are collected. Raises CourseError."""
        told, kept = self.times(), KeptTimes()
        for learner, files in self.plan.by_learner.items():
            now = {name: one.path.read_bytes() for name, one in files.items()}
            kept.add(learner, self._folder(learner), now, told.get(learner))
        return kept

    @cached_property
    def _answers(self) -> dict[Path, dict[str, Any]]:
        """The answers to all of nbgrader's questions, which it asks file by file."""
        self._require_room()
        for line in self.report():
            self.log.warning(printable(line))
        for learner in self.plan.without:  # even if none of it can be read: grading reports that
            self._folder(learner).mkdir(parents=True, exist_ok=True)
        archive = download_folder(self.parent, self.parent.archive_directory)
        remember_names(archive.parent, self.plan.names)
        times = self.kept_times.times
        return {
            handed.path: {"student_id": learner, "file_id": file}
            | ({"timestamp": times[learner]} if learner in times else {})
            for (learner, file), handed in self.plan.files.items()
        }

    def _require_room(self) -> None:
        """Raise CourseError if collecting would replace what was put into folders by hand."""
        learners = {*self.plan.by_learner, *self._shared}
        filled = [one for one in learners if any(self._folder(one).glob("*"))]
        if filled and not self.parent.force:
            raise CourseError(
                "Nothing was collected, because these learners have files in "
                f"{self.parent.coursedir.submitted_directory}/ already: {listed(filled)}. FORCE=1 "
                "(--force) replaces them."
            )

    def _found(self) -> Iterator[tuple[Path, Handed | None]]:
        """Yield the extracted files, and what their names say."""
        for path in sorted(self._extracted.rglob("*")):
            parts = self._shown(path).parts
            if path.is_file() and not is_litter(parts):
                yield path, read_handed(path, parts, self.read_name, self._own_parts(path))

    def _own_parts(self, path: Path) -> int:
        """Return how many parts of a file's path are from a learner's own zip."""
        place = path.relative_to(self._extracted)
        folder = next((one for one in place.parents if one in self._own_zips), place)
        return len(place.parts) - len(folder.parts)

    def _unread(self) -> Iterator[Handed]:
        """Yield what was not extracted, but has a name that the system gave."""
        for path in self._left_out:
            if one := read_handed(path, self._inside(path).parts, self.read_name):
                yield one

    @property
    def _having(self) -> set[str]:
        """The learners who have a notebook from before."""
        learners = self.learners_by_number().values()
        return {one for one in learners if any(self._folder(one).glob(f"*{NOTEBOOK}"))}

    def _folder(self, learner: str) -> Path:
        """Return the folder for a learner's submission."""
        course = self.parent.coursedir
        return Path(course.format_path(course.submitted_directory, learner, course.assignment_id))

    @property
    def _extracted(self) -> Path:
        return download_folder(self.parent, self.parent.extracted_directory)

    def _shown(self, path: Path) -> Path:
        """Return an extracted file's path within its zip."""
        return self._inside(path.relative_to(self._extracted))

    @property
    def _left_out(self) -> Mapping[Path, str]:
        """What was not extracted, with the reason."""
        extractor = self.parent.extractor_plugin_inst
        return extractor.left_out if isinstance(extractor, ExtractPlainFiles) else {}

    @property
    def _own_zips(self) -> Set[Path]:
        """The folders that learners' own zips were extracted into."""
        extractor = self.parent.extractor_plugin_inst
        return extractor.own_zips if isinstance(extractor, ExtractPlainFiles) else frozenset()

    def _inside(self, path: Path) -> Path:
        """Return an extracted file's path within its zip, which has a folder of its own."""
        folders = dropwhile(self._zip_names.__contains__, path.parent.parts)
        return Path(*folders, path.name)

    @cached_property
    def _zip_names(self) -> set[str]:
        archive = download_folder(self.parent, self.parent.archive_directory)
        kinds = self.parent.extractor_plugin_inst.zip_ext
        found = (path for path in archive.rglob("*") if path.suffix in kinds)
        return {path.stem.removesuffix(".tar") for path in found}

    def _who(self, person: str) -> str:
        if not person:
            return f"because {self.system} hides whose it is: show names there, and download again"
        return self.who_it_is(person)

    def _without(self, learner: str, handed: Sequence[Handed]) -> str:
        files = listed(one.file for one in handed)
        then = "the one from before stays" if learner in self.plan.having else "there is no grade"
        return f"{learner} handed in {files}, but not a notebook that can be read, so {then}"


def download_folder(app: ZipCollectApp, step: str) -> Path:
    """Return the folder of a step of nbgrader's collection, for the app's assignment."""
    folder = app.collect_directory_structure.format(
        downloaded=app.downloaded_directory,
        assignment_id=app.coursedir.assignment_id,
        collect_step=step,
    )
    return Path(app.coursedir.root, folder)
