"""A lesson with a question for a person to grade; the course itself has no such lesson."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jupytext
from nbformat import NotebookNode

from autograder.authoring.notebooks import build_notebook, write
from autograder.lessons.cells import grade_id_of
from autograder.lessons.lesson import Lesson
from tests.support.classroom import LESSON, nbgrader

NAME, POINTS = "why_scale", 4
RUBRIC = "2 points: the variance of a score grows with d_k"
MODEL_ANSWER = "A score is a sum of d_k products."
QUESTION = f"""
# %% [markdown]
# ### Question 1: `{NAME}` ({POINTS} points, 5 minutes)
#
# Why do we divide the scores by √d_k?
#
# ### BEGIN MARK SCHEME
# - {RUBRIC}
# - 2 points: large scores leave softmax without a gradient
# ### END MARK SCHEME

# %% [markdown]
# ### BEGIN SOLUTION
# {MODEL_ANSWER}
# ### END SOLUTION
"""


@dataclass(frozen=True)
class AskingLesson(Lesson):
    """A lesson of the course with the question at its end, in a course directory for tests."""

    course: Path

    @property
    def notebook_path(self) -> Path:
        return self.course / "solutions" / self.name / f"{self.name}.ipynb"

    @property
    def released_path(self) -> Path:
        return self.course / "notebooks" / self.name / f"{self.name}.ipynb"

    @cached_property
    def notebook(self) -> NotebookNode:
        text = self.text_path.read_text(encoding="utf-8")
        return jupytext.reads(text + QUESTION, "py:percent")


def ask(course: Path) -> AskingLesson:
    """Release the lesson with the question in a course directory."""
    lesson = AskingLesson(LESSON.name, course)
    write(build_notebook(lesson), lesson.notebook_path)
    nbgrader(course, "generate_assignment", "--force", lesson.name)
    return lesson


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    """Return nbgrader's cell of this name."""
    return next(cell for cell in notebook.cells if grade_id_of(cell) == name)
