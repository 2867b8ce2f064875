"""What a check asks: how to call a learner's code, and which outputs to take from it.

This is everything that a learner's process needs in order to answer. The right answers are in
`autograder.judging.key`, and neither module refers to the other.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from autograder.asking.arguments import from_tree, map_tensors, to_tree

PAIRS = ("arguments", "build")  # a call's fields that are arguments by name


@dataclass(frozen=True)
class Call:
    """One call of a learner's function, or of a module built from the learner's class.

    arguments: by name, in call order.
    build: the constructor's arguments; None when the answer is a function.
    parameters: loaded into the module by name; None keeps those that the constructor made.
    method: the module's method to call; "" only builds the module.
    training: whether the module is in train mode.
    gradients: whether gradients of the outputs are outputs too.
    repeats: whether it is also an output whether a second call, in another random state, gives the
        same.
    earlier: a call that is made before this one, if there is one, and doesn't count. With `build`,
        it goes to another module; without, to the same function or module.
    """

    arguments: dict[str, Any]
    build: dict[str, Any] | None = None
    parameters: dict[str, Tensor] | None = None
    method: str = "forward"
    training: bool = False
    gradients: bool = False
    repeats: bool = False
    earlier: "Call | None" = None

    @property
    def dtype(self) -> torch.dtype:
        """The floating-point dtype of its arguments, or that it is given, or of its parameters."""
        values = [*self.arguments.values(), *(self.parameters or {}).values()]
        dtypes = [v.dtype if isinstance(v, Tensor) else v for v in values]
        floating = (d for d in dtypes if isinstance(d, torch.dtype) and d.is_floating_point)
        return next(floating, torch.float32)

    def map_tensors(self, change: Callable[[Tensor], Tensor]) -> "Call":
        """Return the same call with `change` applied to its floating-point tensors."""
        return replace(
            self,
            arguments=map_tensors(self.arguments, change),
            parameters=map_tensors(self.parameters, change),
            earlier=self.earlier and self.earlier.map_tensors(change),
        )

    def to_tree(self) -> dict[str, Any]:
        pairs = {name: getattr(self, name) for name in PAIRS}
        changed = {n: v if v is None else _pairs_to_tree(v) for n, v in pairs.items()}
        return vars(self) | changed | {"earlier": self.earlier and self.earlier.to_tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Call":
        pairs = {name: tree[name] for name in PAIRS}
        changed = {n: v if v is None else _pairs_from_tree(v) for n, v in pairs.items()}
        earlier = tree["earlier"] and cls.from_tree(tree["earlier"])
        return cls(**(tree | changed | {"earlier": earlier}))


def _pairs_to_tree(values: dict[str, Any]) -> list[list[Any]]:
    # JSON guarantees the order of a list, but not of an object.
    return [[name, to_tree(value)] for name, value in values.items()]


def _pairs_from_tree(pairs: list[list[Any]]) -> dict[str, Any]:
    return {name: from_tree(value) for name, value in pairs}


@dataclass(frozen=True)
class Question:
    """How to call a learner's code, and which outputs to take from it.

    returns: names of the returned values, in order.
    keeps: module attributes that are outputs too.
    keeps_detached: whether these must hold no graph.
    reads: module arguments whose parameters are outputs after the call.
    plain: whether it returns plain numbers or booleans.
    choices: the words; it returns one of them.
    as_dict: whether it returns a dict with the names in `returns`.
    forbidden: names of torch functions that it may not call.
    from_file: whether it is a module whose parameters come from a file.
    trial: how it is used, by its name in `asking.trials`; if "", it is just called.
    seconds: processor time for all calls together.
    contract: a digest of what the exercise asks for, which a notebook states too.
    """

    exercise: str
    calls: list[Call]
    returns: list[str]
    keeps: list[str] = field(default_factory=list)
    keeps_detached: bool = False
    reads: list[str] = field(default_factory=list)
    plain: bool = False
    choices: list[str] = field(default_factory=list)
    as_dict: bool = False
    forbidden: list[str] = field(default_factory=list)
    from_file: bool = False
    trial: str = ""
    seconds: float = 10.0
    contract: str = ""

    @property
    def returns_tensors(self) -> bool:
        return not self.plain and not self.choices

    def to_tree(self) -> dict[str, Any]:
        return vars(self) | {"calls": [call.to_tree() for call in self.calls]}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Question":
        return cls(**(tree | {"calls": [Call.from_tree(call) for call in tree["calls"]]}))
