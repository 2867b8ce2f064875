"""What a learner calls: `check`, `hint`, `failing_case` and `progress`."""

import os
from collections.abc import Callable
from typing import Any

from IPython.display import display

from autograder.ask_and_judge import judge_answer
from autograder.asking.arguments import make_all
from autograder.asking.written import exercise_name, names_used, written_function
from autograder.errors import CheckFailed, CourseError, NotAnsweredYet
from autograder.judging.card import headline, hint_card, progress_card, verdict_card
from autograder.judging.judge import blame
from autograder.judging.verdict import Verdict
from autograder.references import store
from autograder.references.store import LessonReference

_verdicts: dict[str, Verdict] = {}
_hints_seen: dict[str, int] = {}


def check(answer: Callable) -> None:
    """Check the function or class that you wrote for an exercise, and show what is right.

    Raises CheckFailed (NotAnsweredYet for the stub) unless it earns all points, and CourseError
    if `answer` is not an exercise.
    """
    name = exercise_name(answer)
    reference = store.find(name)
    verdict = blame(_verdict(answer, name, reference), _unfinished(answer, name, reference))
    _verdicts[name] = verdict
    display(verdict_card(verdict))
    if not verdict.answered:
        raise NotAnsweredYet(headline(verdict))
    if not verdict.passed:
        # nbgrader's Validate shows this line but no card.
        told = verdict.sentence if "NBGRADER_VALIDATING" in os.environ else "See the card above."
        raise CheckFailed(f"{headline(verdict)}. {told}")


def hint(exercise: Callable | str | None = None) -> None:
    """Show the next hint for an exercise, given by name or as the function itself.

    Raises CourseError if there is no such exercise.
    """
    name = exercise if isinstance(exercise, str) else exercise_name(exercise, "hint")
    hints = store.find(name).keys[name].hints
    _hints_seen[name] = min(_hints_seen.get(name, 0) + 1, len(hints))
    display(hint_card(name, hints, _hints_seen[name]))


def failing_case(exercise: Callable | str) -> dict[str, Any]:
    """Return the inputs, by name, that failed in the last check of an exercise.

    Raises CourseError if no check of it has failed in this notebook.
    """
    name = exercise if isinstance(exercise, str) else exercise_name(exercise, "failing_case")
    verdict = _verdicts.get(name)
    if verdict is None or verdict.exhibit is None:
        raise CourseError(f"No case of {name!r} has failed in this notebook.")
    call = store.find(name).questions[name].calls[verdict.exhibit.case]
    return make_all(call.arguments)


def progress() -> None:
    """Show the points earned so far in this notebook, for every lesson checked in it."""
    lessons = list(dict.fromkeys(verdict.lesson for verdict in _verdicts.values()))
    if not lessons:
        raise CourseError("Nothing is checked yet in this notebook. Run a check cell first.")
    names = [name for lesson in lessons for name in store.exercises_by_lesson()[lesson]]
    display(progress_card([_progress_row(name) for name in names]))


def _verdict(answer: Callable, name: str, reference: LessonReference) -> Verdict:
    return judge_answer(answer, reference.questions[name], reference.keys[name])


def _unfinished(answer: Callable, name: str, reference: LessonReference) -> list[str]:
    """List the exercises that this answer uses but that are not right yet in this notebook."""
    beside = getattr(written_function(answer), "__globals__", {})
    used = names_used(answer)
    needed = [other for other in reference.keys[name].builds_on if other in used]
    return [n for n in needed if n not in beside or not _verdict(beside[n], n, reference).passed]


def _progress_row(name: str) -> tuple[str, float | None, float]:
    verdict = _verdicts.get(name)
    most = store.find(name).keys[name].points
    return name, verdict.points if verdict else None, most
