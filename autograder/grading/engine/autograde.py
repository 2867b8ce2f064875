"""The engine behind `nbgrader autograde`, formgrader's button and `make grade`.

It is nbgrader's own converter with one step replaced. Running and judging happen elsewhere, many at
a time and sealed off (`autograder.grading.worker.task`). Only this process writes the gradebook and
the autograded notebooks, one submission after another, as nbgrader does.

Modules that load torch are imported in functions, because every nbgrader command loads this module.
"""

import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.utils import find_all_files
from tqdm import tqdm
from traitlets import Bool, Float, Integer, List, Unicode

from autograder.atomic_writes import draft_of, remove_unfinished
from autograder.errors import CourseError
from autograder.grading.engine import seams
from autograder.grading.engine.pool import Pool, dask_pool, local_pool
from autograder.grading.engine.run_lock import only_run
from autograder.grading.engine.source import read_source
from autograder.grading.engine.summary import Summary
from autograder.grading.submission.blueprint import read_blueprint
from autograder.grading.submission.handed_in import files_beside, is_ordinary, read_handed_in
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.worker.job import NOT_GRADED, OUTCOMES, Graded, Job, earlier_run
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.sandbox.limits import Limits

GIGABYTE = 2**30
INTERRUPTED = 130  # the exit status that shells give for Ctrl-C
NO_SECRET = (
    "This course has no secret: anyone can work out the hidden cases. Write a line of your own "
    "into course_secret.txt, and grade again with --force."
)


class OrdinaryFiles(BaseConverter):
    """Copies the files next to a submitted notebook, except links, devices and huge files."""

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        source = self.submitted_path(assignment_id, student_id)
        dest = self.graded_path(assignment_id, student_id)
        for name in find_all_files(source, [*self.coursedir.ignore, "*.ipynb"]):
            if is_ordinary(Path(name)):
                place = Path(dest, os.path.relpath(name, source))
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(name, place)


class Autograde(seams.OpenAutograde, OrdinaryFiles):
    """nbgrader's Autograde, in parallel and behind walls.

    It also keeps nbgrader's class name, so that `c.Autograde.…` configures both.
    """

    unsealed = Bool(False, help="Run submissions as nbgrader does, without walls.").tag(config=True)
    jobs = Integer(os.cpu_count() or 1, help="Submissions to run at a time.").tag(config=True)
    scheduler = Unicode("", help="Address of a Dask scheduler for the work.").tag(config=True)
    cell_seconds = Float(30.0, help="Processor time of one cell.").tag(config=True)
    notebook_seconds = Float(300.0, help="Processor time of one notebook.").tag(config=True)
    saving_preprocessors = List(
        help="Preprocessors for a notebook that a worker has run and judged."
    ).tag(config=True)
    figures = Bool(False, help="Draw the course's figures too.").tag(config=True)
    memory = Float(4.0, help="Gigabytes that one notebook may use.").tag(config=True)

    _draft: Path | None = None

    def init_notebooks(self) -> None:
        """Find every submitted folder, even one without its notebooks."""
        names = self._names = [] if self.unsealed else self._notebook_names()
        wanted = self.submitted_path(self.coursedir.assignment_id, self.coursedir.student_id)
        folders = [folder for folder in seams.find(wanted) if os.path.isdir(folder)]
        if not (names and folders):
            super().init_notebooks()
            return
        self.assignments = {
            folder: [os.path.join(folder, f"{name}.ipynb") for name in names] for folder in folders
        }

    def convert_notebooks(self) -> None:
        """Grade everything that is due. Raises NbGraderException if nothing can be graded."""
        if self.unsealed:
            self.log.warning("Unsealed: submissions run without a sandbox, as you.")
            super().convert_notebooks()
            return
        summary = Summary()
        try:
            self._grade_all(summary)
        except CourseError as error:
            self.log.error(str(error))
            raise NbGraderException(str(error)) from error
        except KeyboardInterrupt:
            again = "grades all of them again" if self.force else "goes on from here"
            self.log.warning("Interrupted. The same command %s.", again)
            raise SystemExit(INTERRUPTED) from None
        finally:
            for line in summary.lines():
                self.log.info(line)
        if not summary.complete:
            raise NbGraderException("Some submissions have no mark: see the lines above.")

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Whether a submission is new, changed or forced.

        Unlike nbgrader's, it removes nothing: the old result stays until the new one is complete.
        """
        if self.unsealed:
            return super().init_destination(assignment_id, student_id)
        if student_id in self.coursedir.student_id_exclude.split(","):
            return False
        dest = self.graded_path(assignment_id, student_id)
        there = [os.path.exists(Path(dest, Path(path).name)) for path in self.notebooks]
        if self.force or not all(there):
            return True
        now = self.coursedir.get_existing_timestamp(self.submitted_path(assignment_id, student_id))
        then = self.coursedir.get_existing_timestamp(dest)
        newer = bool(now and then and now > then)
        return (
            newer
            or any(map(self._is_doubtful, self.notebooks))
            or any(map(self._is_changed, self.notebooks))
        )

    def convert_single_notebook(self, notebook_filename: str) -> None:
        if self.unsealed:
            super().convert_single_notebook(notebook_filename)
            return
        resources = self.init_single_notebook_resources(notebook_filename)
        notebook = nbformat.reads(self._graded[notebook_filename].notebook, as_version=4)
        output, resources = self.exporter.from_notebook_node(notebook, resources)
        self.write_single_notebook(output, resources)

    def _grade_all(self, summary: Summary) -> None:
        if self.jobs < 1:
            raise CourseError(f"Autograde.jobs is {self.jobs}; it takes at least 1.")
        if not self._names:
            name = self.coursedir.assignment_id
            raise CourseError(
                f"The gradebook knows no such notebook of {name}. Was it released? "
                f"nbgrader generate_assignment {name}"
            )
        self._templates = _with_all_imports({name: self._template(name) for name in self._names})
        with only_run(Path(self.coursedir.root)):
            due = []
            for folder in sorted(self.assignments):
                if self._is_due(folder):
                    due.append(folder)
                else:
                    summary.leave(self._student(folder), self._not_graded_before())
            if due:
                self._grade(due, summary)

    def _is_due(self, folder: str) -> bool:
        place = self.coursedir.assignment_id, self._student(folder)
        remove_unfinished(Path(self.graded_path(*place)))
        self.notebooks = self.assignments[folder]
        graded = Path(self.graded_path(*place))
        self._before = {path: earlier_run(graded / Path(path).name) for path in self.notebooks}
        return self.init_destination(*place)

    def _is_doubtful(self, path: str) -> bool:
        """Whether it has no mark for a reason that may be gone by now."""
        before = self._before[path]
        return before.get("outcome") == NOT_GRADED and before.get("doubtful") is True

    def _is_changed(self, path: str) -> bool:
        """Whether the notebook, or a file next to it, has changed since it was graded."""
        return self._before[path].get("submitted") not in (None, self._job(path).digest)

    def _not_graded_before(self) -> str:
        """Return why an earlier run could not grade the current submission; "" if it could."""
        runs = self._before.values()
        return next((run["reason"] for run in runs if run.get("outcome") == NOT_GRADED), "")

    def _grade(self, due: list[str], summary: Summary) -> None:
        results: dict[str, Graded] = {}
        with (
            closing(self._pool(len(due))) as pool,
            tqdm(total=len(due), unit="submission", disable=None) as bar,
        ):
            self.use_preprocessors(self.saving_preprocessors)
            for graded in pool.grade_all(self._jobs(due)):
                results[graded.path] = graded
                folder = os.path.dirname(graded.path)
                if results.keys() >= set(self.assignments[folder]):
                    self._record(folder, results, summary)
                    bar.update()

    def _pool(self, most: int) -> Pool:
        if self.scheduler:
            return dask_pool(self.scheduler)
        return local_pool(min(self.jobs, most), self._templates[self._names[0]])

    def _jobs(self, due: list[str]) -> Iterator[Job]:
        """Yield a job for each notebook of the submissions, read only when its turn comes."""
        reference, solutions = self._reference(), self._solutions()
        for path in (path for folder in due for path in self.assignments[folder]):
            yield replace(self._job(path), reference=reference, solutions=solutions)

    def _job(self, path: str) -> Job:
        """Make the job of grading one submitted notebook, without the lesson's reference."""
        template = self._templates[Path(path).stem]
        try:
            data, broken = read_handed_in(Path(path)), ""
        except BrokenSubmission as error:
            data, broken = b"", str(error)
        files = files_beside(Path(path).parent) | template.files
        return replace(template, path=path, data=data, broken=broken, files=files)

    def _reference(self) -> bytes:
        """Return the lesson's reference, with hidden cases; empty if it is not a course lesson."""
        from autograder.building.hidden import grading_reference, own_secret

        name = self.coursedir.assignment_id
        if name not in lesson_names():
            return b""
        if not own_secret():
            self.log.warning(NO_SECRET)
        return grading_reference(name).to_bytes()

    def _solutions(self) -> dict[str, str]:
        """Return the sources of the course's solutions, by exercise."""
        name = self.coursedir.assignment_id
        return Lesson(name).solutions if name in lesson_names() else {}

    def _template(self, name: str) -> Job:
        """Make the job with everything that a notebook's submissions have in common."""
        assignment = self.coursedir.assignment_id
        source = Path(self.coursedir.format_path(self.coursedir.source_directory, ".", assignment))
        released = read_source(source / f"{name}.ipynb")
        with self._gradebook() as gradebook:
            blueprint = read_blueprint(gradebook, name, assignment, released.grade_ids)
        return Job(
            path="",
            blueprint=blueprint,
            files=files_beside(source),
            imports=released.imports,
            limits=Limits(
                cell_seconds=self.cell_seconds,
                notebook_seconds=self.notebook_seconds,
                memory_bytes=int(self.memory * GIGABYTE),
            ),
            figures=self.figures,
        )

    def _record(self, folder: str, results: dict[str, Graded], summary: Summary) -> None:
        """Write one submission's marks and notebooks, as nbgrader does."""
        assignment, student = self.coursedir.assignment_id, self._student(folder)
        self.notebooks = self.assignments[folder]
        self._graded = {path: results.pop(path) for path in self.notebooks}
        try:
            with self._aside(assignment, student), less_talk(self.log):
                self.run_pre_convert_hook()
                self.init_assignment(assignment, student)
                for notebook in self.notebooks:
                    self.convert_single_notebook(notebook)
                self.set_permissions(assignment, student)
                self.run_post_convert_hook()
        except Exception as error:
            self.log.debug("Recording %s failed", folder, exc_info=True)
            summary.add(student, NOT_GRADED, f"its marks could not be recorded: {error}")
            return
        worst = max(self._graded.values(), key=lambda graded: OUTCOMES.index(graded.outcome))
        summary.add(student, worst.outcome, worst.reason)

    @contextmanager
    def _aside(self, assignment: str, student: str) -> Iterator[None]:
        """Redirect the output folder to a draft, which replaces it only once complete."""
        final = Path(self.graded_path(assignment, student))
        try:
            with draft_of(final, self.coursedir.notebook_id != "*") as self._draft:
                yield
        finally:
            self._draft = None

    def graded_path(self, assignment: str, student: str, escape: bool = False) -> str:
        if self._draft is not None:
            return str(self._draft)
        return super().graded_path(assignment, student, escape)

    def _notebook_names(self) -> list[str]:
        """List the requested notebooks of the assignment; none if it was not released."""
        try:
            with self._gradebook() as gradebook:
                found = gradebook.find_assignment(self.coursedir.assignment_id).notebooks
                return [n.name for n in found if fnmatch(n.name, self.coursedir.notebook_id)]
        except MissingEntry:
            return []

    def _gradebook(self) -> Gradebook:
        return Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def _student(self, folder: str) -> str:
        pattern = self.submitted_path("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        return re.match(pattern, folder, re.DOTALL)["student"]


def install() -> None:
    """Make nbgrader's command and its formgrader use this engine."""
    seams.install(Autograde)


def _with_all_imports(templates: dict[str, Job]) -> dict[str, Job]:
    """Give all notebooks of an assignment the same imports, so that they share a sandbox."""
    imports = dict.fromkeys(name for job in templates.values() for name in job.imports)
    return {name: replace(job, imports=tuple(imports)) for name, job in templates.items()}


@contextmanager
def less_talk(log: logging.Logger) -> Iterator[None]:
    """Silence nbgrader's messages about each submission, except warnings."""
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)
