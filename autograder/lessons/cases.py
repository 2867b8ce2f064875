"""The cases of an exercise: what a call gets, and what counts as right."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from autograder.judging.form import Form
from autograder.lessons.draw import Draw


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
SIZES = (Form.ONES, Form.ALONE, Form.EQUAL, Form.LARGE)
CALLS = (Form.AGAIN, Form.RESIZED, Form.ANOTHER)
Inputs = Callable[[Draw], Case]


def in_train_mode(make: Callable[[Draw], ModuleCase]) -> Inputs:
    """Ask a module's case in train mode."""

    def case(draw: Draw) -> ModuleCase:
        made = replace(make(draw), training=True)
        draw.label(", ".join(filter(None, [draw.name, "in train mode"])))
        return made

    return case


def drawn(leading: str = "", scale: float = 1.0, **given: Any) -> Inputs:
    """Make a plain case with `Draw.arguments`, which follows the solution's annotations."""
    return lambda draw: draw.arguments(leading, scale, **given)
