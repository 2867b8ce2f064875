"""Exercises that a submission gives up: their points are lost, and later ones can still be earned.

A call of `give_up` is found in the notebook's text, because code that runs could hide it. While the
notebook runs, the check of such an exercise is replaced by the course's solution.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from nbformat import NotebookNode

from autograder.lessons.cells import exercise_checked

CALL = re.compile(r"""^[ \t]*give_up\([ \t]*["']?(\w+)["']?[ \t]*\)""", re.MULTILINE)


def given_up(notebook: NotebookNode, exercises: Collection[str]) -> set[str]:
    """Return the exercises for which a code cell calls `give_up`."""
    sources = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    return {name for source in sources for name in CALL.findall(source)} & set(exercises)


@contextmanager
def solutions_for_checks(notebook: NotebookNode, solutions: Mapping[str, str]) -> Iterator[None]:
    """Replace the checks of exercises that were given up by the course's solutions, for the body.

    solutions: their sources, by exercise.
    """
    names = given_up(notebook, solutions)
    checks = [(cell, cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    checks = [(cell, source) for cell, source in checks if exercise_checked(source) in names]
    try:
        for cell, source in checks:
            cell.source = solutions[exercise_checked(source)]
        yield
    finally:
        for cell, source in checks:
            cell.source = source
