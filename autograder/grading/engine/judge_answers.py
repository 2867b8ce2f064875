"""Connect nbgrader to the judge: a preprocessor for submissions that its own kernel has run."""

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.building.hidden import grading_reference
from autograder.building.secret import seed_for
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.gradebook.released import read_blueprint
from autograder.grading.worker.judge_notebook import judge_notebook, tidy
from autograder.lessons.lesson import lesson_names


class JudgeAnswers(NbGraderPreprocessor):
    """Gives each check cell its verdict, in the course's own lessons."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        tidy(nb)
        if about["assignment"] in lesson_names():
            with Gradebook(about["db_url"]) as gradebook:
                blueprint = read_blueprint(gradebook, about["notebook"], about["assignment"])
            reference = grading_reference(about["assignment"], seed_for(about["student"]))
            judge_notebook(nb, blueprint.checks, reference)
        return nb, resources
