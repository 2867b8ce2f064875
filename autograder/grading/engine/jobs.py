"""Make the jobs of grading a lesson's submissions: what each worker needs, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from traitlets import import_item
from traitlets.config import Config

from autograder.building.secret import course_secret
from autograder.grading.engine.provenance import Dependency, made_from
from autograder.grading.gradebook.opening import open_gradebook
from autograder.grading.gradebook.released import due_date, read_blueprint
from autograder.grading.submission.folder import files_beside, read_submitted, submitted_at
from autograder.grading.submission.read_notebook import BrokenSubmission
from autograder.grading.term.tables import Term, due_for
from autograder.grading.worker import lesson_job
from autograder.grading.worker.job import Job
from autograder.grading.worker.lesson_job import Standard, read_standard
from autograder.grading.worker.source import read_source
from autograder.lessons.lesson import lesson_names
from autograder.sandbox.limits import Limits


@dataclass
class JobMaker:
    """Makes the jobs of one lesson, or of an instructor's own assignment.

    notebooks: the names of the notebooks to grade.
    sole: whether there is only one, which a learner may submit under another name.
    figures: whether the course's own figures are drawn, too.
    tidying: nbgrader's steps for a graded notebook, and their settings.
    """

    coursedir: CourseDirectory
    term: Term
    notebooks: Sequence[str]
    sole: bool
    limits: Limits
    figures: bool
    tidying: dict[str, dict[str, Any]]

    def whole_job(self, path: Path, student: str) -> Job:
        """Make the job that grades one submitted notebook."""
        return self.with_reference(self.job(path, student))

    def empty_job(self) -> Job:
        """Make a job without a submission and without the reference."""
        return self.templates[self.notebooks[0]]

    def job(self, path: Path, student: str) -> Job:
        """Make the same job without the reference, which is enough to know whether it is due."""
        job = with_submission(self.templates[path.stem], path, self.sole)
        if due := due_for(self.term, student, self.assignment):
            return replace(job, made_from=job.made_from | {Dependency.DUE.value: str(due)})
        return job

    @property
    def assignment(self) -> str:
        return self.coursedir.assignment_id

    @property
    def is_lesson(self) -> bool:
        """Whether the assignment is a lesson of the course, not an instructor's own."""
        return self.assignment in lesson_names()

    @cached_property
    def templates(self) -> dict[str, Job]:
        """For each notebook, the job with everything that its submissions have in common.

        All have the same imports, so that they share a sandbox. Raises CourseError.
        """
        made = {name: self._template(name) for name in self.notebooks}
        imports = dict.fromkeys(name for job in made.values() for name in job.imports)
        return {name: replace(job, imports=tuple(imports)) for name, job in made.items()}

    def _template(self, name: str) -> Job:
        format_path, folder = self.coursedir.format_path, self.coursedir.source_directory
        source = Path(format_path(folder, ".", self.assignment))
        released = read_source(source / f"{name}.ipynb")
        with open_gradebook(self.coursedir) as gradebook:
            blueprint = read_blueprint(gradebook, name, self.assignment, released.grade_ids)
            due = due_date(gradebook, self.assignment)
        template = lesson_job.template(
            blueprint,
            released,
            source,
            self.assignment if self.is_lesson else "",
            limits=self.limits,
            figures=self.figures,
            tidying=self.tidying,
        )
        parts = made_from(template, self.assignment, course_secret(), str(due or ""))
        return replace(template, made_from=parts)

    def with_reference(self, job: Job) -> Job:
        """Add what a job is judged by. This loads torch. Raises CourseError."""
        return self._standard.added_to(job) if self.is_lesson else job

    @cached_property
    def _standard(self) -> Standard:
        blueprints = (template.blueprint for template in self.templates.values())
        return read_standard(self.assignment, blueprints)


def with_submission(template: Job, path: Path, sole: bool) -> Job:
    """Add what was handed in to a job, and when.

    path: the submitted notebook.
    sole: whether the lesson has no other.
    """
    data, broken, when = b"", None, None
    try:
        when = submitted_at(path.parent)
        data = read_submitted(path, sole)
    except BrokenSubmission as error:
        broken = error
    return replace(
        template,
        path=str(path),
        data=data,
        broken=broken,
        files=files_beside(path.parent) | template.files,
        made_from=template.made_from | {Dependency.SUBMITTED.value: str(when or "")},
    )


def settings_of(config: Config, preprocessor: str) -> dict[str, Any]:
    """Return the part of the configuration that a preprocessor, given by its name, reads."""
    names = (owner.__name__ for owner in import_item(preprocessor).mro())
    return {name: dict(config[name]) for name in names if name in config}
