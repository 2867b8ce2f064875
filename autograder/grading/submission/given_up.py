"""Exercises that a submission gives up: their points are lost, and later ones can still be earned.

While the notebook runs, the check of such an exercise is replaced by the course's solution.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from nbformat import NotebookNode

from autograder.grading.submission.calls import calls_in, named
from autograder.lessons.cells import exercise_checked

CALLED = "give_up"


def given_up(notebook: NotebookNode, exercises: Collection[str]) -> set[str]:
    """Return the exercises for which a code cell calls `give_up`, in whatever form."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    arguments = (
        [*call.args, *(keyword.value for keyword in call.keywords)]
        for call in calls_in(sources, CALLED)
    )
    return {named(given[0]) for given in arguments if len(given) == 1} & set(exercises)


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
