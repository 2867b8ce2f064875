"""Put a learner's feedback on one self-contained HTML page: no script, no network."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from autograder.grading.feedback.exercises import (
    CHECK,
    TASK,
    TEST,
    WAITING,
    WRITTEN,
    GradedExercise,
    count,
    find_exercises,
)
from autograder.grading.gradebook.notebook_facts import Facts
from autograder.grading.pages.notebook import NotebookCell, Outline
from autograder.grading.pages.render import Renderer, labeled
from autograder.grading.pages.template import fill_template
from autograder.grading.pages.text import Html
from autograder.grading.pages.untrusted import LONGEST_NAME, checked_run, visible
from autograder.grading.submission.read_notebook import without_remedy
from autograder.grading.worker.job import SHOWN, Outcome

HERE = Path(__file__).parent
REST_LEVEL, ANSWER_LEVEL = 2, 3  # of the headings above the rest, and above an answer
LABELS = {TEST: "The test:", TASK: "The task:", WRITTEN: "Your answer:"}


@dataclass(frozen=True)
class ShownAnswer:
    """An exercise with what is shown of it.

    anchor: its id on the page.
    place: the id of the place where it was in the notebook.
    """

    anchor: str
    place: str
    exercise: GradedExercise
    html: Html
    comments: list[Html]

    @property
    def is_empty(self) -> bool:
        """Whether the table of exercises says it all."""
        return not self.html and not self.comments


@dataclass(frozen=True)
class RestCell:
    """A cell of the rest of the notebook, or the answer that was taken out at its place."""

    anchor: str
    cell: NotebookCell
    html: Html = field(default_factory=Html)
    comment: Html = field(default_factory=Html)
    answer: ShownAnswer | None = None


@dataclass(frozen=True)
class Feedback:
    """Everything that the page shows.

    answers: those to all exercises, though some have nothing to show.
    why: why the notebook, or a part of it, is not graded.
    unshown: why no cell of the notebook is shown.
    left_out: how many cells had no room.
    """

    title: str
    facts: Facts
    answers: list[ShownAnswer]
    rest: list[RestCell]
    why: str = ""
    unshown: str = ""
    left_out: int = 0

    @property
    def waiting(self) -> list[GradedExercise]:
        exercises = [answer.exercise for answer in self.answers]
        return [exercise for exercise in exercises if exercise.result == WAITING]

    @property
    def so_far(self) -> bool:
        """Whether the grade may still change, because the instructor has to look at something."""
        return not all(answer.exercise.grade.is_final for answer in self.answers)

    @property
    def shown(self) -> list[ShownAnswer]:
        return [answer for answer in self.answers if not answer.is_empty]

    @property
    def cause(self) -> str:
        """Why it is not graded and, as long as points are missing, what to do about it."""
        return self.why if self.waiting else without_remedy(self.why)

    def remarks(self, exercise: GradedExercise) -> Sequence[str]:
        """Return remarks on an exercise; if it was not judged, the top of the page says why."""
        return exercise.remarks if exercise.judged or not self.why else exercise.notes

    @property
    def commented(self) -> bool:
        return any(one.comments for one in self.answers) or any(one.comment for one in self.rest)

    @property
    def shows_courses_own(self) -> bool:
        return any(SHOWN in one.cell.metadata and one.cell.outputs for one in self.rest)


def render_page(
    cells: Sequence[NotebookCell], facts: Facts, outline: Outline, why: str = "", unshown: str = ""
) -> str:
    """Render the feedback page of one notebook.

    why: why the notebook, or a part of it, is not graded.
    unshown: why there are no cells.
    """
    made = make_feedback(cells, facts, outline, why, unshown)
    return fill_template(HERE, {count}, feedback=made)


def make_feedback(
    cells: Sequence[NotebookCell], facts: Facts, outline: Outline, why: str, unshown: str
) -> Feedback:
    """Gather what the page shows."""
    renderer = Renderer()
    answers = _answers(renderer, find_exercises(cells, facts, outline.order))
    renderer.put_below(REST_LEVEL)
    others = _rest([cell for cell in cells if not _repeats(cell, why)], answers)
    rest = list(_render_rest(renderer, others, facts))
    return Feedback(
        title=outline.title or visible(facts.notebook.replace("_", " "), LONGEST_NAME),
        facts=facts,
        answers=answers,
        rest=rest,
        why=why,
        unshown=unshown,
        left_out=len(others) - len(rest),
    )


def _answers(renderer: Renderer, exercises: list[GradedExercise]) -> list[ShownAnswer]:
    """Render the answers, first what was said about them, so that there is room for it."""
    comments = [[renderer.words(text) for text in one.comments] for one in exercises]
    graded = [_graded(renderer, one) for one in exercises]
    solutions = [_solutions(renderer, one) for one in exercises]
    return [
        ShownAnswer(f"answer-{number}", _anchor(one.cells[0]), one, solved + judged, said)
        for number, (one, said, judged, solved) in enumerate(
            zip(exercises, comments, graded, solutions, strict=True), start=1
        )
    ]


def _graded(renderer: Renderer, exercise: GradedExercise) -> Html:
    """Render a graded cell; for a `check(…)` that was judged, only the card."""
    renderer.put_below(ANSWER_LEVEL)
    if exercise.kind == CHECK:
        is_told = exercise.judged and exercise.result != WAITING
        return renderer.outputs(exercise.graded) if is_told else Html()
    html, label = renderer.cell(exercise.graded), LABELS.get(exercise.kind)
    return labeled(label, html) if html and label else html


def _solutions(renderer: Renderer, exercise: GradedExercise) -> Html:
    renderer.put_below(ANSWER_LEVEL)
    return renderer.cells(exercise.solutions)


def _rest(
    cells: Sequence[NotebookCell], answers: list[ShownAnswer]
) -> list[tuple[NotebookCell, ShownAnswer | None]]:
    """List the cells that are not part of an answer, and each answer at its first cell."""
    by_place = {answer.place: answer for answer in answers if not answer.is_empty}
    taken = {cell.number for answer in answers for cell in answer.exercise.cells}
    return [
        (cell, by_place.get(_anchor(cell)))
        for cell in cells
        if cell.number not in taken or _anchor(cell) in by_place
    ]


def _render_rest(
    renderer: Renderer, cells: list[tuple[NotebookCell, ShownAnswer | None]], facts: Facts
) -> Iterator[RestCell]:
    """Render as much of the rest as there is room for."""
    for cell, answer in takewhile(lambda _: not renderer.is_full, cells):
        if answer:
            yield RestCell(_anchor(cell), cell, answer=answer)
        else:
            comment = renderer.words(facts.comments.get(cell.name, ""))
            yield RestCell(_anchor(cell), cell, renderer.cell(cell), comment)


def _anchor(cell: NotebookCell) -> str:
    return f"cell-{cell.number}"


def _repeats(cell: NotebookCell, why: str) -> bool:
    """Whether a cell only says why nothing is graded, as it does in a damaged notebook."""
    return bool(why) and cell.kind == "markdown" and cell.source.endswith(why)


def why_not_graded(run: Mapping[str, Any]) -> str:
    """Return the reason recorded for the run; "" if it graded the notebook."""
    try:
        run = checked_run(run)
    except ValueError:
        return ""
    return run["reason"] or "no reason was given" if run["outcome"] == Outcome.NOT_GRADED else ""
