"""What an author writes of an exercise: its cases, known mistakes, alternatives and hints.

The solution itself is in the lesson's text; mistakes and alternatives are given as edits of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.lessons.draw import Draw


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


def drawn(leading: str = "", scale: float = 1.0, **given: Any) -> Inputs:
    """A plain case: the arguments that the solution's annotations ask for, as `Draw.arguments`."""
    return lambda draw: draw.arguments(leading, scale, **given)


@dataclass(frozen=True)
class Aspect:
    """One thing to get right, the points for it, and the cases that show it.

    cases: each makes the arguments of one call, by name and in call order, from a `Draw`; a plain
        case when there are none.
    outputs: the names of the outputs that count; all of them when empty.
    gradients: whether gradients of the outputs count as well.
    hidden_cases: cases that only grading uses, beside the others drawn anew.
    """

    name: str
    points: int
    cases: Sequence[Inputs] = (drawn(),)
    outputs: tuple[str, ...] = ()
    gradients: bool = False
    hidden_cases: Sequence[Inputs] = ()


class Exactly(str):
    """A body that has its indentation already."""


# Edits of the solution, {old: new}, or another body for it. `old` occurs once. If it holds a `$X`
# it is a pattern of ast-grep, such as "$X @ $Y", and is replaced wherever it fits, in any spelling:
# a letter is any expression, and `$$$A` any number of arguments.
Code = dict[str, str] | str


@dataclass(frozen=True)
class Variant:
    """The solution rewritten.

    of: the exercise whose solution is rewritten, when it is another one of the same lesson.
    """

    name: str
    code: Code = field(default_factory=dict)
    of: str = ""


class Alternative(Variant):
    """Right code written in another way; it must earn full points."""


class Mistake:
    """A known wrong answer: what a learner reads who made it, and each code that makes it.

    of: as for a variant.
    """

    def __init__(self, name: str, say: str, *codes: Code, of: str = "") -> None:
        self.name, self.say = name, say
        self.variants = [Variant(name, code, of) for code in codes]


@dataclass(frozen=True)
class Slip:
    """A mistake that many solutions can hold: a pattern, and what should not be there instead.

    A solution that it fits in several places makes the mistake in each, and in all at once.
    """

    name: str
    say: str
    old: str
    new: str


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
    slips: Sequence[Slip] = ()
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
