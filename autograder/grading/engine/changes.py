"""What a run would change in the gradebook, in words."""

from collections.abc import Iterable

from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.worker.job import Graded


def changed_points(
    gradebook: Gradebook, assignment: str, student: str, graded: Iterable[Graded]
) -> str:
    """Say which points a learner would have instead of others; "" if all would stay.

    Points that were given by hand stay in any case.
    """
    before, by_hand = _known(gradebook, assignment, student)
    after = {name: points for result in graded for name, points in result.marks.points.items()}
    if not before:
        to_mark = list(after.values()).count(None)
        ending = f", {to_mark} to mark by hand" if to_mark else ""
        return f"new: {_count(sum(filter(None, after.values())))} points{ending}"
    changed = [
        f"{name} {_count(before.get(name))} → {_count(points)}"
        + (f" ({_count(by_hand[name])} by hand stays)" if name in by_hand else "")
        for name, points in after.items()
        if points != before.get(name)
    ]
    return ", ".join(changed)


def _known(
    gradebook: Gradebook, assignment: str, student: str
) -> tuple[dict[str, float | None], dict[str, float]]:
    """Return the judge's points by cell, and those that were given by hand."""
    try:
        notebooks = gradebook.find_submission(assignment, student).notebooks
    except MissingEntry:
        return {}, {}
    grades = [grade for notebook in notebooks for grade in notebook.grades]
    by_hand = {g.name: g.manual_score for g in grades if g.manual_score is not None}
    return {grade.name: grade.auto_score for grade in grades}, by_hand


def _count(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
