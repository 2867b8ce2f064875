"""What an author writes of an exercise: its cases, known mistakes, alternatives and hints.

The solution itself stands in the lesson's text; mistakes and alternatives are given as edits of
it, or as another body for its solution region.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.lessons.draw import Draw

Edit = tuple[str, str]


@dataclass(frozen=True)
class ModuleCase:
    """A case of an exercise that is an nn.Module.

    build: arguments of its constructor, by name.
    inputs: arguments of its forward, in call order.
    own_parameters: keep what the constructor drew, after `torch.manual_seed(0)`.
    training: call it in train mode.
    parameters: loaded by name; drawn when the reference is built if neither these nor its own.
    method: the one that is called; "" only builds the module.
    """

    build: dict[str, Any]
    inputs: dict[str, Any]
    own_parameters: bool = False
    training: bool = False
    parameters: dict[str, Tensor] | None = None
    method: str = "forward"


@dataclass(frozen=True)
class Goal:
    """A case that is judged by how near the outputs come to a goal, not to the solution's.

    inputs: the arguments of a function, or a module case.
    goal: what the outputs aim at, by name.
    most_error: the largest mean squared error that they may have.
    """

    inputs: dict[str, Any] | ModuleCase
    goal: dict[str, Tensor]
    most_error: float


@dataclass(frozen=True)
class Raises:
    """A case in which the right answer is an exception.

    inputs: the arguments of a function, or a module case.
    error: the exception's name, such as "ValueError".
    """

    inputs: dict[str, Any] | ModuleCase
    error: str


Case = dict[str, Any] | ModuleCase | Goal | Raises
Inputs = Callable[[Draw], Case]


@dataclass(frozen=True)
class Aspect:
    """One thing to get right, the points for it, and the cases that show it.

    cases: each makes the arguments of one call, by name and in call order, from a `Draw`.
    outputs: the names of the outputs that count; all of them when empty.
    gradients: whether gradients of the outputs count as well.
    hidden_cases: cases that only grading uses, beside the others drawn anew.
    """

    name: str
    points: int
    cases: list[Inputs]
    outputs: tuple[str, ...] = ()
    gradients: bool = False
    hidden_cases: list[Inputs] = field(default_factory=list)


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

    returns: the names of what it gives back, separated by spaces.
    keeps: attributes of a module that are outputs as well; keeps_detached: without a graph.
    reads: arguments that are modules, whose parameters are the outputs after the call.
    plain: it gives back plain numbers or booleans.
    choices: words of which it gives back one.
    as_dict: it gives back a dict of the names in `returns`.
    forbidden: torch functions that the learner is to write, not to call.
    builds_on: exercises whose answers this one uses.
    seconds: processor time that all its cases together may take.
    """

    name: str
    returns: str
    aspects: list[Aspect]
    mistakes: list[Mistake]
    alternatives: list[Alternative]
    hints: list[str]
    keeps: str = ""
    keeps_detached: bool = False
    reads: str = ""
    plain: bool = False
    choices: tuple[str, ...] = ()
    as_dict: bool = False
    forbidden: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    seconds: float = 10.0

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)
