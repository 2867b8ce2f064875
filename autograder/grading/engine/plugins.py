"""Our plug-ins for nbgrader: they save points, enter due dates, and take points off for lateness.

A plug-in finds the course's directory, and with it the tables of the term.
"""

from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets.config import LoggingConfigurable

from autograder.grading.gradebook.entries import save_points
from autograder.grading.gradebook.follow_tables import enter_due_date
from autograder.grading.gradebook.opening import open_at
from autograder.grading.term.tables import Term, late_penalty, read_term, terms_of
from autograder.grading.worker.graded_cells import notebook_points

# In nbgrader's resources: a worker's `NotebookPoints`, and the cells for which points given by hand
# are still valid.
POINTS, SETTLED_CELLS = "notebook_points", "settled_cells"


def course_directory(plugin: LoggingConfigurable) -> CourseDirectory:
    """Return the course directory of the app or converter that started a plugin.

    A program can set that directory without any configuration, so the owner is asked first. A
    plugin without such an owner goes by nbgrader's configuration.
    """
    owner: Any = plugin
    while owner is not None:
        if getattr(owner, "coursedir", None) is not None:
            return owner.coursedir
        owner = owner.parent
    return CourseDirectory(parent=plugin)


def course_term(coursedir: CourseDirectory) -> Term:
    """Read the tables of a course. Raises CourseError.

    The tables may only name lessons that have a source, unless none has.
    """
    root = Path(coursedir.root)
    sources = root / coursedir.source_directory
    lessons = {folder.parent.name for folder in sources.glob("*/*.ipynb")}
    return read_term(root, lessons or None)


class SavePoints(NbGraderPreprocessor):
    """Saves the points that a worker gave, or those of a notebook that was graded unsealed."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        submitted = about["notebook"], about["assignment"], about["student"]
        settled = about.get(SETTLED_CELLS, frozenset())
        given = about[POINTS] if POINTS in about else notebook_points(nb)
        with open_at(about["db_url"]) as gradebook:
            save_points(gradebook, submitted, given.by_name, given.unanswered, settled)
        return nb, resources


class SetDueDate(NbGraderPreprocessor):
    """Enters the due date and the extension of one submission. Raises CourseError.

    A submission gets its row in the gradebook only when it is first graded, so its extension can't
    be entered earlier, and right after this nbgrader asks whether it is late.
    """

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        term = course_term(course_directory(self))
        with open_at(about["db_url"]) as gradebook:
            enter_due_date(gradebook, about["assignment"], about["student"], term)
        return nb, resources


class LatePercent(LateSubmissionPlugin):
    """Takes off a percentage of the points for each day late, or part of one, as lessons.csv says.

    For a lesson without `late_percent`, nbgrader's `penalty_method` decides; by default, that takes
    nothing off.
    """

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points to take off; None if there is no rule. Raises CourseError."""
        # nbgrader's AssignLatePenalties, the parent, knows which assignment it is.
        term = course_term(course_directory(self))
        percent = terms_of(term, self.parent.assignment_id).late_percent
        if percent is None:
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        return late_penalty(score, total_seconds_late, percent)
