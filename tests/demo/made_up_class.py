"""A made-up class: submissions to a lesson whose true grades are known.

In each, every exercise of the released notebook is answered with the solution, an alternative or a
known mistake, or left open. A second grader finds the true grade without the judge
(`tests.demo.second_grader`).
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import nbformat
from nbformat import NotebookNode

from autograder.lessons.cells import STUB, grade_id_of
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson
from autograder.lessons.rewriting import rewrite
from autograder.lessons.variants import Variant
from tests.demo.second_grader import SecondGrader

LEFT_OPEN = Variant("left open", STUB)
SOLUTION = Variant("solution", {})
SYNTAX_ERROR = Variant("syntax error", "return return")
COUNT = 24


@dataclass
class MadeUpSubmission:
    """One learner's answers: for each exercise, the variant and the points that it is worth.

    Without a grader, there are no true points.
    """

    learner: str
    answers: dict[str, Variant] = field(default_factory=dict)
    grader: SecondGrader | None = None

    @cached_property
    def true_points(self) -> dict[str, int]:
        return true_points(self.grader, self.answers)

    @property
    def true_grade(self) -> int:
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


def without_demonstrations(notebook: NotebookNode, lesson: Lesson) -> NotebookNode:
    """Keep definitions and nbgrader's cells: the others take most of a lesson's time."""
    notebook.cells = [
        cell
        for number, cell in enumerate(notebook.cells)
        if number in lesson.definitions or "nbgrader" in cell.metadata
    ]
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
    chance = random.Random(lesson.name)
    rest = max(0, count - len(plans))
    answers = {e.name: _some_answers(e, own_mistakes(lesson, e), rest, chance) for e in exercises}
    plans += [dict(zip(answers, row, strict=True)) for row in zip(*answers.values(), strict=True)]
    grader = SecondGrader(lesson)
    return [
        MadeUpSubmission(name, plan, grader)
        for name, plan in zip(names, plans[:count], strict=False)
    ]


def true_points(grader: SecondGrader, plan: dict[str, Variant]) -> dict[str, int]:
    """Return the points for each exercise in a notebook answered according to a plan."""
    exercises = [exercise.name for exercise in grader.lesson.exercises]
    answers = {name: plan.get(name, LEFT_OPEN) for name in exercises}
    broken = [name for name, variant in answers.items() if variant is SYNTAX_ERROR]
    namespace = grader.lesson.namespace(answers | dict.fromkeys(broken, LEFT_OPEN))
    return {name: grader.points(name, namespace) for name in exercises}


def own_mistakes(lesson: Lesson, exercise: Exercise) -> list[Variant]:
    """List the ways to make the mistakes of an exercise."""
    known = lesson.mistakes(exercise)
    return [variant for mistake in known for variant in mistake.variants]


def _some_answers(
    exercise: Exercise, mistakes: Sequence[Variant], count: int, chance: random.Random
) -> list[Variant]:
    """Draw answers to an exercise, two thirds of them mistakes, one after the other."""
    right, other, left_open = (round(share * count) for share in (0.15, 0.1, 0.07))
    answers = [SOLUTION] * right + chance.choices(exercise.alternatives, k=other)
    answers += [LEFT_OPEN] * left_open
    answers += itertools.islice(itertools.cycle(mistakes), count - len(answers))
    chance.shuffle(answers)
    return answers


def _learner_code(solution: str, variant: Variant) -> str:
    lines = rewrite(solution, variant).splitlines()
    return "\n".join(line for line in lines if "### BEGIN" not in line and "### END" not in line)
