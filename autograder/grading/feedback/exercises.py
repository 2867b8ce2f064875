"""The exercises of a graded notebook: points, state, and the sentence that names the mistake."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.gradebook.notebook_facts import Facts, Score
from autograder.grading.pages.filters import number
from autograder.grading.pages.notebook import Cell
from autograder.grading.pages.untrusted import LONGEST_NAME, checked_verdict, visible
from autograder.grading.worker.job import NOT_RUN, VERDICT
from autograder.lessons.lesson import exercise_checked
from autograder.lessons.written_questions import asked_in

MADE_UP_NAME = re.compile(r"cell-[0-9a-f]{8,}")  # by nbgrader, for a cell without a name
# What grades an answer: a check of the course, an instructor's own test, or a person, who reads an
# answer or looks at what was done for a task.
CHECK, TEST, WRITTEN, TASK = "check", "test", "written", "task"
DAMAGED = "What the check found can't be read here."


@dataclass(frozen=True)
class State:
    """How an exercise went, for the eye and in words. name: its class in `page.css`."""

    name: str
    sign: str
    words: str


ALL = State("all", "✓", "all points")
SOME = State("some", "◐", "some points")
NONE = State("none", "✗", "no points")
UNANSWERED = State("unanswered", "○", "not answered")
WAITING = State("waiting", "…", "not graded yet")
WITHOUT_POINTS = State("without-points", "–", "without points")


@dataclass(frozen=True)
class Exercise:
    """One graded cell, with the solution cells that it grades.

    title: its name; is_code: whether that is a name in code.
    kind: CHECK, TEST, WRITTEN or TASK.
    judged: whether the answer was run and judged, as far as it is code.
    sentence: what is wrong; notes: what the instructor changed. Backticks mark code in both.
    solutions: the cells before `graded` that belong to it, such as the question.
    """

    title: str
    is_code: bool
    kind: str
    score: Score
    state: State
    graded: Cell
    judged: bool = True
    solutions: tuple[Cell, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        return *self.solutions, self.graded

    @property
    def remarks(self) -> list[str]:
        """The sentence, if it says more than the state, and the notes."""
        says_more = self.sentence and self.state != UNANSWERED
        return [self.sentence, *self.notes] if says_more else [*self.notes]


def find_exercises(cells: Iterable[Cell], facts: Facts, order: Sequence[str]) -> list[Exercise]:
    """Find the exercises, in the order of the lesson.

    order: the names of nbgrader's cells in the source; a cell that is not in it comes last.
    """
    questions = {asked_in(name) for name in facts.scores}
    found: list[Exercise] = []
    solutions: list[Cell] = []
    for cell in _in_order(cells, facts, order):
        if cell.name in facts.scores:
            found.append(_exercise(cell, tuple(solutions), facts, len(found) + 1))
            solutions = []
        elif cell.is_a("solution") or cell.name in questions:
            solutions.append(cell)
    return found


def _in_order(cells: Iterable[Cell], facts: Facts, order: Sequence[str]) -> list[Cell]:
    """Return nbgrader's cells in lesson order, with an empty one where a graded one is missing."""
    by_name: dict[str, Cell] = {}
    for cell in cells:
        if cell.name:
            by_name.setdefault(cell.name, cell)
    missing = {name: Cell(0, "code", "", name) for name in facts.scores if name not in by_name}
    places = {name: place for place, name in enumerate(order)}
    named = [*by_name.values(), *missing.values()]
    return sorted(named, key=lambda cell: places.get(cell.name, len(places)))


def _exercise(cell: Cell, solutions: tuple[Cell, ...], facts: Facts, number: int) -> Exercise:
    verdict, score, kind = verdict_of(cell), facts.scores[cell.name], _kind(cell)
    cells = (*solutions, cell)
    state = _state(score, _is_answered(verdict, cells, facts))
    title, is_code = _title(cell, verdict, kind, number)
    return Exercise(
        title=title,
        is_code=is_code,
        kind=kind,
        score=score,
        state=state,
        graded=cell,
        judged=verdict.get("graded", True) if verdict else not _not_run(cell),
        solutions=solutions,
        sentence=_sentence(cell, verdict, kind, state),
        notes=tuple(_notes(score, kind)),
        comments=tuple(facts.comments[one.name] for one in cells if one.name in facts.comments),
    )


def _kind(cell: Cell) -> str:
    if cell.is_a("task"):
        return TASK
    if cell.is_a("solution"):
        return WRITTEN
    return CHECK if VERDICT in cell.metadata or exercise_checked(cell.source) else TEST


def verdict_of(cell: Cell) -> dict[str, Any] | None:
    """Return the verdict in a cell's metadata; {} if it is damaged, None if there is none."""
    if VERDICT not in cell.metadata:
        return None
    try:
        return checked_verdict(cell.metadata[VERDICT])
    except ValueError:
        return {}


def _title(cell: Cell, verdict: dict[str, Any] | None, kind: str, number: int) -> tuple[str, bool]:
    """Return an exercise's name, and whether it is one in code."""
    if kind == CHECK and (name := (verdict or {}).get("exercise") or exercise_checked(cell.source)):
        return visible(name, LONGEST_NAME), True
    if MADE_UP_NAME.fullmatch(cell.name):
        return f"Part {number}", False
    return visible(cell.name, LONGEST_NAME), True


def _is_answered(verdict: dict[str, Any] | None, cells: Sequence[Cell], facts: Facts) -> bool:
    if verdict:
        return verdict["answered"]
    answers = [cell.name for cell in cells if cell.is_a("solution")]
    return not answers or not set(answers) <= set(facts.untouched)


def _state(score: Score, answered: bool) -> State:
    if score.points is None:
        return WAITING
    if score.points > 0:
        return ALL if score.points >= score.most else SOME
    if not answered:
        return UNANSWERED
    return NONE if score.most else WITHOUT_POINTS


def _sentence(cell: Cell, verdict: dict[str, Any] | None, kind: str, state: State) -> str:
    if verdict is not None:
        return verdict.get("sentence", DAMAGED)
    if kind in (CHECK, TEST):
        return _failure(cell)
    return "Your instructor grades this one." if state == WAITING else ""


def _failure(cell: Cell) -> str:
    """Say how an instructor's own test failed; "" if it did not."""
    errors = [output for output in cell.outputs if output.get("output_type") == "error"]
    if not errors:
        return ""
    name, value = (_without_marks(errors[0].get(part)) for part in ("ename", "evalue"))
    if name == NOT_RUN:
        return f"The notebook stopped before this test. {value}".strip()
    return f"The test stopped with `{name}`" + (f": {value}" if value else ".")


def _not_run(cell: Cell) -> bool:
    return any(output.get("ename") == NOT_RUN for output in cell.outputs)


def _without_marks(value: object) -> str:
    """Return a text in which no backtick marks code."""
    return visible(value).replace("`", "'") if isinstance(value, str) else ""


def _notes(score: Score, kind: str) -> Iterator[str]:
    """Say where the points are not the check's."""
    if kind in (CHECK, TEST) and score.manual not in (None, score.auto):
        check = "" if score.auto is None else f"; the check gave {number(score.auto)}"
        yield f"Your instructor gave {points_of(score.manual, score.most)}{check}."
    if score.waits and score.points is not None:
        yield "Your instructor will look at it again."
    if score.extra > 0:
        yield f"Your instructor added {count(score.extra)} of extra credit."
    if score.extra < 0:
        yield f"Your instructor took {count(-score.extra)} off."


def points_of(points: float, most: float) -> str:
    """ "9.5 of 15 points"."""
    return f"{number(points)} of {count(most)}"


def count(points: float) -> str:
    """ "1 point", "2.5 points"."""
    return f"{number(points)} {'point' if points == 1 else 'points'}"
