"""Grade as stock nbgrader does: three preprocessors for submissions that run unsealed.

`RestoreCells` puts the released cells back, `CollectAnswers` runs the notebook, and `JudgeAnswers`
gives its checks their verdicts. A sealed worker does the same with the same functions.
"""

import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute, NbGraderPreprocessor

from autograder.asking import QUESTIONS_VARIABLE
from autograder.asking.sending import encode_questions
from autograder.building.hidden import grading_reference
from autograder.building.secret import seed_for
from autograder.grading.engine.plugins import course_directory
from autograder.grading.gradebook.opening import open_at
from autograder.grading.gradebook.released import read_blueprint
from autograder.grading.submission.given_up import solutions_for_checks
from autograder.grading.submission.restore import restore
from autograder.grading.worker.judge_notebook import judge_notebook, tidy
from autograder.grading.worker.source import read_source
from autograder.lessons.lesson import Lesson, lesson_names


class RestoreCells(NbGraderPreprocessor):
    """Restores a submission. nbgrader's OverwriteCells fails where an answer is missing."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about, course = resources["nbgrader"], course_directory(self)
        notebook, assignment = about["notebook"], about["assignment"]
        folder = course.format_path(course.source_directory, ".", assignment)
        source = read_source(Path(folder, f"{notebook}.ipynb"))
        with open_at(about["db_url"]) as gradebook:
            blueprint = read_blueprint(gradebook, notebook, assignment, source.grade_ids)
        return restore(nb, blueprint), resources


class CollectAnswers(Execute):
    """Executes the notebook with the lesson's questions available, but not the answer key."""

    _kernel_environment: dict[str, str]

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict, km: Any = None
    ) -> tuple[NotebookNode, ResourcesDict]:
        lesson, learner = (resources["nbgrader"][name] for name in ("assignment", "student"))
        if lesson not in lesson_names():  # the instructor's own assignment
            self._kernel_environment = {}
            return super().preprocess(nb, resources, km)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "questions.safetensors")
            reference = grading_reference(lesson, seed_for(learner))
            path.write_bytes(encode_questions(reference.questions.values()))
            self._kernel_environment = {QUESTIONS_VARIABLE: str(path)}
            with solutions_for_checks(nb, Lesson(lesson).solutions):
                return super().preprocess(nb, resources, km)

    def setup_kernel(self, **kwargs: Any) -> AbstractContextManager:
        return super().setup_kernel(env=os.environ | self._kernel_environment, **kwargs)


class JudgeAnswers(NbGraderPreprocessor):
    """Gives each check cell its verdict, in the course's own lessons."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        about = resources["nbgrader"]
        tidy(nb)
        if about["assignment"] in lesson_names():
            with open_at(about["db_url"]) as gradebook:
                blueprint = read_blueprint(gradebook, about["notebook"], about["assignment"])
            reference = grading_reference(about["assignment"], seed_for(about["student"]))
            judge_notebook(nb, blueprint.checks, reference)
        return nb, resources
