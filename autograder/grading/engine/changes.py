"""What a run would change in the gradebook, in words."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from autograder.grading.gradebook.grades import CellGrade, Grade
from autograder.grading.worker.job import Graded
from autograder.judging.code_marks import count


def changed_points(
    known: Grade,
    graded: Collection[Graded],
    same: Container[str],
    late: Callable[[float], float] | None,
    adjustments: Mapping[str, float | None],
) -> str:
    """Say how a learner's points would change; "" if they would not.

    Points given by hand never change.

    known: the grade so far.
    same: the cells for which points given by hand are still valid.
    late: returns the late penalty for a sum of points.
    adjustments: what adjustments.csv gives, by cell.
    """
    before = {cell.name: cell.judged for cell in known.cells}
    by_hand = {cell.name: cell.by_hand for cell in known.cells if cell.by_hand is not None}
    lost = known.penalty
    after = {name: points for result in graded for name, points in result.points.by_name.items()}
    new = [replace(cell, judged=after.get(cell.name)) for cell in _cells(known, after)]
    points = replace(known, cells=tuple(new)).with_adjustments(adjustments).before_penalty
    losing = late(points) if late else lost
    total = max(0.0, points - losing)
    if not before:
        by_person = list(after.values()).count(None)
        ending = f", {losing:g} off for lateness" if losing else ""
        ending += f", {by_person} to grade by hand" if by_person else ""
        why = "; ".join(result.reason for result in graded if result.reason)
        given = count(sum(filter(None, after.values())), "point")
        return f"new: not graded: {why}" if why else f"new: {given}{ending}"
    told = (
        _change(name, before.get(name), points, by_hand.get(name), name in same)
        for name, points in after.items()
    )
    changed = list(filter(None, told))
    if losing != lost:
        changed.append(f"late penalty {_count(lost)} → {_count(losing)}")
    if total != (before_all := known.with_adjustments(adjustments).points):
        changed.append(f"in all {_count(before_all)} → {_count(total)}")
    return ", ".join(changed)


def _cells(known: Grade, names: Iterable[str]) -> Iterator[CellGrade]:
    """Yield the known cells, and an empty one for each other name."""
    yield from known.cells
    for name in names:
        if name not in known.by_name:
            yield CellGrade(name, 0.0, None, None)


def _change(
    name: str, before: float | None, after: float | None, by_hand: float | None, same: bool
) -> str:
    """Say what would change in a cell; "" if nothing would."""
    changed = "" if before == after else f" {_count(before)} → {_count(after)}"
    if by_hand is None:
        return f"{name}{changed}" if changed else ""
    settled = same and not changed
    return "" if settled else f"{name}{changed} ({_count(by_hand)} by hand, to be looked at again)"


def _count(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
