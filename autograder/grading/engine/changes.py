"""What a run would change in the gradebook, in words."""

from collections.abc import Callable, Collection, Container

from nbgrader.api import Gradebook, MissingEntry

from autograder.grading.worker.job import Graded


def changed_points(
    gradebook: Gradebook,
    assignment: str,
    student: str,
    graded: Collection[Graded],
    same: Container[str] = (),
    late: Callable[[float], float] | None = None,
) -> str:
    """Say which points a learner would have instead of others; "" if all would stay.

    Points that were given by hand stay in any case. same: the cells in which a person marks what it
    was before. late: what lateness takes off a score.
    """
    before, by_hand, extra, lost = _known(gradebook, assignment, student)
    after = {name: points for result in graded for name, points in result.points.by_name.items()}
    score = sum(filter(None, (after | by_hand).values())) + extra
    losing = late(score) if late else lost
    if not before:
        to_mark = list(after.values()).count(None)
        ending = f", {losing:g} off for lateness" if losing else ""
        ending += f", {to_mark} to grade by hand" if to_mark else ""
        why = "; ".join(result.reason for result in graded if result.reason)
        points = _count(sum(filter(None, after.values())))
        return f"new: not graded: {why}" if why else f"new: {points} points{ending}"
    told = (
        _change(name, before.get(name), points, by_hand.get(name), name in same)
        for name, points in after.items()
    )
    changed = list(filter(None, told))
    if losing != lost:
        changed.append(f"late penalty {_count(lost)} → {_count(losing)}")
    return ", ".join(changed)


def _change(
    name: str, before: float | None, after: float | None, by_hand: float | None, same: bool
) -> str:
    """Say what would change in a cell; "" if nothing."""
    changed = "" if before == after else f" {_count(before)} → {_count(after)}"
    if by_hand is None:
        return f"{name}{changed}" if changed else ""
    settled = same and not changed
    return "" if settled else f"{name}{changed} ({_count(by_hand)} by hand, to be looked at again)"


def _known(
    gradebook: Gradebook, assignment: str, student: str
) -> tuple[dict[str, float | None], dict[str, float], float, float]:
    """Return the judge's points by cell, those given by hand, extra credit, and lateness's cost."""
    try:
        notebooks = gradebook.find_submission(assignment, student).notebooks
    except MissingEntry:
        return {}, {}, 0.0, 0.0
    grades = [grade for notebook in notebooks for grade in notebook.grades]
    by_hand = {g.name: g.manual_score for g in grades if g.manual_score is not None}
    extra = sum(grade.extra_credit or 0.0 for grade in grades)
    lost = sum(notebook.late_submission_penalty or 0.0 for notebook in notebooks)
    return {grade.name: grade.auto_score for grade in grades}, by_hand, extra, lost


def _count(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
