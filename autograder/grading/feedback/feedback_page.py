"""Put a learner's feedback on one self-contained HTML page: no script, no network."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from autograder.grading.feedback.exercises import (
    CHECK,
    NONE,
    SOME,
    TASK,
    TEST,
    WAITING,
    WRITTEN,
    GradedExercise,
    find_exercises,
)
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.pages.notebook import NotebookCell, Outline
from autograder.grading.pages.render import Renderer, labeled
from autograder.grading.pages.template import load_templates
from autograder.grading.pages.text import Html
from autograder.grading.pages.untrusted import LONGEST_NAME, checked_run, visible
from autograder.grading.submission.restore import WHY_EMPTY
from autograder.grading.worker.graded_cells import SHOWN
from autograder.grading.worker.job import Outcome

HERE = Path(__file__).parent
REST_LEVEL, ANSWER_LEVEL = 2, 3  # of the headings above the rest, and above an answer
NO_REASON = "no reason was given"
LABELS = {TEST: "The test:", TASK: "The task:", WRITTEN: "Your answer:"}


@dataclass(frozen=True)
class NotGraded:
    """Why a notebook, or a part of it, is not graded; nothing if it is.

    reason: with what its learner can do about it.
    cause: without that.
    """

    reason: str = ""
    cause: str = ""


@dataclass(frozen=True)
class GradedNotebook:
    """What a page is made from.

    facts: what the gradebook says.
    outline: that of the lesson's notebook.
    unshown: why there are no cells.
    """

    cells: Sequence[NotebookCell]
    facts: NotebookFacts
    outline: Outline
    not_graded: NotGraded = NotGraded()
    unshown: str = ""

    @property
    def title(self) -> str:
        return self.outline.title or visible(self.facts.notebook.replace("_", " "), LONGEST_NAME)


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
    left_out: how many cells had no room.
    """

    graded: GradedNotebook
    answers: list[ShownAnswer]
    rest: list[RestCell]
    left_out: int

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
        why = self.graded.not_graded
        return why.reason if self.waiting else why.cause

    def remarks(self, exercise: GradedExercise) -> Sequence[str]:
        """Return remarks on an exercise; if it was not judged, the top of the page says why."""
        told_above = self.graded.not_graded.reason and not exercise.judged
        return exercise.notes if told_above else exercise.remarks

    @property
    def disputable(self) -> str:
        """The first exercise of the course that lacks points; "" if there is none."""
        exercises = (answer.exercise for answer in self.answers)
        lacking = (one for one in exercises if one.is_code and one.kind == CHECK)
        return next((one.title for one in lacking if one.result in (SOME, NONE)), "")

    @property
    def commented(self) -> bool:
        return any(one.comments for one in self.answers) or any(one.comment for one in self.rest)

    @property
    def shows_courses_own(self) -> bool:
        return any(SHOWN in one.cell.metadata and one.cell.outputs for one in self.rest)


def get_ready() -> None:
    """Load what processes that are forked from here need for a page."""
    load_templates(HERE)


def render_page(graded: GradedNotebook) -> str:
    """Render the feedback page of one notebook."""
    return load_templates(HERE)["page.html.jinja"].render(feedback=_feedback(graded))


def _feedback(graded: GradedNotebook) -> Feedback:
    """Gather what the page shows."""
    renderer, facts = Renderer(), graded.facts
    answers = _answers(renderer, find_exercises(graded.cells, facts, graded.outline.order))
    renderer.put_below(REST_LEVEL)
    # The top of the page says why a notebook could not be read.
    others = _rest([cell for cell in graded.cells if WHY_EMPTY not in cell.metadata], answers)
    rest = list(_render_rest(renderer, others, facts))
    return Feedback(graded, answers, rest, left_out=len(others) - len(rest))


def _answers(renderer: Renderer, exercises: list[GradedExercise]) -> list[ShownAnswer]:
    """Render the answers, first what was said about them, so that there is room for it."""
    comments = [[renderer.words(text) for text in one.comments] for one in exercises]
    graded = [_graded_cell(renderer, one) for one in exercises]
    solutions = [_solutions(renderer, one) for one in exercises]
    return [
        ShownAnswer(f"answer-{number}", _anchor(one.cells[0]), one, solved + judged, said)
        for number, (one, said, judged, solved) in enumerate(
            zip(exercises, comments, graded, solutions, strict=True), start=1
        )
    ]


def _graded_cell(renderer: Renderer, exercise: GradedExercise) -> Html:
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
    renderer: Renderer, cells: list[tuple[NotebookCell, ShownAnswer | None]], facts: NotebookFacts
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


def why_not_graded(run: Mapping[str, Any]) -> NotGraded:
    """Return what was recorded about the run that graded a notebook."""
    try:
        run = checked_run(run)
    except ValueError:
        return NotGraded()
    if run["outcome"] != Outcome.NOT_GRADED:
        return NotGraded()
    return NotGraded(run["reason"] or NO_REASON, run["cause"] or NO_REASON)
