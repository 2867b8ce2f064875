"""What a learner calls: `check`, `hint`, `failing_case`, `give_up`, `predict` and `progress`.

Notebooks also import `made_for` from here.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import EllipsisType

from IPython import get_ipython
from IPython.display import display

from autograder.asking.learners_code import exercise_name, names_beside, names_used
from autograder.asking.surroundings import usual_settings
from autograder.errors import CheckFailed, CourseError, NotAnsweredYet, NotChecked
from autograder.judging.card import headline, note_card, verdict_card
from autograder.judging.judge import blame, unfinished, verdict_given_up
from autograder.judging.verdict import Verdict
from autograder.notebook.ask_and_judge import judge_answer
from autograder.notebook.cards import (
    Progress,
    hint_card,
    link,
    prediction_card,
    progress_card,
    solution_card,
)
from autograder.notebook.contracts import belongs, made_for, require_fit
from autograder.notebook.course_solution import course_solution, solution_text
from autograder.notebook.failing_case import FailingCase
from autograder.notebook.history import history, watch
from autograder.notebook.on_screen import not_on_screen
from autograder.notebook.records import Record, keep_record, read_records, record_of
from autograder.references import store
from autograder.references.store import LessonReference

__all__ = [
    "ask_for_review",
    "check",
    "failing_case",
    "give_up",
    "hint",
    "made_for",
    "predict",
    "progress",
]

watch(get_ipython())  # so a notebook is watched from its imports on

_verdicts: dict[str, Verdict] = {}
_course_solutions: dict[str, Callable] = {}  # by exercise, of those given up


def check(answer: Callable) -> None:
    """Check the function or class that you wrote for an exercise, and show what is right.

    Raises CheckFailed unless it earns all points or was given up, NotAnsweredYet for an exercise
    (not a challenge) with the stub, NotChecked if the cell of the answer has failed since, and
    CourseError if `answer` is not an exercise, or not the one that is installed.
    """
    name = exercise_name(answer, store.exercises())
    reference = _reference(name)
    _require_on_screen(name)
    with usual_settings():
        verdict = _verdict(answer, name, reference)
        if not verdict.answered and record_of(name).given_up:  # in an earlier kernel
            return give_up(name)
        if not verdict.passed:
            verdict = blame(verdict, _unfinished(answer, name, reference))
    _verdicts[name] = verdict
    done = replace(record_of(name), points=verdict.points, most=verdict.max_points)
    keep_record(name, replace(done, given_up=verdict.given_up))
    display(verdict_card(verdict, _go_on(answer, verdict, reference)))
    if not verdict.answered:
        if not verdict.challenge:
            raise NotAnsweredYet(headline(verdict))
    elif not verdict.finished:
        raise CheckFailed(f"{headline(verdict)}. {_told(verdict.sentence)}")


def hint(exercise: Callable | str | None = None) -> None:
    """Show the next hint for an exercise, given by name or as the function itself.

    Raises CourseError if there is no such exercise.
    """
    name = _name(exercise, "hint")
    key, record = _reference(name).keys[name], record_of(name)
    seen = min(record.hints + 1, len(key.hints))
    keep_record(name, replace(record, hints=seen))
    display(hint_card(name, key.hints, seen, points=not key.challenge))


def failing_case(exercise: Callable | str) -> FailingCase | None:
    """Return the case that failed in the last check of an exercise, to try it again.

    If there is none, say so. An error would stop a run of all cells once the exercise is solved.
    """
    name = _name(exercise, "failing_case")
    verdict = _verdicts.get(name)
    if verdict is None or verdict.exhibit is None:
        sentence = f"Run `check({name})` first. If it fails a case, this brings that case back."
        display(note_card(f"{name}: no failing case", sentence))
        return None
    reference, number = store.find(name), verdict.exhibit.case
    question, case = reference.questions[name], reference.keys[name].cases[number]
    return FailingCase(question, question.calls[number], case.sizes, verdict.exhibit)


def give_up(exercise: Callable | str) -> None:
    """Use the course's solution of an exercise in the rest of the notebook; it earns no points.

    Raises CourseError before the last hint, and where the course's solutions are not installed.
    """
    name = _name(exercise, "give_up")
    reference = _reference(name)
    record, hints = record_of(name), len(reference.keys[name].hints)
    if record.hints < hints and not record.given_up:
        left = hints - record.hints
        raise CourseError(f"There are still hints ({left} left): run hint({name!r}) first.")
    _course_solutions[name] = solution = course_solution(name, reference.lesson)
    sys.modules["__main__"].__dict__[name] = solution
    keep_record(name, replace(record, points=0, most=reference.keys[name].points, given_up=True))
    _verdicts[name] = verdict = verdict_given_up(reference.keys[name])
    display(solution_card(verdict, solution_text(name, reference.lesson)))


def predict(name: str, answer: str | float | EllipsisType = ...) -> None:
    """Show the choices of a prediction, or what is true and what speaks against your answer.

    answer: the letter of a choice, or a number.
    Raises CourseError if there is no such prediction, or if the answer isn't a valid one.
    """
    if not isinstance(name, str):
        raise CourseError(
            '`predict` takes the name of a prediction first: predict("slope", 2), say.'
        )
    prediction = store.find_prediction(name)
    if answer is not ...:
        right = prediction.is_right(answer)
        keep_record(_record_name(name), Record(points=int(right), most=1))
    display(prediction_card(prediction, answer))


def ask_for_review(exercise: Callable | str, why: str) -> None:
    """Ask your instructor to look at an exercise again, and say why.

    The call itself is the request: hand in the notebook with it. Raises CourseError if there is no
    such exercise, or no reason.
    """
    name = _name(exercise, "ask_for_review")
    store.find(name)
    if not isinstance(why, str) or not why.strip():
        raise CourseError(f'Say why, in a sentence or two: ask_for_review("{name}", "…").')
    sentence = "Your instructor sees this beside your answer, once you hand in the notebook."
    display(note_card(f"{name}: you ask for another look", sentence))


def progress() -> None:
    """Show the points earned so far, in this notebook and in the rest of the course."""
    records = read_records()
    here = {verdict.lesson for verdict in _verdicts.values()}
    lessons = {
        lesson: [_progress(name, entry, records) for name, entry in entries.items()]
        for lesson, entries in store.entries_by_lesson().items()
    }
    predicted = {
        lesson: [records.get(_record_name(name), Record()).points for name in names]
        for lesson, names in store.predictions_by_lesson().items()
    }
    links = {name: link(title, _address(name)) for name, title in store.titles().items()}
    display(progress_card(lessons, predicted, here, links))


def _address(lesson: str) -> str:
    """Return the way from this notebook to a lesson's, which lies beside it or below; "" if not."""
    path = f"{lesson}/{lesson}.ipynb"
    return next((way for way in (path, f"../{path}") if Path(way).exists()), "")


def _record_name(prediction: str) -> str:
    return f"predict {prediction}"


def _reference(exercise: str) -> LessonReference:
    """Find the lesson of an exercise. Raises CourseError, also if the notebook's one differs."""
    require_fit(exercise)
    return store.find(exercise)


def _go_on(answer: Callable, verdict: Verdict, reference: LessonReference) -> str:
    """Say what a right answer has built, and where the help for a wrong one is."""
    name, names = verdict.exercise, [*reference.keys]
    if verdict.given_up or not verdict.answered or verdict.blamed_on:
        return ""
    if verdict.passed:
        built = (answer.__doc__ or "").strip().partition("\n")[0]
        later = names[names.index(name) + 1 :]
        last = "That was the lesson's last exercise. `progress()` leads on."
        after = f"Next: `{later[0]}`." if later else last
        return f"You've just built this: {built} {after}" if built else after
    left = len(reference.keys[name].hints) - record_of(name).hints
    ways = [
        f'`hint("{name}")` helps ({left} left)' if left else f'`give_up("{name}")` helps you on'
    ]
    if verdict.exhibit and not verdict.exhibit.hidden:
        ways.append(f'`failing_case("{name}")` gives you this case, to try it again')
    return f"Stuck? In a new cell, {'; '.join(ways)}."


def _require_on_screen(name: str) -> None:
    """Show why an answer can't be the one on the screen, and raise NotChecked; or do nothing."""
    kept = history()
    if kept and (reason := not_on_screen(kept, name)):
        title = f"{name}: not checked"
        display(note_card(title, reason))
        raise NotChecked(f"{title}. {_told(reason)}")


def _told(sentence: str) -> str:
    """Return what follows a headline. nbgrader's Validate shows this line but no card."""
    return sentence if "NBGRADER_VALIDATING" in os.environ else "See the card above."


def _name(exercise: Callable | str | None, caller: str) -> str:
    if isinstance(exercise, str):
        return exercise
    return exercise_name(exercise, store.exercises(), caller)


def _verdict(answer: Callable, name: str, reference: LessonReference) -> Verdict:
    if answer is _course_solutions.get(name):
        return verdict_given_up(reference.keys[name])
    return judge_answer(answer, reference.questions[name], reference.keys[name])


def _unfinished(answer: Callable, name: str, reference: LessonReference) -> list[str]:
    """List the exercises that this answer uses but that are not right yet in this notebook."""
    beside = names_beside(answer)

    def is_finished(other: str) -> bool:
        return other in beside and _verdict(beside[other], other, reference).finished

    used = {*filter(belongs, names_used(answer))}
    return unfinished(reference.keys, name, used, is_finished)


def _progress(name: str, entry: store.IndexEntry, records: dict[str, Record]) -> Progress:
    """Return a learner's progress on an exercise; none if its points have changed since."""
    record = records.get(name, Record())
    if record.most != entry.points:
        return Progress(name, None, entry.points, challenge=entry.challenge)
    return Progress(name, record.points, entry.points, record.given_up, entry.challenge)
