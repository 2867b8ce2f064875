"""Putting a submission right: what a learner handed in, with nbgrader's cells as released.

Nothing is run and no database is asked. `restore` gives each cell of the blueprint its place, and
`empty_submission` stands in for what can't be read. nbgrader's DeduplicateIds,
OverwriteKernelspec and OverwriteCells do part of this, and stop the whole run where a submission
is broken.
"""

from nbformat import NotebookNode

from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.submission.cells import (
    joined_text,
    make_cell,
    make_notebook,
    pictures_of,
    tags_of,
)
from autograder.lessons.nbgrader_metadata import grade_id_of


def restore(notebook: NotebookNode, blueprint: Blueprint) -> NotebookNode:
    """The submission with every cell of the blueprint in it once, as it was released.

    Of solution cells the source is the learner's. All other cells are plain ones: they run, and
    count for nothing. The input is not changed; restoring twice is restoring once.
    """
    cells = _restore_present(notebook.cells, blueprint)
    cells = _add_missing(cells, blueprint)
    return make_notebook(_move_checks(cells, blueprint))


def empty_submission(blueprint: Blueprint, reason: str) -> NotebookNode:
    """What stands in for a notebook that could not be read: the reason, and no answers."""
    told = make_cell("markdown", f"**This notebook could not be graded**: {joined_text(reason)}")
    return make_notebook([told, *(_missing(cell) for cell in blueprint.cells)])


def _restore_present(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """The cells of the submission, where each of the blueprint's occurs at most once.

    Copies that say nothing of their own are left out: a stub that a learner left under the answer
    would undo it.
    """
    carriers, restored = _carriers(cells, blueprint), []
    for number, cell in enumerate(cells):
        expected = blueprint.by_name.get(grade_id_of(cell))
        if expected and carriers[expected.name] == number:
            restored.append(_restored(expected, cell))
        elif not expected or _says_something(cell, expected):
            restored.append(_plain(cell))
    return restored


def _carriers(cells: list[NotebookNode], blueprint: Blueprint) -> dict[str, int]:
    """For each cell of the blueprint the number of the submitted cell that is taken for it."""
    copies: dict[str, list[int]] = {}
    for number, cell in enumerate(cells):
        copies.setdefault(grade_id_of(cell), []).append(number)
    return {
        name: max(copies[name], key=lambda number: (_rank(cells[number], expected), number))
        for name, expected in blueprint.by_name.items()
        if name in copies
    }


def _rank(cell: NotebookNode, expected: SourceCell) -> tuple[bool, bool]:
    """Which copy is meant, the higher the better; of equal ones the last.

    That is an answer rather than a stub, one that runs rather than one laid aside as text. Of
    locked cells it is the copy that was left alone: the others are used as cells of one's own.
    """
    if expected.locked:
        return not _says_something(cell, expected), True
    return _says_something(cell, expected), cell.cell_type == expected.cell_type


def _says_something(cell: NotebookNode, expected: SourceCell) -> bool:
    """Whether a cell holds anything else than what was released."""
    lines = _lines(cell.source)
    return bool(lines) and lines != _lines(expected.source)


def _lines(source: str) -> list[str]:
    return [line.rstrip() for line in source.strip().splitlines()]


def _add_missing(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """Missing cells come back before the one that should follow, as late as they are of use.

    So an answer in a cell without its metadata has run. Checks are left to `_move_checks`.
    """
    cells, place = list(cells), len(cells)
    for expected in reversed(blueprint.cells):
        found = _find(cells, expected.name)
        if found is not None:
            place = found
        elif expected.name not in blueprint.solution_before:
            cells.insert(place, _missing(expected))
    return cells


def _move_checks(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """A check that is missing, or stands before its solution, comes right behind the solution."""
    cells = list(cells)
    for name, solution in reversed(blueprint.solution_before.items()):
        found, place = _find(cells, name), _find(cells, solution)
        if found is None:
            cells.insert(place + 1, _missing(blueprint.by_name[name]))
        elif found < place:
            cells.insert(place, cells.pop(found))
    return cells


def _find(cells: list[NotebookNode], name: str) -> int | None:
    return next((i for i, cell in enumerate(cells) if grade_id_of(cell) == name), None)


def _restored(expected: SourceCell, cell: NotebookNode) -> NotebookNode:
    """A cell of the blueprint in place of the submitted one."""
    source = expected.source if expected.locked else joined_text(cell.source)
    pictures = pictures_of(cell.get("attachments"))
    return make_cell(expected.cell_type, source, {"nbgrader": expected.metadata}, pictures)


def _missing(expected: SourceCell) -> NotebookNode:
    """A cell of the blueprint of which nothing was submitted.

    A cell that people grade gets its stub back: by that nbgrader knows that there is no response.
    """
    source = "" if expected.solution and not expected.grade else expected.source
    return make_cell(expected.cell_type, source, {"nbgrader": expected.metadata})


def _plain(cell: NotebookNode) -> NotebookNode:
    """A cell that nbgrader does not know."""
    tags = tags_of(cell)
    pictures = pictures_of(cell.get("attachments"))
    return make_cell(
        cell.cell_type, joined_text(cell.source), {"tags": tags} if tags else {}, pictures
    )
