"""The two halves of a built exercise: what to ask, and what the answer should be.

`Question` is all that a learner's process needs in order to answer; `AnswerKey` is all that a
judge needs in order to mark. Neither refers to the other, so that grading can hand the question
to a sandbox and keep the key outside.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from torch import Tensor

from autograder.arguments import from_tree, map_tensors, to_tree
from autograder.footprint import Footprint


@dataclass(frozen=True)
class Call:
    """One call of a learner's function, or of a module built from the learner's class.

    arguments: by name, in call order.
    build: arguments of the class's constructor; None when the answer is a function.
    parameters: loaded into the module by name; None leaves those that the constructor made.
    method: of the module, the one that is called; "" only builds it.
    training: whether the module is in train mode.
    gradients: whether gradients of the outputs are outputs as well.
    """

    arguments: dict[str, Any]
    build: dict[str, Any] | None = None
    parameters: dict[str, Tensor] | None = None
    method: str = "forward"
    training: bool = False
    gradients: bool = False

    def map_tensors(self, change: Callable[[Tensor], Tensor]) -> "Call":
        """The same call with its floating point tensors changed."""
        arguments = {name: map_tensors(value, change) for name, value in self.arguments.items()}
        return replace(self, arguments=arguments, parameters=map_tensors(self.parameters, change))

    def to_tree(self) -> dict[str, Any]:
        return vars(self) | {
            "arguments": _pairs_to_tree(self.arguments),
            "build": None if self.build is None else _pairs_to_tree(self.build),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Call":
        build = tree["build"]
        changes = {
            "arguments": _pairs_from_tree(tree["arguments"]),
            "build": None if build is None else _pairs_from_tree(build),
        }
        return cls(**(tree | changes))


def _pairs_to_tree(values: dict[str, Any]) -> list[list]:
    # JSON keeps the order of a list for certain; a dict's order is only a courtesy.
    return [[name, to_tree(value)] for name, value in values.items()]


def _pairs_from_tree(pairs: list[list]) -> dict[str, Any]:
    return {name: from_tree(value) for name, value in pairs}


@dataclass(frozen=True)
class Question:
    """How to call what a learner wrote, and what to take from it.

    returns: the names of what it gives back, in order.
    keeps: attributes of a module that are outputs as well; keeps_detached: they hold no graph.
    reads: arguments that are modules and whose parameters are outputs after the call.
    plain: whether it gives back plain numbers or booleans.
    choices: words of which it gives back one.
    as_dict: whether it gives back a dict of the names in `returns`.
    forbidden: names of torch functions that it may not call.
    seconds: processor time that all calls together may take.
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
    seconds: float = 10.0

    def to_tree(self) -> dict[str, Any]:
        return vars(self) | {"calls": [call.to_tree() for call in self.calls]}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Question":
        return cls(**(tree | {"calls": [Call.from_tree(call) for call in tree["calls"]]}))


@dataclass(frozen=True)
class CaseKey:
    """The right answer to one call.

    label: what the case is called, if its shapes do not say it.
    shapes: the shapes of its tensor arguments, by name.
    sizes: what each named dimension measures, such as {"n_query": 3}.
    expected: tensors by name.
    tolerance: how far each of them may be off, absolute.
    raises: the name of the exception that is the right answer, if it is one.
    most_error: for an output that is judged by what it is good for, the largest mean squared
        error that it may have; such an output has no other tolerance.
    hidden: whether only grading uses it.
    """

    label: str
    shapes: dict[str, list[int]]
    sizes: dict[str, int]
    expected: dict[str, Tensor]
    tolerance: dict[str, float]
    raises: str
    most_error: dict[str, float]
    hidden: bool


@dataclass(frozen=True)
class AspectKey:
    """One thing to get right: the named outputs, or all of them, in these cases."""

    name: str
    points: int
    cases: list[int]
    outputs: list[str]


@dataclass(frozen=True)
class MistakeKey:
    """A known mistake: what to say of it, and the footprint of its answer to every call."""

    name: str
    say: str
    footprints: list[Footprint]


@dataclass(frozen=True)
class AnswerKey:
    """All that is known of an exercise's right and wrong answers.

    dims: for each output its named dimensions, such as "*batch n_query n_key".
    builds_on: exercises whose answers this one uses.
    """

    exercise: str
    lesson: str
    dims: dict[str, str]
    cases: list[CaseKey]
    aspects: list[AspectKey]
    mistakes: list[MistakeKey]
    hints: list[str]
    builds_on: list[str]

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    def to_tree(self) -> dict[str, Any]:
        mistakes = [
            vars(m) | {"footprints": [print_.to_tree() for print_ in m.footprints]}
            for m in self.mistakes
        ]
        return vars(self) | {
            "cases": [vars(case) for case in self.cases],
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "mistakes": mistakes,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "AnswerKey":
        mistakes = [
            MistakeKey(**(m | {"footprints": [Footprint.from_tree(f) for f in m["footprints"]]}))
            for m in tree["mistakes"]
        ]
        return cls(
            **tree
            | {
                "cases": [CaseKey(**case) for case in tree["cases"]],
                "aspects": [AspectKey(**aspect) for aspect in tree["aspects"]],
                "mistakes": mistakes,
            }
        )
