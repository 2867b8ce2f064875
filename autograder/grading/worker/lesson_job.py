"""Make jobs of a lesson's submissions: what they have in common, and what they are judged by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.building.secret import seed_for
from autograder.errors import CourseError
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.cells import without_pictures
from autograder.grading.submission.folder import files_beside
from autograder.grading.worker.job import Job
from autograder.grading.worker.source import Source
from autograder.judging.code_marks import in_backticks
from autograder.lessons.lesson import Lesson


@dataclass(frozen=True)
class Standard:
    """What the submissions to a lesson are judged by. An instructor's own assignment has none.

    reference: the lesson's, as bytes, without hidden cases.
    solutions: the course's, by exercise.
    secret: what hidden cases are drawn from; "" for the course's.
    """

    reference: bytes
    solutions: dict[str, str] = field(default_factory=dict)
    secret: str = ""

    def added_to(self, job: Job) -> Job:
        """Return a job that is complete, with a seed of its own."""
        seed = seed_for(job.digest, self.secret)
        return replace(job, reference=self.reference, seed=seed, solutions=self.solutions)


def template(
    blueprint: Blueprint, source: Source, folder: Path, lesson: str = "", **settings: Any
) -> Job:
    """Make the job without a submission and without what it is judged by.

    folder: that of the source notebook, with the files that submissions get.
    lesson: its name; "" for an instructor's own assignment, which runs whole.
    settings: limits, figures and tidying.

    Raises CourseError if a lesson's source has other cells than were released.
    """
    files = files_beside(folder)
    job = Job("", blueprint, files=files, imports=source.imports, **settings)
    if not lesson:
        return job
    _require_same_cells(blueprint, source, lesson)
    return replace(job, course=_course_outputs(source, job.figures))


def read_standard(lesson: str, blueprints: Iterable[Blueprint], secret: str = "") -> Standard:
    """Read what a lesson's submissions are judged by. This loads torch.

    Raises CourseError if the lesson has changed since its reference was built, or if the reference
    gives other points than the released notebooks.
    """
    from autograder.building.hidden import shown_reference

    reference = shown_reference(lesson)
    points = {exercise: key.points for exercise, key in reference.keys.items()}
    for blueprint in blueprints:
        _require_points(blueprint, points, lesson)
    return Standard(reference.to_bytes(), Lesson(lesson).solutions, secret)


def _course_outputs(source: Source, figures: bool) -> dict[str, list[NotebookNode]]:
    """Return what the course's own cells show."""
    if figures:
        return source.outputs
    return {code: [*map(without_pictures, shown)] for code, shown in source.outputs.items()}


def _require_same_cells(blueprint: Blueprint, source: Source, lesson: str) -> None:
    """Raise CourseError if there is a source notebook with other cells than the released ones."""
    different = blueprint.by_name.keys() ^ set(source.grade_ids)
    if source.grade_ids and different:
        raise CourseError(
            f"solutions/{lesson} is not what you released: they differ in "
            f"{in_backticks(sorted(different))}. Release the new version with nbgrader "
            f"generate_assignment --force {lesson}, or undo the change (git restore)."
        )


def _require_points(blueprint: Blueprint, points: Mapping[str, float], lesson: str) -> None:
    """Raise CourseError unless the released checks are worth the points of their exercises."""
    for name, exercise in blueprint.checks.items():
        released = blueprint.by_name[name].points
        if exercise in points and points[exercise] != released:
            raise CourseError(
                f"`{exercise}` has {points[exercise]:g} points, but {released:g} in the released "
                f"notebook. Release it with the new points: make lessons LESSON={lesson}, then "
                f"nbgrader generate_assignment --force {lesson}"
            )
