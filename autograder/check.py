"""What a learner calls: `check`, `hint` and `progress`.

While a lesson is graded, `check` judges nothing: it hands the answers to the grader, which knows
what they should be (`autograder.hand_in`).
"""

import inspect
from collections.abc import Callable

from IPython.display import display

from autograder import course, hand_in
from autograder.card import headline, hint_card, progress_card, verdict_card
from autograder.collect import collect
from autograder.course import LessonReference
from autograder.errors import CheckFailed, CourseError, NotAnsweredYet
from autograder.judge import blame, judge
from autograder.verdict import Verdict

_verdicts: dict[str, Verdict] = {}
_hints_seen: dict[str, int] = {}


def check(answer: Callable) -> None:
    """Check the function or class that you wrote for an exercise, and show what is right.

    Raises CheckFailed (NotAnsweredYet for the stub) when it does not earn all points, and
    CourseError when `answer` is no exercise.
    """
    name = _exercise_name(answer)
    if hand_in.is_grading():
        hand_in.hand_in(answer, name)
        return
    reference = course.find(name)
    verdict = blame(_verdict(answer, name, reference), _unfinished(answer, name, reference))
    _verdicts[name] = verdict
    display(verdict_card(verdict))
    if not verdict.answered:
        raise NotAnsweredYet(headline(verdict))
    if not verdict.passed:
        raise CheckFailed(f"{headline(verdict)}. {verdict.sentence}")


def hint(exercise: Callable | str) -> None:
    """Show the next hint for an exercise, given by name or as the function itself.

    Raises CourseError when there is no such exercise.
    """
    name = exercise if isinstance(exercise, str) else _exercise_name(exercise)
    hints = course.find(name).keys[name].hints
    _hints_seen[name] = min(_hints_seen.get(name, 0) + 1, len(hints))
    display(hint_card(name, hints, _hints_seen[name]))


def progress() -> None:
    """Show the points earned so far in this notebook, for the lessons that were checked in it."""
    lessons = list(dict.fromkeys(verdict.lesson for verdict in _verdicts.values()))
    if not lessons:
        raise CourseError("Nothing is checked yet in this notebook. Run a check cell first.")
    names = [name for lesson in lessons for name in course.exercises_by_lesson()[lesson]]
    display(progress_card([_progress_row(name) for name in names]))


def _verdict(answer: Callable, name: str, reference: LessonReference) -> Verdict:
    return judge(reference.keys[name], collect(answer, reference.questions[name]))


def _unfinished(answer: Callable, name: str, reference: LessonReference) -> list[str]:
    """The exercises that this one builds on and whose answers, beside it, are not right."""
    beside = getattr(getattr(answer, "forward", answer), "__globals__", {})
    needed = reference.keys[name].builds_on
    return [n for n in needed if n not in beside or not _verdict(beside[n], n, reference).passed]


def _progress_row(name: str) -> tuple[str, float | None, float]:
    verdict = _verdicts.get(name)
    most = course.find(name).keys[name].points
    return name, verdict.points if verdict else None, most


def _exercise_name(answer: object) -> str:
    """The name of the exercise that `answer` answers. Raises CourseError."""
    if isinstance(answer, str):
        raise CourseError(f"`check` takes what you wrote, not its name: check({answer}).")
    if not (inspect.isroutine(answer) or inspect.isclass(answer)):
        raise CourseError(
            "`check` takes the function or class that you wrote for an exercise, such as "
            f"check(softmax); this is {_kind(answer)}."
        )
    return answer.__name__


def _kind(answer: object) -> str:
    return "None" if answer is None else f"a {type(answer).__name__}"
