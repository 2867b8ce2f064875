"""Write the judge's points into nbgrader's gradebook."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading.engine.made_from import SAME_TO_MARK
from autograder.grading.gradebook.entries import save_points
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.worker.marks import marks_of

MARKS = "marks"  # in nbgrader's resources: the marks, if a worker has made them


class SaveMarks(NbGraderPreprocessor):
    """Saves a worker's marks, or those of a notebook that was graded unsealed."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        submitted = about["notebook"], about["assignment"], about["student"]
        same = about.get(SAME_TO_MARK, frozenset())
        marks = about[MARKS] if MARKS in about else marks_of(nb)
        with Gradebook(about["db_url"]) as gradebook:
            save_points(gradebook, submitted, marks.points, marks.unanswered, same)
        return nb, resources
