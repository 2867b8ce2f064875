"""Whether a notebook and the installed checks belong together.

A released notebook states a digest of what each of its exercises asks for (`building/contract.py`),
and so do the references. An exercise in which they differ can't be checked; the others can.
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

_stated: dict[str, set[str]] = {}  # by lesson, in this kernel's notebook


def made_for(lesson: str = "", contracts: str = "", **older: str) -> None:
    """State what a notebook's exercises ask for; print a warning if the installed checks differ.

    contracts: a digest for each exercise of the lesson, joined by "-".
    older: the arguments that older notebooks give; no installed checks fit those notebooks.
    """
    if older:
        print(f"{_installed()} do not fit this notebook. {REMEDY}")
        return
    _stated[lesson] = {*contracts.split("-")}
    if not _fits(lesson):
        others = [exercise for exercise in _known(lesson) if not belongs(exercise)]
        which = f"this notebook's {in_backticks(others)}" if others else "all of this notebook"
        print(
            f"{_installed()} do not fit {which}. {REMEDY} "
            "Until then, only its other exercises can be checked."
        )


def belongs(exercise: str) -> bool:
    """Whether the installed checks are those that the notebook's exercise was made for."""
    for lesson in store.exercises_by_lesson():
        if contract := _known(lesson).get(exercise):
            return lesson not in _stated or contract in _stated[lesson] or _fits(lesson)
    return all(map(_fits, _stated))


def require_fit(exercise: str) -> None:
    """Raise CourseError unless the installed checks fit the notebook's exercise."""
    if not belongs(exercise):
        raise CourseError(
            f"{_installed()} are not for this notebook's version of `{exercise}`. {REMEDY}"
        )


def _fits(lesson: str) -> bool:
    """Whether the checks know every version of a lesson's exercises that the notebook states."""
    return _stated[lesson] <= {*_known(lesson).values()}


def _known(lesson: str) -> dict[str, str]:
    """Return the contracts of a lesson's exercises in the references, by exercise."""
    entries = store.entries_by_lesson().get(lesson, {})
    return {name: entry.contract for name, entry in entries.items()}


def _installed() -> str:
    try:
        return f"The installed checks ({DISTRIBUTION} {version(DISTRIBUTION)})"
    except PackageNotFoundError:
        return "The checks in use"
