"""Restore a submission: keep what the learner wrote, and put nbgrader's cells back as released.

This runs no code and queries no database. `restore` puts each cell of the blueprint in its place,
and `empty_submission` replaces what can't be read. nbgrader's DeduplicateIds, OverwriteKernelspec
and OverwriteCells do part of this, but a broken submission stops the whole run.
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
from autograder.grading.submission.definitions import defined
from autograder.lessons.cells import grade_id_of

WHY_EMPTY = "attention_why_empty"  # in the metadata of the cell with the reason


def restore(notebook: NotebookNode, blueprint: Blueprint) -> NotebookNode:
    """Return the submission with every cell of the blueprint in it exactly once, as released.

    Solution cells keep the learner's source. All other cells become plain ones, which run but do
    not count. The input is not changed, and restoring twice has the same result as restoring once.
    """
    cells = _restore_present(notebook.cells, blueprint)
    cells = _add_missing(cells, blueprint)
    return make_notebook(_move_checks(cells, blueprint))


def absent_answers(notebook: NotebookNode, blueprint: Blueprint) -> list[str]:
    """List the graded cells whose answer has no cell in a submission.

    They were released after it was handed in, or the learner deleted them.
    """
    present = {*map(grade_id_of, notebook.cells)}
    answers = blueprint.solution_before | {c.name: c.name for c in blueprint.cells if c.is_answer}
    return [check for check, answer in answers.items() if answer not in present]


def empty_submission(blueprint: Blueprint, reason: str) -> NotebookNode:
    """Make a notebook with a reason and no answers, in place of one that could not be read."""
    said = f"**This notebook could not be graded**: {joined_text(reason)}"
    told = make_cell("markdown", said, {WHY_EMPTY: True})
    return make_notebook([told, *(_missing(cell) for cell in blueprint.cells)])


def _restore_present(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """Return the submission's cells, with each cell of the blueprint at most once.

    Copies without changes are dropped: a stub left below the answer would undo it.
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
    """Return the index of the submitted cell to use for each cell of the blueprint."""
    copies: dict[str, list[int]] = {}
    for number, cell in enumerate(cells):
        copies.setdefault(grade_id_of(cell), []).append(number)
    return {
        name: max(copies[name], key=lambda number: (_rank(cells[number], expected), number))
        for name, expected in blueprint.by_name.items()
        if name in copies
    }


def _rank(cell: NotebookNode, expected: SourceCell) -> tuple[bool, bool]:
    """Rank a copy of a cell. The highest rank counts; if several have it, the last copy.

    An answer ranks above a stub, and one that runs above one set aside as text. For a locked cell,
    an unchanged copy ranks highest, because learners use the others for their own code.
    """
    if expected.locked:
        return not _says_something(cell, expected), True
    return _says_something(cell, expected), cell.cell_type == expected.cell_type


def _says_something(cell: NotebookNode, expected: SourceCell) -> bool:
    """Whether a cell has anything other than its released source."""
    lines = _lines(cell.source)
    return bool(lines) and lines != _lines(expected.handed_out)


def _lines(source: str) -> list[str]:
    return [line.rstrip() for line in source.strip().splitlines()]


def _add_missing(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """Insert missing cells right before the cell that should follow, as late as is useful.

    By then, an answer in a cell that lost its metadata has run. `_move_checks` adds checks, and
    puts them below such an answer.
    """
    cells, place = list(cells), len(cells)
    for expected in reversed(blueprint.cells):
        names = [*map(grade_id_of, cells)]
        if expected.name in names:
            place = names.index(expected.name)
        elif expected.name not in blueprint.solution_before:
            cells.insert(_below_answer(cells, expected, place), _missing(expected))
    return cells


def _below_answer(cells: list[NotebookNode], expected: SourceCell, place: int) -> int:
    """Return the place for a missing cell, which is below the last one that defines what it should.

    If one above the place does, it stays there.
    """
    names = {*defined(expected.source)} if expected.solution else set()
    codes = [(n, cell.source) for n, cell in enumerate(cells) if cell.cell_type == "code"]
    found = [n for n, source in codes if not names.isdisjoint(defined(source))]
    return found[-1] + 1 if found and found[0] >= place else place


def _move_checks(cells: list[NotebookNode], blueprint: Blueprint) -> list[NotebookNode]:
    """Put every check that is missing or precedes its solution right after the solution."""
    cells = list(cells)
    for name, solution in reversed(blueprint.solution_before.items()):
        names = [*map(grade_id_of, cells)]
        place = names.index(solution)
        if name not in names:
            cells.insert(place + 1, _missing(blueprint.by_name[name]))
        elif names.index(name) < place:
            cells.insert(place, cells.pop(names.index(name)))
    return cells


def _restored(expected: SourceCell, cell: NotebookNode) -> NotebookNode:
    """Make a cell of the blueprint from the submitted one.

    A manually graded cell that was emptied gets its stub back, like a missing one.
    """
    emptied = expected.is_answer and not _says_something(cell, expected)
    source = expected.source if expected.locked or emptied else joined_text(cell.source)
    pictures = pictures_of(cell.get("attachments"))
    return make_cell(expected.cell_type, source, {"nbgrader": expected.metadata}, pictures)


def _missing(expected: SourceCell) -> NotebookNode:
    """Make a cell of the blueprint that was not submitted.

    A manually graded cell gets its stub back, which nbgrader recognizes as no response.
    """
    source = "" if expected.solution and not expected.is_answer else expected.source
    return make_cell(expected.cell_type, source, {"nbgrader": expected.metadata})


def _plain(cell: NotebookNode) -> NotebookNode:
    """Make a cell that nbgrader does not know."""
    tags = tags_of(cell)
    pictures = pictures_of(cell.get("attachments"))
    return make_cell(
        cell.cell_type, joined_text(cell.source), {"tags": tags} if tags else {}, pictures
    )
