"""A lesson's text: solutions/NN_topic.py in jupytext's percent format.

The text has no nbgrader metadata: what a cell holds decides what it is (`lessons.cells`).
"""

from __future__ import annotations

import importlib
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING

import jupytext
from nbformat import NotebookNode

from autograder.errors import AuthoringError
from autograder.lessons.cells import (
    STUB,
    exercise_checked,
    exercise_defined,
    prediction_asked,
    region,
)
from autograder.lessons.rewriting import rewrite, slip_mistake
from autograder.lessons.variants import Mistake, Variant
from autograder.notebook.course_solution import only_defines
from autograder.places import PACKAGE, ROOT

if TYPE_CHECKING:
    from autograder.judging.prediction import Prediction
    from autograder.lessons.exercise import Exercise

TEXTS = ROOT / "solutions"
NO_VARIANTS: Mapping[str, Variant] = MappingProxyType({})


def lesson_names() -> list[str]:
    """List the names of all lessons, in order."""
    return sorted(path.stem for path in TEXTS.glob("[0-9][0-9]_*.py"))


@dataclass(frozen=True)
class Lesson:
    """One lesson: its text and its exercises. only: one of them; "" for all."""

    name: str
    only: str = field(default="", kw_only=True)

    @property
    def text_path(self) -> Path:
        return TEXTS / f"{self.name}.py"

    @property
    def exercises_path(self) -> Path:
        return PACKAGE / "exercises" / self.name

    @property
    def notebook_path(self) -> Path:
        return TEXTS / self.name / f"{self.name}.ipynb"

    @property
    def released_path(self) -> Path:
        return ROOT / "notebooks" / self.name / f"{self.name}.ipynb"

    @cached_property
    def notebook(self) -> NotebookNode:
        """The text as a notebook, without outputs."""
        return jupytext.read(self.text_path)

    @property
    def title(self) -> str:
        """The heading of the lesson, with its number."""
        return self.notebook.cells[0].source.partition("\n")[0].removeprefix("# ")

    @cached_property
    def code(self) -> dict[int, str]:
        """The sources of the code cells, by number."""
        cells = enumerate(self.notebook.cells)
        return {number: cell.source for number, cell in cells if cell.cell_type == "code"}

    @cached_property
    def exercises(self) -> list[Exercise]:
        """The exercises that are graded, in lesson order."""
        return [exercise for exercise in self.asked.values() if not exercise.challenge]

    @cached_property
    def asked(self) -> dict[str, Exercise]:
        """The exercises and the challenges by name, in lesson order.

        Raises AuthoringError if the text defines others than the lesson's folder describes.
        """
        modules = map(self._described_in, sorted(self.exercises_path.glob("[a-z]*.py")))
        found = [module.EXERCISE for module in modules if hasattr(module, "EXERCISE")]
        self._require_the_same("defines", self.solutions, [exercise.name for exercise in found])
        checked = set(map(exercise_checked, self.code.values()))
        for name in self.solutions:
            if name not in checked:
                raise AuthoringError(f"no cell calls check({name})")
        described = {exercise.name: exercise for exercise in found}
        return {name: described[name] for name in self.solutions if name == (self.only or name)}

    @cached_property
    def predictions(self) -> dict[str, Prediction]:
        """The predictions that the text asks for by name, in lesson order.

        Raises AuthoringError if the text asks for others than the lesson's folder describes.
        """
        asked = [name for source in self.code.values() if (name := prediction_asked(source))]
        listed = self._described_in(self.exercises_path / "predictions.py").PREDICTIONS
        self._require_the_same("asks to predict", asked, [p.name for p in listed])
        described = {prediction.name: prediction for prediction in listed}
        return {name: described[name] for name in asked}

    def _require_the_same(self, does: str, named: Iterable[str], described: Iterable[str]) -> None:
        text, folder = f"solutions/{self.text_path.name}", f"autograder/exercises/{self.name}"
        asked, known = Counter([*named]), Counter([*described])
        unknown, extra = asked - known, known - asked
        if unknown and extra:
            raise AuthoringError(
                f"{text} {does} {', '.join(unknown)}, {folder} describes {', '.join(extra)}: "
                "is one misspelled?"
            )
        if unknown:
            raise AuthoringError(
                f"{text} {does} {', '.join(unknown)}, which {folder} doesn't describe: add it there"
            )
        if extra:
            raise AuthoringError(
                f"{folder} describes {', '.join(extra)} more often than {text} {does} it: add its "
                "cell there, or delete the description"
            )

    def _described_in(self, path: Path) -> ModuleType:
        return importlib.import_module(f"autograder.exercises.{self.name}.{path.stem}")

    @cached_property
    def solutions(self) -> dict[str, str]:
        """The source of each exercise cell, by exercise."""
        sources = self.code.values()
        return {exercise_defined(source): source for source in sources if exercise_defined(source)}

    @cached_property
    def definitions(self) -> dict[int, tuple[str, CodeType]]:
        """The cells with only imports and definitions, by number: source and code."""
        return {
            number: (source, self._compiled(source, number))
            for number, source in self.code.items()
            if only_defines(source)
        }

    def mistakes(self, exercise: Exercise) -> list[Mistake]:
        """List all known mistakes of an exercise: its own, and the slips that fit its solution.

        Its own mistakes replace slips of the same name, so they can be more specific.
        """
        solution = self.solutions[exercise.name]
        own = {mistake.name for mistake in exercise.mistakes}
        fitting = [slip_mistake(s, solution) for s in exercise.slips if s.name not in own]
        slips = [mistake for mistake in fitting if mistake]
        if exercise.slips and not slips:
            raise AuthoringError(f"none of the slips of {exercise.name} matches its solution")
        return [*exercise.mistakes, *slips]

    def beginning(self, exercise: Exercise) -> str:
        """Return what learners find in an exercise's solution region."""
        if not exercise.begins_with:
            return STUB
        begun = next(m for m in exercise.mistakes if m.name == exercise.begins_with)
        cell = rewrite(self.solutions[exercise.name], begun.variants[0])
        return textwrap.dedent(region(cell)["body"]).strip("\n")

    def namespace(self, answers: Mapping[str, Variant] = NO_VARIANTS) -> dict:
        """Run the lesson's imports and definitions, with variants for some exercises."""
        namespace: dict = {"__name__": self.name}
        for number, (source, code) in self.definitions.items():
            if variant := answers.get(exercise_defined(source)):
                code = self._compiled(rewrite(source, variant), number, variant)
            exec(code, namespace)
        return namespace

    def _compiled(self, source: str, number: int, variant: Variant | None = None) -> CodeType:
        try:
            return compile(source, f"<{self.name}, cell {number}>", "exec", dont_inherit=True)
        except SyntaxError as error:
            which = f"{variant.name!r}: what the edits leave" if variant else f"cell {number}"
            raise AuthoringError(f"{which} is not valid Python: {error}\n{source}") from error
