"""nbgrader's entries in a cell's metadata."""

from typing import Any

SCHEMA_VERSION = 3
BEGINNING = "beginning"  # metadata of an exercise's cell: what learners find in it


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
