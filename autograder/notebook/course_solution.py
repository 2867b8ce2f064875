"""The course's own solution of an exercise, for a learner who gives it up.

It is read from the lesson's text without jupytext, which learners do not install. A course handed
out without `solutions/` has no solutions to give.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path

from autograder.errors import CourseError

TEXTS = Path(__file__).parents[2] / "solutions"
CELL = re.compile(r"^# %%.*$", re.MULTILINE)
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def course_solution(exercise: str, lesson: str) -> Callable:
    """Return the function or class that solves an exercise. Raises CourseError if there is none."""
    path = TEXTS / f"{lesson}.py"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(
            "The course's solutions are not on this computer. Ask your instructor for them."
        ) from error
    namespace: dict = {"__name__": lesson}
    for cell in filter(only_defines, CELL.split(text)):
        exec(compile(cell, path, "exec", dont_inherit=True), namespace)
    return namespace[exercise]


def only_defines(source: str) -> bool:
    """Whether a cell has only imports and definitions."""
    return all(isinstance(node, DEFINITIONS) for node in ast.parse(source).body)
