"""The course's own solution of an exercise, for a learner who gives it up.

It is read from the lesson's text without jupytext, which learners do not install. A course handed
out without `solutions/` has no solutions to give.
"""

import ast
import re
from collections.abc import Callable, Iterator

from autograder.errors import CourseError
from autograder.notebook.source import defined_names
from autograder.places import ROOT

TEXTS = ROOT / "solutions"
CELL = re.compile(r"^# %%.*$", re.MULTILINE)
MARKER = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def course_solution(exercise: str, lesson: str) -> Callable:
    """Return the function or class that solves an exercise. Raises CourseError if there is none."""
    namespace: dict = {"__name__": lesson}
    for cell in _definitions(lesson):
        exec(compile(cell, TEXTS / f"{lesson}.py", "exec", dont_inherit=True), namespace)
    return namespace[exercise]


def solution_text(exercise: str, lesson: str) -> str:
    """Return the cell that solves an exercise. Raises CourseError if there is none."""
    cells = (cell for cell in _definitions(lesson) if exercise in defined_names(cell))
    return MARKER.sub("", next(cells)).strip()


def _definitions(lesson: str) -> Iterator[str]:
    """Yield the cells of a lesson that only import and define. Raises CourseError."""
    try:
        text = (TEXTS / f"{lesson}.py").read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(
            "The course's solutions are not on this computer. Ask your instructor for them."
        ) from error
    return filter(only_defines, CELL.split(text))


def only_defines(source: str) -> bool:
    """Whether a cell has only imports and definitions."""
    return all(isinstance(node, DEFINITIONS) for node in ast.parse(source).body)
