"""The exercises of a graded notebook: points, result, and the sentence that names the mistake."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.gradebook.grades import CellGrade
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.pages.notebook import NotebookCell, requests_among, verdict_of
from autograder.grading.pages.untrusted import LONGEST_NAME, visible
from autograder.grading.worker.graded_cells import NOT_RUN, VERDICT, was_run
from autograder.judging.code_marks import count, number, points_of
from autograder.lessons.cells import exercise_checked
from autograder.lessons.written_questions import asked_in

MADE_UP_NAME = re.compile(r"cell-[0-9a-f]{8,}")  # by nbgrader, for a cell without a name
# What grades an answer: a check of the course, an instructor's own test, or a person, who reads an
# answer or looks at what was done for a task.
CHECK, TEST, WRITTEN, TASK = "check", "test", "written", "task"
DAMAGED = "What the check found can't be read here."


@dataclass(frozen=True)
class Badge:
    """How an exercise went, as a sign and in words.

    name: its class in `page.css`.
    """

    name: str
    sign: str
    words: str


ALL = Badge("all", "✓", "all points")
SOME = Badge("some", "◐", "some points")
NONE = Badge("none", "✗", "no points")
UNANSWERED = Badge("unanswered", "○", "not answered")
WAITING = Badge("waiting", "…", "not graded yet")
WITHOUT_POINTS = Badge("without-points", "–", "without points")


@dataclass(frozen=True)
class GradedExercise:
    """One graded cell, with the solution cells that it grades.

    title: its name.
    is_code: whether that is a name in code.
    kind: CHECK, TEST, WRITTEN or TASK.
    judged: whether its code, if any, was run and judged.
    sentence: what is wrong, with code in backticks.
    notes: what the instructor changed and the learner asked for, with code in backticks.
    solutions: the cells before `graded` that belong to it, such as the question.
    """

    title: str
    is_code: bool
    kind: str
    grade: CellGrade
    result: Badge
    graded: NotebookCell
    judged: bool = True
    solutions: tuple[NotebookCell, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[NotebookCell, ...]:
        return *self.solutions, self.graded

    @property
    def remarks(self) -> list[str]:
        """The sentence, if it says more than the result, and the notes."""
        says_more = self.sentence and self.result != UNANSWERED
        return [self.sentence, *self.notes] if says_more else [*self.notes]


def find_exercises(
    cells: Iterable[NotebookCell], facts: NotebookFacts, order: Sequence[str]
) -> list[GradedExercise]:
    """Find the exercises, in the order of the lesson.

    order: the names of nbgrader's cells in the source; cells that are not in it come last.
    """
    cells = list(cells)
    requests = requests_among(cells)
    questions = {asked_in(name) for name in facts.grade.by_name}
    found: list[GradedExercise] = []
    solutions: list[NotebookCell] = []
    for cell in _in_order(cells, facts, order):
        if cell.name in facts.grade.by_name:
            found.append(_exercise(cell, tuple(solutions), facts, requests, len(found) + 1))
            solutions = []
        elif cell.is_a("solution") or cell.name in questions:
            solutions.append(cell)
    return found


def _in_order(
    cells: Iterable[NotebookCell], facts: NotebookFacts, order: Sequence[str]
) -> list[NotebookCell]:
    """Return nbgrader's cells in lesson order, with an empty one where a graded one is missing."""
    by_name: dict[str, NotebookCell] = {}
    for cell in cells:
        if cell.name:
            by_name.setdefault(cell.name, cell)
    missing = {
        name: NotebookCell(0, "code", "", name)
        for name in facts.grade.by_name
        if name not in by_name
    }
    places = {name: place for place, name in enumerate(order)}
    named = [*by_name.values(), *missing.values()]
    return sorted(named, key=lambda cell: places.get(cell.name, len(places)))


def _exercise(
    cell: NotebookCell,
    solutions: tuple[NotebookCell, ...],
    facts: NotebookFacts,
    requests: Mapping[str, str],
    number: int,
) -> GradedExercise:
    verdict, grade, kind = verdict_of(cell), facts.grade.by_name[cell.name], _kind(cell)
    cells = (*solutions, cell)
    result = _result(grade, _is_answered(verdict, cells, facts))
    title, is_code = _title(cell, verdict, kind, number)
    return GradedExercise(
        title=title,
        is_code=is_code,
        kind=kind,
        grade=grade,
        result=result,
        graded=cell,
        judged=verdict.get("graded", True) if verdict else was_run(cell.outputs),
        solutions=solutions,
        sentence=_sentence(cell, verdict, kind, result),
        notes=(*_notes(grade, kind), *_request(requests.get(title))),
        comments=tuple(facts.comments[one.name] for one in cells if one.name in facts.comments),
    )


def _kind(cell: NotebookCell) -> str:
    if cell.is_a("task"):
        return TASK
    if cell.is_a("solution"):
        return WRITTEN
    return CHECK if VERDICT in cell.metadata or exercise_checked(cell.source) else TEST


def _title(
    cell: NotebookCell, verdict: dict[str, Any] | None, kind: str, number: int
) -> tuple[str, bool]:
    """Return an exercise's name, and whether that is a name in code."""
    if kind == CHECK and (name := (verdict or {}).get("exercise") or exercise_checked(cell.source)):
        return visible(name, LONGEST_NAME), True
    if MADE_UP_NAME.fullmatch(cell.name):
        return f"Part {number}", False
    return visible(cell.name, LONGEST_NAME), True


def _is_answered(
    verdict: dict[str, Any] | None, cells: Sequence[NotebookCell], facts: NotebookFacts
) -> bool:
    if verdict:
        return verdict["answered"]
    answers = [cell.name for cell in cells if cell.is_a("solution")]
    return not answers or not set(answers) <= set(facts.untouched)


def _result(grade: CellGrade, answered: bool) -> Badge:
    if grade.points is None:
        return WAITING
    if grade.points > 0:
        return ALL if grade.points >= grade.most else SOME
    if not answered:
        return UNANSWERED
    return NONE if grade.most else WITHOUT_POINTS


def _sentence(cell: NotebookCell, verdict: dict[str, Any] | None, kind: str, result: Badge) -> str:
    if verdict is not None:
        return verdict.get("sentence", DAMAGED)
    if kind in (CHECK, TEST):
        return _failure(cell)
    return "Your instructor grades this one." if result == WAITING else ""


def _failure(cell: NotebookCell) -> str:
    """Say how an instructor's own test failed; "" if it did not."""
    errors = [output for output in cell.outputs if output.get("output_type") == "error"]
    if not errors:
        return ""
    name, value = (_without_backticks(errors[0].get(part)) for part in ("ename", "evalue"))
    if name == NOT_RUN:
        return f"The notebook stopped before this test. {value}".strip()
    return f"The test stopped with `{name}`" + (f": {value}" if value else ".")


def _without_backticks(value: object) -> str:
    """Return text with plain quotes in place of backticks, which stand for code here."""
    return visible(value).replace("`", "'") if isinstance(value, str) else ""


def _request(why: str | None) -> Iterator[str]:
    """Repeat why the learner asked for another look; None if the learner didn't."""
    if why is not None:
        yield f"You asked for another look: {why}" if why else "You asked for another look."


def _notes(grade: CellGrade, kind: str) -> Iterator[str]:
    """Say where the points differ from the check's."""
    if kind in (CHECK, TEST) and grade.by_hand not in (None, grade.judged):
        check = "" if grade.judged is None else f"; the check gave {number(grade.judged)}"
        yield f"Your instructor gave {points_of(grade.by_hand, grade.most)}{check}."
    if grade.adjusted is not None and grade.adjusted != grade.judged:
        yield f"Your instructor adjusted this to {points_of(grade.adjusted, grade.most)}."
    if grade.waits and grade.points is not None:
        yield "Your instructor will look at it again."
    if grade.extra > 0:
        yield f"Your instructor added {count(grade.extra, 'point')} of extra credit."
    if grade.extra < 0:
        yield f"Your instructor took {count(-grade.extra, 'point')} off."
