"""What an author writes of an exercise: its cases, known mistakes, alternatives and hints.

The solution itself stands in the lesson's text; mistakes and alternatives are given as edits of
it, or as another body for its solution region.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autograder.authoring.draw import Draw

Edit = tuple[str, str]
Inputs = Callable[[Draw], dict[str, Any]]


class AuthoringError(Exception):
    """Something in a lesson or its exercises does not fit together; the message says what."""


@dataclass(frozen=True)
class Aspect:
    """One thing to get right, the points for it, and the cases that show it.

    cases: each makes the arguments of one call, by name and in call order, from a `Draw`.
    outputs: the names of the outputs that count; all of them when empty.
    """

    name: str
    points: int
    cases: list[Inputs]
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """The solution rewritten: by `edits`, each (old, new) with old occurring once, or as `body`.

    of: the exercise whose solution is rewritten, when it is another one of the same lesson.
    """

    name: str
    edits: tuple[Edit, ...] = ()
    body: str = ""
    of: str = ""


@dataclass(frozen=True)
class Mistake(Variant):
    """A known wrong answer. `say` is what a learner reads who made it."""

    say: str = ""


class Alternative(Variant):
    """Right code written in another way; it must earn full points."""


@dataclass(frozen=True)
class Exercise:
    """An exercise of a lesson. Its points are those of its aspects.

    returns: the names of what the function gives back, separated by spaces.
    forbidden: torch functions that the learner is to write, not to call.
    """

    name: str
    returns: str
    aspects: list[Aspect]
    mistakes: list[Mistake]
    alternatives: list[Alternative]
    hints: list[str]
    forbidden: tuple[str, ...] = field(default=())

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)
