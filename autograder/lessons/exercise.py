"""What an author writes for an exercise: its cases, known mistakes, alternatives and hints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from autograder.lessons.draw import Draw
from autograder.lessons.variants import Alternative, Mistake, Slip


@dataclass(frozen=True)
class ModuleCase:
    """A case of an exercise that is an nn.Module.

    build: the constructor's arguments, by name.
    inputs: the arguments of forward, in call order.
    own_parameters: keep the parameters that the constructor drew, after `torch.manual_seed(0)`.
    training: call it in train mode.
    parameters: loaded by name; if None and not own_parameters, drawn when the reference is built.
    method: the method to call; "" only builds the module.
    """

    build: dict[str, Any]
    inputs: dict[str, Any]
    own_parameters: bool = False
    training: bool = False
    parameters: dict[str, Tensor] | None = None
    method: str = "forward"


@dataclass(frozen=True)
class Goal:
    """A case judged by how close the outputs come to a goal, not to the solution's outputs.

    inputs: the arguments of a function, or a module case.
    goal: the target outputs, by name.
    most_error: the largest mean squared error allowed.
    repeats: whether a second call, in another random state, has to give the same.
    """

    inputs: dict[str, Any] | ModuleCase
    goal: dict[str, Tensor]
    most_error: float
    repeats: bool = False


@dataclass(frozen=True)
class Raises:
    """A case in which the right answer is an exception.

    inputs: the arguments of a function, or a module case.
    error: the exception's name, such as "ValueError".
    """

    inputs: dict[str, Any] | ModuleCase
    error: str


Case = dict[str, Any] | ModuleCase | Goal | Raises
# Forms in which a case is asked once more.
ONES, DOUBLE, HALF = "sizes of 1", "float64", "float16"
GRADIENTS, AGAIN = "with gradients", "called a second time"
Inputs = Callable[[Draw], Case]


def drawn(leading: str = "", scale: float = 1.0, **given: Any) -> Inputs:
    """Make a plain case with `Draw.arguments`, which follows the solution's annotations."""
    return lambda draw: draw.arguments(leading, scale, **given)


@dataclass(frozen=True)
class Aspect:
    """One thing to get right, the points for it, and the cases that test it.

    cases: each makes the arguments of one call, by name and in call order, from a `Draw`; one
        plain case by default.
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


@dataclass(frozen=True)
class Exercise:
    """An exercise of a lesson. Its points are the sum of its aspects' points.

    returns: the names of the returned values, separated by spaces.
    keeps: module attributes that are outputs too; keeps_detached: without a graph.
    reads: module arguments whose parameters are outputs after the call.
    plain: it returns plain numbers or booleans.
    choices: words of which it returns one, and what is said of each where it is wrong.
    as_dict: it returns a dict with the names in `returns`.
    forbidden: torch functions that the learner has to implement, not call.
    trial: how the answer is used, by its name in `asking.trials`; it is called if "".
    builds_on: exercises whose answers this one uses.
    also: forms in which the last case of the first aspect is asked once more, for this aspect and
        for others that count outputs which it does not. A module with sizes of 1 is in train mode.
        There is no form with gradients if an aspect is about them.
    second: another case to call a second time, beside that last case.
    earlier: makes the arguments of the call before a second one, with the same sizes; by default
        they are those of the second, with other values.
    excuses: mutants that are right, by the start of their label, and why.
    begins_with: the mistake whose code learners are given, to repair it; none if "".
    measure: what is judged instead of the outputs, by its name in `judging.measures`.
    steady: whether the right answer to a case does not depend on its draw.
    challenge: whether it is optional. It is checked in the notebook, but never graded, and its
        points count nowhere.
    seconds: processor time for all its cases together.
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
    choices: Mapping[str, str] = field(default_factory=dict)
    as_dict: bool = False
    forbidden: tuple[str, ...] = ()
    trial: str = ""
    builds_on: tuple[str, ...] = ()
    also: tuple[str, ...] = (ONES, DOUBLE, GRADIENTS, AGAIN)
    second: Inputs | None = None
    earlier: Inputs | None = None
    excuses: Mapping[str, str] = field(default_factory=dict)
    begins_with: str = ""
    measure: str = ""
    steady: bool = False
    challenge: bool = False
    seconds: float = 5.0

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)
