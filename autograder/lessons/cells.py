"""What the cells of a lesson are, by their content, and nbgrader's entries in their metadata.

A cell with a solution region is an exercise, named after what it defines; one that only calls
`check` is where that exercise is graded.
"""

import ast
import re
from functools import cache
from typing import Any

from autograder.errors import AuthoringError

REGION = re.compile(
    # From the first marker to the last, because a class may have a region in each method.
    r"^(?P<begin>[ ]*### BEGIN SOLUTION\n)(?P<body>.*)(?P<end>^[ ]*### END SOLUTION)",
    re.MULTILINE | re.DOTALL,
)
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
STUB = "raise NotImplementedError()"  # nbgrader replaces solutions with this
SCHEMA_VERSION = 3
BEGINNING = "beginning"  # metadata of an exercise's cell: what learners find in it


def region(source: str) -> re.Match[str]:
    """Find the solution region of an exercise cell. Raises AuthoringError if there is none."""
    match = REGION.search(source)
    if not match:
        raise AuthoringError("there is no solution region to rewrite")
    return match


@cache
def exercise_defined(source: str) -> str:
    """Return the function or class name that an exercise cell defines; "" for other cells."""
    if not REGION.search(source):
        if "### BEGIN SOLUTION" in source or "### END SOLUTION" in source:
            raise AuthoringError(f"a solution region is not closed or not opened in:\n{source}")
        return ""
    definitions = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in ast.parse(source).body if isinstance(node, definitions)]
    if len(names) != 1:
        raise AuthoringError(f"an exercise cell should define one name, not {names or 'none'}")
    return names[0]


def prediction_asked(source: str) -> str:
    """Return the name of the prediction that a cell asks for; "" for other cells."""
    match = re.fullmatch(r'predict\("(\w+)", \.\.\.\)', source.strip())
    return match[1] if match else ""


def exercise_checked(source: str) -> str:
    """Return the name of the exercise that a check cell checks; "" for other cells."""
    match = re.fullmatch(r"check\((\w+)\)", source.strip())
    return match[1] if match else ""


def nbgrader_metadata(
    grade_id: str, *, solution: bool = False, points: float | None = None, **more: Any
) -> dict[str, Any]:
    """Make the metadata of a solution, a check worth `points`, or a manually graded answer.

    more: entries to change or add; None leaves one out.
    """
    graded = points is not None
    facts = {
        "grade": graded,
        "grade_id": grade_id,
        "locked": graded and not solution,
        "points": points,
        "schema_version": SCHEMA_VERSION,
        "solution": solution,
        "task": False,
    }
    return {name: fact for name, fact in (facts | more).items() if fact is not None}


def grade_id_of(cell: dict) -> str:
    """Return nbgrader's name for the cell; "" if it has none."""
    match cell:
        case {"metadata": {"nbgrader": {"grade_id": str(grade_id)}}}:
            return grade_id
    return ""
