"""A made-up class: submissions to a lesson whose true marks are known.

In each, every exercise of the released notebook is answered with the solution, an alternative or a
known mistake, or left open. The true mark is found without the judge
(`autograder.grading.demo.true_marks`).
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import nbformat
from nbformat import NotebookNode

from autograder.grading.demo.true_marks import Marker
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import STUB, Lesson
from autograder.lessons.nbgrader_metadata import grade_id_of
from autograder.lessons.rewriting import rewrite
from autograder.lessons.variants import Variant

LEFT_OPEN = Variant("left open", STUB)
SOLUTION = Variant("solution")
SYNTAX_ERROR = Variant("syntax error", "return return")
COUNT = 24


@dataclass
class MadeUpSubmission:
    """One learner's answers: for each exercise, the variant and the points that it is worth.

    Without a marker, there are no true points.
    """

    learner: str
    answers: dict[str, Variant] = field(default_factory=dict)
    marker: Marker | None = None

    @cached_property
    def true_points(self) -> dict[str, int]:
        return true_points(self.marker, self.answers)

    @property
    def true_mark(self) -> int:
        return sum(self.true_points.values())

    def notebook(self, lesson: Lesson) -> NotebookNode:
        """Return the released notebook with these answers in it."""
        notebook = nbformat.read(lesson.released_path, as_version=4)
        for cell in notebook.cells:
            grade_id = grade_id_of(cell)
            variant = self.answers.get(grade_id, LEFT_OPEN)
            if variant is not LEFT_OPEN:
                cell.source = _learner_code(lesson.solutions[grade_id], variant)
        return notebook


def make_class(lesson: Lesson, count: int = COUNT) -> list[MadeUpSubmission]:
    """Make a class with every known mistake of the lesson at least once, room permitting."""
    names = (f"learner_{number:02}" for number in itertools.count(1))
    exercises = lesson.exercises
    plans = [
        {e.name: SOLUTION for e in exercises},
        {e.name: e.alternatives[0] for e in exercises},
        {e.name: e.alternatives[-1] for e in exercises},
        {},
        {exercises[0].name: SOLUTION, exercises[1].name: SYNTAX_ERROR},
        {e.name: SOLUTION for e in exercises[: len(exercises) // 2]},
    ]
    queues = {e.name: itertools.cycle(own_mistakes(lesson, e)) for e in exercises}
    chance = random.Random(lesson.name)
    while len(plans) < count:
        plans.append({e.name: _some_answer(e, queues[e.name], chance) for e in exercises})
    marker = Marker(lesson)
    return [
        MadeUpSubmission(name, plan, marker)
        for name, plan in zip(names, plans[:count], strict=False)
    ]


def true_points(marker: Marker, plan: dict[str, Variant]) -> dict[str, int]:
    """Return the points for each exercise in a notebook answered according to a plan."""
    exercises = [exercise.name for exercise in marker.lesson.exercises]
    answers = {name: plan.get(name, LEFT_OPEN) for name in exercises}
    broken = [name for name, variant in answers.items() if variant is SYNTAX_ERROR]
    namespace = marker.lesson.namespace(answers | dict.fromkeys(broken, LEFT_OPEN))
    return {name: marker.points(name, namespace) for name in exercises}


def own_mistakes(lesson: Lesson, exercise: Exercise) -> list[Variant]:
    """List the mistakes in the exercise's own code, not in another exercise's."""
    known = lesson.mistakes(exercise)
    return [variant for mistake in known for variant in mistake.variants if not variant.of]


def _some_answer(exercise: Exercise, mistakes: Iterator[Variant], chance: random.Random) -> Variant:
    kind = chance.random()
    if kind < 0.15:
        return SOLUTION
    if kind < 0.25:
        return chance.choice(exercise.alternatives)
    if kind < 0.32:
        return LEFT_OPEN
    return next(mistakes)


def _learner_code(solution: str, variant: Variant) -> str:
    lines = rewrite(solution, variant).splitlines()
    return "\n".join(line for line in lines if "### BEGIN" not in line and "### END" not in line)
