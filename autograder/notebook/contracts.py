"""Whether a notebook and the installed checks belong together.

A released notebook states a digest of what each of its exercises asks for (`building/contract.py`),
and so do the references. An exercise of which they differ can't be checked; the others can.
"""

from importlib.metadata import PackageNotFoundError, version

from autograder.errors import CourseError
from autograder.judging.code_marks import in_backticks
from autograder.references import store

DISTRIBUTION = "attention-from-scratch"
REMEDY = (
    "Install the checks that belong to the notebook (`%pip install` and the course's wheel) and "
    "restart the kernel, or get the notebook anew and copy your answers into it."
)

_stated: dict[str, str] = {}  # by exercise, in this kernel's notebook


def made_for(**contracts: str) -> None:
    """State which version of each exercise this notebook has; say so if the checks have others."""
    _stated.update(contracts)
    others = [exercise for exercise in contracts if not belongs(exercise)]
    if others:
        print(
            f"{_installed()} do not fit this notebook's {in_backticks(others)}. {REMEDY} "
            "Until then, only its other exercises can be checked."
        )


def belongs(exercise: str) -> bool:
    """Whether the installed checks are those that the notebook's exercise was made for."""
    return exercise not in _stated or _stated[exercise] == _known(exercise)


def require_fit(exercise: str) -> None:
    """Raise CourseError unless the installed checks fit the notebook's exercise."""
    if not belongs(exercise):
        known = _known(exercise)
        theirs = f"are for version {known} of it" if known else "don't know it"
        raise CourseError(
            f"This notebook has version {_stated[exercise]} of `{exercise}`. {_installed()} "
            f"{theirs}. {REMEDY}"
        )


def _known(exercise: str) -> str:
    """Return the contract of an exercise in the references; "" if they lack it."""
    for names in store.exercises_by_lesson().values():
        if exercise in names:
            return store.find(exercise).questions[exercise].contract
    return ""


def _installed() -> str:
    try:
        return f"The installed checks ({DISTRIBUTION} {version(DISTRIBUTION)})"
    except PackageNotFoundError:
        return "The checks in use"
