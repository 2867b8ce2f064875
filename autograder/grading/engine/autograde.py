"""The engine behind `nbgrader autograde`, formgrader's button and `make grade`.

It is nbgrader's own converter with one step replaced: workers run and judge the submissions, many
at a time and sealed off (`autograder.grading.worker.task`). Only this process writes the gradebook
and the autograded notebooks, one submission after another, as nbgrader does.

Modules that load torch are imported in functions, because every nbgrader command loads this module.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbformat.v4 import new_notebook
from nbgrader.converters.base import NbGraderException
from tqdm import tqdm
from traitlets import Bool, Float, Integer, List, Unicode

from autograder.building.secret import NO_SECRET, own_secret
from autograder.errors import CourseError
from autograder.grading.engine import patches
from autograder.grading.engine.ctrl_c import INTERRUPTED, CtrlC
from autograder.grading.engine.history import entry_of, remember
from autograder.grading.engine.jobs import JobMaker, settings_of
from autograder.grading.engine.messages import (
    CONNECTION_LOG,
    NO_GROUPS,
    at_levels,
    errors_as_sentences,
    quiet,
)
from autograder.grading.engine.plugins import POINTS, SETTLED_CELLS, course_term
from autograder.grading.engine.pool import Pool, dask_pool, local_pool
from autograder.grading.engine.provenance import settled_cells
from autograder.grading.engine.release import GenerateAssignment
from autograder.grading.engine.roll import Roll, call_roll
from autograder.grading.engine.submissions import DueSubmissions, only_run, time_if_any
from autograder.grading.engine.summary import NO_CELL, NO_MODULE, Summary
from autograder.grading.engine.write_feedback import GenerateFeedback
from autograder.grading.gradebook.entries import forget_time
from autograder.grading.gradebook.follow_tables import bring_up_to_date
from autograder.grading.gradebook.lesson_grades import submitted_grades
from autograder.grading.gradebook.opening import (
    NoGradebook,
    complete_gradebook,
    open_gradebook,
    readable,
    reading,
)
from autograder.grading.gradebook.released import released_notebooks
from autograder.grading.submission.folder import submitted_at
from autograder.grading.term.learner_names import did_you_mean, is_learner_name
from autograder.grading.term.tables import Term
from autograder.grading.worker.job import OUTCOMES, Graded, Job, Outcome, write_graded
from autograder.sandbox.cgroups import home
from autograder.sandbox.limits import Limits

OWN_SECRET = "Write a line of your own into course_secret.txt, and grade again."
NOT_RELEASED = "{0} was not released. To release it: nbgrader generate_assignment {0}"
NOT_ENTERED = (
    "{0} is released, but not in the gradebook. If the gradebook was lost, restore a backup, which "
    "has the points given by hand too. To enter {0} in a new one: nbgrader generate_assignment "
    "--force {0}"
)
LIMITS, GIGABYTE = Limits(), 2**30


class Autograde(DueSubmissions):
    """nbgrader's Autograde, in parallel and in a sandbox.

    It keeps nbgrader's class name, so that `c.Autograde.…` configures both.
    """

    unsealed = Bool(False, help="Run submissions as nbgrader does, without walls.").tag(config=True)
    jobs = Integer(os.cpu_count() or 1, help="Submissions to run at a time.").tag(config=True)
    scheduler = Unicode("", help="Address of a Dask scheduler for the work.").tag(config=True)
    cell_seconds = Float(LIMITS.cell_seconds, help="Processor time of one cell.").tag(config=True)
    notebook_seconds = Float(LIMITS.notebook_seconds, help="Processor time of one notebook.").tag(
        config=True
    )
    tidying_preprocessors: List[Any] = List(
        help="Preprocessors for a notebook that has been judged, in the worker."
    ).tag(config=True)
    saving_preprocessors: List[Any] = List(
        help="Preprocessors that enter points in the gradebook; they do not see the notebook."
    ).tag(config=True)
    dry = Bool(False, help="Say whose points would change, and write nothing.").tag(config=True)
    figures = Bool(False, help="Draw the course's figures too.").tag(config=True)
    memory = Float(LIMITS.memory_bytes / GIGABYTE, help="Gigabytes that one notebook may use.").tag(
        config=True
    )

    def init_notebooks(self) -> None:
        """Find every submitted folder, even one without its notebooks.

        Raises NbGraderException if there is none, the gradebook can't be read, or the assignment
        is not in it.
        """
        with errors_as_sentences(self.log):
            released = self._released_names()
            folders = self.submitted_folders()
            if not folders:
                self.require_source()
        if self.unsealed:
            super().init_notebooks()
            return
        self._names = [n for n in released if fnmatch(n, self.coursedir.notebook_id)]
        self._sole = len(released) == 1
        self.assignments = {
            folder: [os.path.join(folder, f"{name}.ipynb") for name in self._names]
            for folder in folders
            if is_learner_name(self.student_of(folder))
        }

    def convert_notebooks(self) -> None:
        """Grade everything that is due. Raises NbGraderException if nothing can be graded."""
        summary = Summary(refused=self.refused_names())
        if self.unsealed:
            self.log.warning("Unsealed: submissions run without a sandbox, as you.")
            for line in summary.refusals():
                self.log.error(line)
            super().convert_notebooks()
            return
        tell = True
        try:
            with (
                errors_as_sentences(self.log),
                at_levels({CONNECTION_LOG: logging.CRITICAL}),
                CtrlC() as ctrl_c,
            ):
                self._grade_all(summary, ctrl_c)
        except NbGraderException:
            tell = summary.begun
            raise
        except KeyboardInterrupt:
            again = "grades all of them again" if self.force else "goes on from here"
            self.log.warning("Interrupted. The same command %s.", again)
            raise SystemExit(INTERRUPTED) from None
        finally:
            if tell:
                for line in summary.dry_lines() if self.dry else summary.lines():
                    self.log.info(line)
        if not (summary.complete or self.dry):
            raise NbGraderException("Some submissions have no grade: see the lines above.")

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Also forget an earlier submission's time if this one has none.

        Raises BrokenSubmission if the time can't be read; in a sealed run, the job reports that.
        """
        folder = Path(self.source_path(assignment_id, student_id))
        when = submitted_at(folder) if self.unsealed else time_if_any(folder)
        super().init_assignment(assignment_id, student_id)
        if when is None:
            with open_gradebook(self.coursedir) as gradebook:
                forget_time(gradebook, assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Save what the judge found about a notebook.

        The exporter's preprocessors save points and lateness. They need no notebook.
        """
        if self.unsealed:
            super().convert_single_notebook(notebook_filename)
            return
        graded = self._counted(self._graded[notebook_filename])
        settled = settled_cells(self.run_before(graded), graded)
        resources = self.init_single_notebook_resources(notebook_filename)
        resources["nbgrader"] |= {POINTS: graded.points, SETTLED_CELLS: settled}
        self.exporter.from_notebook_node(new_notebook(), resources)
        about = resources["nbgrader"]
        folder = self.result_path(about["assignment"], about["student"])
        write_graded(graded, Path(folder, os.path.basename(notebook_filename)))

    def _counted(self, graded: Graded) -> Graded:
        """Count the runs in a row in which the machine may have been to blame."""
        if not graded.doubtful:
            return graded
        before = self.run_before(graded)
        again = before.get("submitted") == graded.submitted
        return replace(graded, attempts=1 + (before.get("attempts", 0) if again else 0))

    def _grade_all(self, summary: Summary, ctrl_c: CtrlC) -> None:
        if self.jobs < 1:
            raise CourseError(f"Autograde.jobs is {self.jobs}; it takes at least 1.")
        if not self._names:
            course = self.coursedir
            raise CourseError(f"{course.assignment_id} has no notebook {course.notebook_id}.")
        with only_run(Path(self.coursedir.root)):
            term = course_term(self.coursedir)
            if not self.dry:
                self.remove_drafts(self.coursedir.assignment_id)
            self._follow_tables(term)
            self._maker = self._job_maker(term)
            due = self.list_due(self._maker, summary)
            if due:
                self._grade(due, summary, ctrl_c)
            summary.roll = self._call_roll(term)

    def _follow_tables(self, term: Term) -> None:
        """Enter names, due dates and extensions from the tables of the term."""
        what = "The gradebook would change" if self.dry else "Gradebook"
        with readable(), open_gradebook(self.coursedir) as gradebook:
            for change in bring_up_to_date(gradebook, term, self.dry):
                self.log.info("%s: %s", what, change)

    def _job_maker(self, term: Term) -> JobMaker:
        limits = Limits(
            cell_seconds=self.cell_seconds,
            notebook_seconds=self.notebook_seconds,
            memory_bytes=int(self.memory * GIGABYTE),
        )
        tidying = {name: settings_of(self.config, name) for name in self.tidying_preprocessors}
        return JobMaker(
            self.coursedir, term, self._names, self._sole, limits, self.figures, tidying
        )

    def _grade(self, due: list[str], summary: Summary, ctrl_c: CtrlC) -> None:
        results: dict[str, Graded] = {}
        if self._maker.is_lesson and not own_secret():
            self.log.warning(f"{NO_SECRET} {OWN_SECRET}")
        if not (self.scheduler or home() or self.graded_before):
            self.log.info(NO_GROUPS)
        with (
            closing(self._pool(len(due))) as pool,
            complete_gradebook(),
            tqdm(total=len(due), unit="submission", disable=None) as bar,
        ):
            self.use_preprocessors(self.saving_preprocessors)
            for graded in pool.grade_all(self._jobs(due), ctrl_c.check):
                results[graded.path] = graded
                folder = os.path.dirname(graded.path)
                if results.keys() >= set(self.assignments[folder]):
                    self._record(folder, results, summary)
                    bar.update()

    def _pool(self, most: int) -> Pool:
        if self.scheduler:
            return dask_pool(self.scheduler)
        maker = self._maker
        return local_pool(min(self.jobs, most), maker.empty_job(), maker.with_reference)

    def _jobs(self, due: list[str]) -> Iterator[Job]:
        """Yield a job for each submitted notebook, which is read only when its turn comes."""
        for folder in due:
            for path in self.assignments[folder]:
                yield self._maker.whole_job(Path(path), self.student_of(folder))

    def _record(self, folder: str, results: dict[str, Graded], summary: Summary) -> None:
        """Write one submission's points and notebooks, as nbgrader does."""
        assignment, student = self.coursedir.assignment_id, self.student_of(folder)
        self.notebooks = self.assignments[folder]
        self._graded = {path: results.pop(path) for path in self.notebooks}
        if self.dry:
            changed = self.would_change(folder, self._graded.values(), self._maker.term)
            summary.compare(student, changed)
            return
        try:
            with self.aside(assignment, student), quiet(self.log):
                self.run_pre_convert_hook()
                self.init_assignment(assignment, student)
                for notebook in self.notebooks:
                    self.convert_single_notebook(notebook)
                self.set_permissions(assignment, student)
                self.run_post_convert_hook()
        except Exception as error:
            self.log.debug("Recording %s failed", folder, exc_info=True)
            summary.add(student, Outcome.NOT_GRADED, f"its points could not be recorded: {error}")
            return
        for one in self._graded.values():
            summary.lack(student, NO_CELL, sorted(one.absent))
            summary.lack(student, NO_MODULE, one.lacking)
        worst = max(self._graded.values(), key=lambda graded: OUTCOMES.index(graded.outcome))
        entry = entry_of(self.grade_of(student), worst.outcome, self._graded.values())
        self._remember(folder, entry)
        if worst.outcome == Outcome.NOT_GRADED and entry["grade"] is not None:
            summary.add(student, Outcome.GRADED)  # by a person
        else:
            summary.add(student, worst.outcome, worst.reason)

    def _remember(self, folder: str, entry: dict[str, Any]) -> None:
        """Add a submission that has been recorded to the learner's history."""
        assignment, student = self.coursedir.assignment_id, self.student_of(folder)
        try:
            remember(Path(self.coursedir.root), student, assignment, Path(folder), entry)
        except OSError as error:
            self.log.warning("%s: this could not be added to the history: %s", student, error)

    def _call_roll(self, term: Term) -> Roll:
        folders = {self.student_of(folder): folder for folder in self.assignments}
        assignment, asked = self.coursedir.assignment_id, self.coursedir.student_id
        with open_gradebook(self.coursedir) as gradebook:
            grades = submitted_grades(gradebook, assignment)
        return call_roll(grades, assignment, term, folders, asked)

    def _released_names(self) -> list[str]:
        """List the notebooks of the assignment. Raises CourseError if the gradebook lacks it."""
        wanted, names = self.coursedir.assignment_id, {}
        with suppress(NoGradebook), reading(self.coursedir.db_url) as gradebook:
            names = released_notebooks(gradebook)
        if names.get(wanted):
            return names[wanted]
        format_path, folder = self.coursedir.format_path, self.coursedir.source_directory
        paths = map(Path, patches.find(format_path(folder, ".", "*")))
        sources = {path.name for path in paths if path.is_dir()}
        if wanted in sources:
            released = Path(format_path(self.coursedir.release_directory, ".", wanted))
            raise CourseError((NOT_ENTERED if released.exists() else NOT_RELEASED).format(wanted))
        meant = did_you_mean(wanted, names.keys() | sources)
        raise CourseError(f"There is no assignment {wanted}.{meant}")


def install() -> None:
    """Make nbgrader's command and its formgrader use this engine."""
    patches.install(time_if_any, Autograde, GenerateAssignment, GenerateFeedback)
    patches.guard_formgrader()
