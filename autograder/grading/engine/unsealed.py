"""Run a submission: nbgrader's Execute, in a kernel whose checks hand in answers."""

import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute

from autograder.asking import QUESTIONS_VARIABLE
from autograder.asking.hand_in import encode_questions
from autograder.building.hidden import grading_reference
from autograder.building.secret import seed_for
from autograder.grading.submission.given_up import solutions_for_checks
from autograder.lessons.lesson import Lesson, lesson_names


class CollectAnswers(Execute):
    """Executes the notebook with the lesson's questions available, but not the answer key."""

    _kernel_environment: dict[str, str]

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict, km: Any = None
    ) -> tuple[NotebookNode, ResourcesDict]:
        lesson, student = (resources["nbgrader"][name] for name in ("assignment", "student"))
        if lesson not in lesson_names():  # the instructor's own assignment
            self._kernel_environment = {}
            return super().preprocess(nb, resources, km)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "questions.safetensors")
            reference = grading_reference(lesson, seed_for(student))
            path.write_bytes(encode_questions(reference.questions.values()))
            self._kernel_environment = {QUESTIONS_VARIABLE: str(path)}
            with solutions_for_checks(nb, Lesson(lesson).solutions):
                return super().preprocess(nb, resources, km)

    def setup_kernel(self, **kwargs: Any) -> AbstractContextManager:
        return super().setup_kernel(env=os.environ | self._kernel_environment, **kwargs)
