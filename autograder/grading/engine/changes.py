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
    after = {name: points for result in graded for name, points in result.points.by_name.items()}
    cells = {cell.name: cell for cell in _cells(known, after)}
    judged = tuple(replace(cell, judged=after.get(name)) for name, cell in cells.items())
    in_time = replace(known, cells=judged).with_adjustments(adjustments).before_penalty
    penalty = late(in_time) if late else known.penalty
    if not known.cells:
        return _new(graded, [*after.values()], penalty)
    told = [_change(cells[name], points, name in same) for name, points in after.items()]
    if penalty != known.penalty:
        told.append(f"late penalty {_count(known.penalty)} → {_count(penalty)}")
    total, before = max(0.0, in_time - penalty), known.with_adjustments(adjustments).points
    if total != before:
        told.append(f"in all {_count(before)} → {_count(total)}")
    return ", ".join(filter(None, told))


def _new(graded: Iterable[Graded], points: Collection[float | None], penalty: float) -> str:
    """Say what a first grade would be."""
    if why := "; ".join(result.reason for result in graded if result.reason):
        return f"new: not graded: {why}"
    by_person = [*points].count(None)
    told = [count(sum(filter(None, points)), "point")]
    told += [f"{penalty:g} off for lateness"] if penalty else []
    told += [f"{by_person} to grade by hand"] if by_person else []
    return f"new: {', '.join(told)}"


def _cells(known: Grade, names: Iterable[str]) -> Iterator[CellGrade]:
    """Yield the known cells, and an empty one for each other name."""
    yield from known.cells
    for name in names:
        if name not in known.by_name:
            yield CellGrade(name, 0.0, None, None)


def _change(cell: CellGrade, after: float | None, same: bool) -> str:
    """Say what would change in a cell; "" if nothing would."""
    changed = "" if cell.judged == after else f" {_count(cell.judged)} → {_count(after)}"
    if cell.by_hand is None:
        return f"{cell.name}{changed}" if changed else ""
    if same and not changed:
        return ""
    return f"{cell.name}{changed} ({_count(cell.by_hand)} by hand, to be looked at again)"


def _count(points: float | None) -> str:
    return "none" if points is None else f"{points:g}"
