"""Before nbgrader asks whether a submission is late: enter when it was due for this learner.

A submission gets its row in the gradebook only when it is first graded, so its extension can't be
entered earlier.
"""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.gradebook.follow_tables import enter_due_date
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.term.course import course_directory, course_term


class SetDueDate(NbGraderPreprocessor):
    """Enters the due date and the extension of one submission. Raises CourseError."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        term = course_term(course_directory(self))
        with Gradebook(about["db_url"]) as gradebook:
            enter_due_date(gradebook, about["assignment"], about["student"], term)
        return nb, resources
