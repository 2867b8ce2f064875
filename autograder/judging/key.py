"""The right answers and the known wrong ones: everything that a judge needs."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from torch import Tensor

from autograder.asking.arguments import from_tree, to_tree
from autograder.judging.footprint import Footprint
from autograder.judging.form import Form


@dataclass(frozen=True)
class CaseKey:
    """The right answer to one call.

    label: the case's name, if its shapes do not identify it.
    shapes: the shapes of its tensor arguments, by name.
    sizes: the size of each named dimension, such as {"n_query": 3}.
    expected: tensors by name.
    tolerance: how far each of them may be off, absolute.
    raises: the name of the exception that is the right answer, if any.
    most_error: the largest mean squared error allowed, for outputs that are judged by how well
        they do; such an output has no other tolerance.
    dropout: the share that is dropped; None in evaluation mode or without dropout.
    form: the form in which it is asked.
    fresh: whether it is another draw, as hidden cases are, for an answer that is right so far.
    hidden: whether only grading uses the case.
    arguments: what a measure needs; empty if outputs are judged as they are.
    """

    label: str
    shapes: dict[str, list[int]]
    sizes: dict[str, int]
    expected: dict[str, Tensor]
    tolerance: dict[str, float]
    raises: str
    most_error: dict[str, float]
    dropout: float | None
    form: Form
    fresh: bool
    hidden: bool
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether it is among the cases that a check in the notebook starts with."""
        return not (self.fresh or self.hidden)

    def to_tree(self) -> dict[str, Any]:
        return vars(self) | {"arguments": {n: to_tree(v) for n, v in self.arguments.items()}}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "CaseKey":
        arguments = {name: from_tree(value) for name, value in tree["arguments"].items()}
        return cls(**(tree | {"arguments": arguments, "form": Form(tree["form"])}))


@dataclass(frozen=True)
class AspectKey:
    """One thing to get right: the named outputs, or all but those ignored, in these cases."""

    name: str
    points: int
    cases: list[int]
    outputs: list[str]
    ignored: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class MistakeKey:
    """A known mistake: what to say about it, and how to recognize it.

    variants: for each code that makes it, the footprints of its answers to all cases that are not
        fresh.
    """

    name: str
    say: str
    variants: list[list[Footprint]]

    def to_tree(self) -> dict[str, Any]:
        variants = [[footprint.to_tree() for footprint in one] for one in self.variants]
        return vars(self) | {"variants": variants}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "MistakeKey":
        variants = [[Footprint.from_tree(leaf) for leaf in one] for one in tree["variants"]]
        return cls(**(tree | {"variants": variants}))


@dataclass(frozen=True)
class AnswerKey:
    """Everything known about an exercise's right and wrong answers.

    dims: for each output, its named dimensions, such as "*batch n_query n_key".
    builds_on: exercises whose answers this one uses.
    keeps: outputs that are attributes of the module.
    choices: for each of the question's choices, what to say if it is the wrong one.
    challenge: whether it is optional, and never graded.
    measure: what is judged instead of the outputs, by its name in `judging.measures`.
    unneeded: arguments that the solution never reads.
    example: the case that is the docstring's example, if it is one. It belongs to no aspect: it
        counts in the first if nothing else is wrong.
    """

    exercise: str
    lesson: str
    dims: dict[str, str]
    cases: list[CaseKey]
    aspects: list[AspectKey]
    mistakes: list[MistakeKey]
    hints: list[str]
    builds_on: list[str]
    keeps: list[str]
    choices: list[str] = field(default_factory=list)
    challenge: bool = False
    measure: str = ""
    example: int | None = None
    unneeded: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    def first(self, count: int) -> "AnswerKey":
        """Return the key to the first `count` cases alone."""
        return replace(
            self,
            cases=self.cases[:count],
            aspects=[
                replace(aspect, cases=[i for i in aspect.cases if i < count])
                for aspect in self.aspects
            ],
            mistakes=[
                replace(mistake, variants=[one[:count] for one in mistake.variants])
                for mistake in self.mistakes
            ],
        )

    def to_tree(self) -> dict[str, Any]:
        return vars(self) | {
            "cases": [case.to_tree() for case in self.cases],
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "mistakes": [mistake.to_tree() for mistake in self.mistakes],
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "AnswerKey":
        return cls(
            **tree
            | {
                "cases": [CaseKey.from_tree(case) for case in tree["cases"]],
                "aspects": [AspectKey(**aspect) for aspect in tree["aspects"]],
                "mistakes": [MistakeKey.from_tree(mistake) for mistake in tree["mistakes"]],
            }
        )
