"""What a run would change in the gradebook, in words."""

from collections.abc import Callable, Collection

from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.worker.job import Graded


def changed_points(
    gradebook: Gradebook,
    assignment: str,
    student: str,
    graded: Collection[Graded],
    late: Callable[[float], float] | None = None,
) -> str:
    """Say which points a learner would have instead of others; "" if all would stay.

    Points that were given by hand stay in any case. late: what lateness takes off a score.
    """
    before, by_hand, lost = _known(gradebook, assignment, student)
    after = {name: points for result in graded for name, points in result.marks.points.items()}
    losing = late(sum(filter(None, (after | by_hand).values()))) if late else lost
    if not before:
        to_mark = list(after.values()).count(None)
        ending = f", {losing:g} off for lateness" if losing else ""
        ending += f", {to_mark} to mark by hand" if to_mark else ""
        why = "; ".join(result.reason for result in graded if result.reason)
        points = _count(sum(filter(None, after.values())))
        return f"new: not graded: {why}" if why else f"new: {points} points{ending}"
    changed = [
        f"{name} {_count(before.get(name))} → {_count(points)}"
        + (f" ({_count(by_hand[name])} by hand stays)" if name in by_hand else "")
        for name, points in after.items()
        if points != before.get(name)
    ]
    if losing != lost:
        changed.append(f"late penalty {_count(lost)} → {_count(losing)}")
    return ", ".join(changed)


def _known(
    gradebook: Gradebook, assignment: str, student: str
) -> tuple[dict[str, float | None], dict[str, float], float]:
    """Return the judge's points by cell, those given by hand, and what lateness took off."""
    try:
        notebooks = gradebook.find_submission(assignment, student).notebooks
    except MissingEntry:
        return {}, {}, 0.0
    grades = [grade for notebook in notebooks for grade in notebook.grades]
    by_hand = {g.name: g.manual_score for g in grades if g.manual_score is not None}
    lost = sum(notebook.late_submission_penalty or 0.0 for notebook in notebooks)
    return {grade.name: grade.auto_score for grade in grades}, by_hand, lost


def _count(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
