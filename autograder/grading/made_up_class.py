"""A made-up class: submissions to a lesson whose true marks are known.

Each is the released notebook, answered with the solution, an alternative, a known mistake, or
left open. Its true mark is found here without the judge: the code that was put in is called
beside the solution, and `torch.allclose` decides.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode
from torch import Tensor

from autograder.authoring.exercise import Exercise, Mistake, Variant
from autograder.authoring.lesson import ROOT, Lesson, rewrite
from autograder.grading.hidden import grading_reference
from autograder.guard import same_randomness, silence
from autograder.question import AnswerKey, Question

LEFT_OPEN = Variant("left open")
SOLUTION = Variant("solution")
SYNTAX_ERROR = Variant("syntax error", body="return return")
COUNT = 24


@dataclass
class Submission:
    """One learner's answers: for each exercise the variant, and the points that it is worth."""

    student: str
    answers: dict[str, Variant] = field(default_factory=dict)
    true_points: dict[str, int] = field(default_factory=dict)

    @property
    def true_mark(self) -> int:
        return sum(self.true_points.values())

    def notebook(self, lesson: Lesson) -> NotebookNode:
        """The released notebook with these answers in it."""
        path = ROOT / "notebooks" / lesson.name / f"{lesson.name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            variant = self.answers.get(grade_id, LEFT_OPEN)
            if variant is not LEFT_OPEN:
                cell.source = _learner_code(lesson.solutions[grade_id], variant)
        return notebook


def make_class(lesson: Lesson, count: int = COUNT) -> list[Submission]:
    """A class in which every known mistake of the lesson is made at least once, room permitting."""
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
    queues = {e.name: itertools.cycle(e.mistakes) for e in exercises}
    chance = random.Random(lesson.name)
    while len(plans) < count:
        plans.append({e.name: _some_answer(e, queues[e.name], chance) for e in exercises})
    marker = Marker(lesson)
    return [
        Submission(name, plan, {e.name: marker.points(e.name, plan.get(e.name)) for e in exercises})
        for name, plan in zip(names, plans[:count], strict=False)
    ]


class Marker:
    """True points of a variant of an exercise, found by calling it beside the solution."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.reference = grading_reference(lesson.name)
        self.solutions = lesson.namespace()

    def points(self, exercise: str, variant: Variant | None) -> int:
        if variant in (None, LEFT_OPEN, SYNTAX_ERROR):
            return 0
        function = self.lesson.namespace(variant, exercise)[exercise]
        question, key = self.reference.questions[exercise], self.reference.keys[exercise]
        return sum(
            aspect.points
            for aspect in key.aspects
            if all(
                self._right(function, question, key, case, aspect.outputs) for case in aspect.cases
            )
        )

    def _right(
        self, function: Callable, question: Question, key: AnswerKey, case: int, outputs: list[str]
    ) -> bool:
        arguments = question.calls[case]
        wanted = _call(self.solutions[question.exercise], arguments, question.returns)
        got = _call(function, arguments, question.returns)
        return got is not None and all(_alike(got[name], wanted[name]) for name in outputs)


def _some_answer(exercise: Exercise, mistakes: Iterator[Mistake], chance: random.Random) -> Variant:
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


def _call(function: Callable, arguments: dict[str, Any], returns: list[str]) -> dict | None:
    """The named results of a call, or None when it fails or changes its arguments."""
    copies = [a.clone() if isinstance(a, Tensor) else a for a in arguments.values()]
    with silence(), same_randomness():
        try:
            result = function(*copies)
        except Exception:
            return None
    untouched = all(
        torch.equal(a, b)
        for a, b in zip(arguments.values(), copies, strict=True)
        if isinstance(a, Tensor)
    )
    results = (result,) if len(returns) == 1 else result
    if not untouched or not isinstance(results, tuple) or len(results) != len(returns):
        return None
    return dict(zip(returns, results, strict=True))


def _alike(got: Any, wanted: Tensor) -> bool:
    same_form = isinstance(got, Tensor) and (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    return same_form and torch.allclose(got, wanted, rtol=1e-3, atol=1e-3)
