"""nbgrader's facts about a cell, in the cell's metadata."""

from typing import Any

SCHEMA_VERSION = 3


def nbgrader_metadata(
    grade_id: str, *, solution: bool = False, points: float | None = None, **more: Any
) -> dict[str, Any]:
    """The facts of a solution cell, of a check that gives `points`, or of an answer marked by hand.

    more: facts that differ from the usual, or are known beyond them; None leaves one out.
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


def grade_id_of(cell: dict) -> str | None:
    """The name that nbgrader knows the cell by, if it knows the cell."""
    match cell:
        case {"metadata": {"nbgrader": {"grade_id": str(grade_id)}}}:
            return grade_id
    return None
