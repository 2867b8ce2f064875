"""The submissions in a course directory: which are due, and one run at a time that grades them."""

import fcntl
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbgrader.converters.base import BaseConverter

from autograder.errors import CourseError
from autograder.grading.engine import patches
from autograder.grading.engine.changes import changed_points
from autograder.grading.engine.jobs import JobMaker
from autograder.grading.engine.provenance import Reason, Why, in_words, settled_cells, why_again
from autograder.grading.engine.summary import Summary
from autograder.grading.gradebook.grades import Grade
from autograder.grading.gradebook.lesson_grades import read_grade, submitted_grades
from autograder.grading.gradebook.opening import open_gradebook
from autograder.grading.submission.folder import files_beside, submitted_at
from autograder.grading.submission.plain_files import write_below
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term.learner_names import why_no_name
from autograder.grading.term.tables import Term, due_for, late_penalty, terms_of
from autograder.grading.worker.job import RUN, Graded, Outcome, earlier_run

GONE_WITH_IT = (
    "If the gradebook was lost, the points and comments given by hand are gone with it. A backup "
    "would bring them back."
)


class CopyPlainFiles(BaseConverter):
    """Copies the ordinary files beside a submitted notebook.

    None of them can replace what the engine keeps about a run.
    """

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        beside = files_beside(Path(self.source_path(assignment_id, student_id)))
        wanted = {name: beside[name] for name in beside if not self._is_ignored(name)}
        write_below(Path(self.result_path(assignment_id, student_id)), wanted)

    def _is_ignored(self, name: str) -> bool:
        parts = Path(name).parts
        return parts[0].endswith(RUN) or any(
            fnmatch(part, pattern) for part in parts for pattern in self.coursedir.ignore
        )


class DueSubmissions(patches.OpenAutograde, CopyPlainFiles):
    """nbgrader's Autograde, which knows the folders of submissions and when each is due."""

    def submitted_folders(self) -> list[str]:
        """List the submitted folders, including hidden ones and those that don't name a learner."""
        lesson, learner = self.coursedir.assignment_id, self.coursedir.student_id
        patterns = [learner, ".*"] if learner == "*" else [learner]
        found = (
            folder for one in patterns for folder in patches.find(self.source_path(lesson, one))
        )
        return [folder for folder in found if os.path.isdir(folder)]

    def refused_names(self) -> dict[str, str]:
        """Return the reason for each folder whose name can't be a learner's."""
        names = map(self.student_of, self.submitted_folders())
        return {name: why for name in names if (why := why_no_name(name))}

    def list_due(self, maker: JobMaker, summary: Summary) -> list[str]:
        """List the folders that are due; log why those graded before are due again."""
        due: list[str] = []
        again: Counter[Why] = Counter()
        self._before: dict[str, Any] = {}
        with open_gradebook(self.coursedir) as gradebook:
            grades = submitted_grades(gradebook, self.coursedir.assignment_id)
        waiting = {learner for learner, grade in grades.items() if grade.waiting}
        known = {learner for learner, grade in grades.items() if grade.cells}
        for folder in sorted(self.assignments):
            runs = self._earlier_runs(folder)
            self._before |= zip(self.assignments[folder], runs, strict=True)
            why = self._why_due(folder, runs, maker, self.student_of(folder) in known)
            if why:
                due.append(folder)
                again[why] += None not in runs
            else:
                learner = self.student_of(folder)
                summary.leave(learner, _why_not_graded(runs) if learner in waiting else "")
        for why, count in (+again).items():
            self.log.info("%s to grade again: %s", count, in_words(why))
        if again[(Reason.LOST,)]:
            self.log.warning(GONE_WITH_IT)
        return due

    @property
    def graded_before(self) -> bool:
        """Whether an earlier run graded any of the submissions, so that its notices were seen."""
        return any(self._before.values())

    def run_before(self, graded: Graded) -> dict[str, Any]:
        """Return the facts about the earlier run that graded this notebook; {} if none did."""
        return self._before[graded.path] or {}

    def _why_due(
        self, folder: str, runs: list[dict[str, Any] | None], maker: JobMaker, known: bool
    ) -> Why:
        """Return why a submission is due; () if it is not.

        known: whether the gradebook has a grade for it.
        """
        learner = self.student_of(folder)
        if learner in self.coursedir.student_id_exclude.split(","):
            return ()
        made = [run for run in runs if run is not None]
        if len(made) < len(runs):
            return (Reason.NEW,)
        if not known:
            return (Reason.LOST,)
        if self.force:
            return (Reason.FORCED,)
        pairs = zip(made, self.assignments[folder], strict=True)
        reasons = (why_again(run, maker.job(Path(path), learner)) for run, path in pairs)
        return next(filter(None, reasons), ())

    def would_change(self, folder: str, graded: Collection[Graded], term: Term) -> str:
        """Say which points of a submission would change in the gradebook; "" if none."""
        same = {name for one in graded for name in settled_cells(self.run_before(one), one)}
        learner = self.student_of(folder)
        given = term.adjustments_for(self.coursedir.assignment_id, learner)
        late = self._late_rule(folder, term)
        return changed_points(self.grade_of(learner), graded, same, late, given)

    def grade_of(self, learner: str) -> Grade:
        """Read a learner's grade for the lesson; an empty one if nothing was graded."""
        with open_gradebook(self.coursedir) as gradebook:
            return read_grade(gradebook, self.coursedir.assignment_id, learner)

    def _earlier_runs(self, folder: str) -> list[dict[str, Any] | None]:
        """Read for each notebook the facts about the run that graded it; None if none did."""
        graded = Path(self.result_path(self.coursedir.assignment_id, self.student_of(folder)))
        paths = [graded / Path(path).name for path in self.assignments[folder]]
        return [earlier_run(path) if path.exists() else None for path in paths]

    def _late_rule(self, folder: str, term: Term) -> Callable[[float], float] | None:
        """Return the late penalty that the tables define; None if they don't define one."""
        lesson, learner = self.coursedir.assignment_id, self.student_of(folder)
        percent = terms_of(term, lesson).late_percent
        due, when = due_for(term, learner, lesson), time_if_any(Path(folder))
        if percent is None or due is None:
            return None
        seconds = (when - due).total_seconds() if when else 0.0
        return lambda points: late_penalty(points, seconds, percent) or 0.0


@contextmanager
def only_run(course: Path) -> Iterator[None]:
    """Keep other runs from grading in a course directory. Raises CourseError if one already is.

    The operating system holds the lock, on the folder itself, so it ends with the process.
    """
    folder = os.open(course, os.O_RDONLY)
    try:
        _lock(folder, course)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, course: Path) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CourseError(
            f"Another run is grading in {course}. Wait until it has ended, or end it."
        ) from error


def time_if_any(folder: Path) -> datetime | None:
    """Return when a submission came in; None if its time is missing or can't be read.

    A submission whose time can't be read is not graded.
    """
    try:
        return submitted_at(folder)
    except BrokenSubmission:
        return None


def _why_not_graded(runs: list[dict[str, Any] | None]) -> str:
    """Return why an earlier run could not grade a submission; "" if it could."""
    failed = (run["reason"] for run in runs if run and run.get("outcome") == Outcome.NOT_GRADED)
    return next(failed, "")
