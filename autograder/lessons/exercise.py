"""What an author writes for an exercise: its cases, known mistakes, alternatives and hints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, drawn
from autograder.lessons.parts import Part, Repair
from autograder.lessons.variants import Alternative, Mistake, Slip

P = TypeVar("P", bound=Part)


@dataclass(frozen=True)
class Aspect:
    """One thing to get right, with its points and the cases that test it.

    cases: functions that make the arguments of one call, by name and in call order, from a `Draw`;
        by default, one plain case.
    outputs: the names of the outputs that count; all of them if empty.
    gradients: whether gradients of the outputs count too.
    hidden_cases: cases that only grading uses, in addition to fresh draws of the others.
    """

    name: str
    points: int
    cases: Sequence[Inputs] = (drawn(),)
    outputs: tuple[str, ...] = ()
    gradients: bool = False
    hidden_cases: Sequence[Inputs] = ()


def connected(*cases: Inputs, outputs: tuple[str, ...] = ()) -> Aspect:
    """One point for results that keep the path of the gradient; by default in one plain case."""
    name = "stays connected to the inputs"
    return Aspect(name, 1, cases or (drawn(),), outputs, gradients=True)


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise of a lesson. Its points are the sum of its aspects' points.

    returns: the names of the returned values, separated by spaces.
    parts: what only some exercises need.
    builds_on: exercises whose answers this one uses.
    also: forms in which the last case of the first aspect is asked again, for this aspect and for
        others that count outputs which this one doesn't. A module with sizes of 1 is in train mode.
    excuses: why certain mutants of the solution are right, by the start of their label.
    challenge: whether it is optional. It is checked in the notebook, but never graded, and its
        points count nowhere.
    seconds: processor time for all its cases together, ten times what a slow right answer takes.
    """

    name: str
    returns: str
    aspects: list[Aspect]
    mistakes: list[Mistake]
    alternatives: list[Alternative]
    hints: list[str]
    slips: Sequence[Slip] = ()
    parts: Sequence[Part] = ()
    builds_on: tuple[str, ...] = ()
    also: tuple[Form, ...] = (*SIZES, Form.DOUBLE, *CALLS)
    excuses: Mapping[str, str] = field(default_factory=dict)
    challenge: bool = False
    seconds: float = 10.0

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    @property
    def begins_with(self) -> str:
        """The mistake whose code learners have to repair; "" if they start from a stub."""
        return self.part(Repair).mistake

    def part(self, kind: type[P]) -> P:
        """Return the exercise's part of this kind or, if it has none, an empty one."""
        return next((part for part in self.parts if isinstance(part, kind)), kind())
