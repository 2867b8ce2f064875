"""Restore nbgrader's cells in a submission that is graded unsealed, as a sealed worker does."""

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.engine.source import read_source
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.gradebook.released import read_blueprint
from autograder.grading.submission.restore import restore
from autograder.grading.term.course import course_directory


class RestoreCells(NbGraderPreprocessor):
    """Restores a submission. nbgrader's OverwriteCells fails where an answer is missing."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about, course = resources["nbgrader"], course_directory(self)
        notebook, assignment = about["notebook"], about["assignment"]
        folder = course.format_path(course.source_directory, ".", assignment)
        source = read_source(Path(folder, f"{notebook}.ipynb"))
        with Gradebook(about["db_url"]) as gradebook:
            blueprint = read_blueprint(
                gradebook, notebook, assignment, source.grade_ids, source.prose
            )
        return restore(nb, blueprint), resources
