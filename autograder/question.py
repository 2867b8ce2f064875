"""The two halves of a built exercise: what to ask, and what the answer should be.

`Question` is all that a learner's process needs in order to answer; `AnswerKey` is all that a
judge needs in order to mark. Neither refers to the other, so that grading can hand the question
to a sandbox and keep the key outside.
"""

from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from autograder.answer import Answer


@dataclass(frozen=True)
class Question:
    """How to call a learner's function.

    returns: the names of what it gives back, in order.
    forbidden: names of torch functions that it may not call.
    calls: for each case the arguments by name, in call order.
    seconds: how long all calls together may take.
    """

    exercise: str
    returns: list[str]
    forbidden: list[str]
    calls: list[dict[str, Any]]
    seconds: float = 10.0

    def to_tree(self) -> dict[str, Any]:
        # JSON keeps the order of a list for certain; a dict's order is only a courtesy.
        calls = [[list(argument) for argument in call.items()] for call in self.calls]
        return vars(self) | {"calls": calls}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Question":
        return cls(**(tree | {"calls": [dict(call) for call in tree["calls"]]}))


@dataclass(frozen=True)
class CaseKey:
    """The right answer to one call.

    shapes: the shapes of its tensor arguments, by name.
    sizes: what each named dimension measures, such as {"n_query": 3}.
    expected: tensors by name.
    tolerance: how far each of them may be off, absolute.
    hidden: whether only grading uses it.
    """

    shapes: dict[str, list[int]]
    sizes: dict[str, int]
    expected: dict[str, Tensor]
    tolerance: dict[str, float]
    hidden: bool


@dataclass(frozen=True)
class AspectKey:
    """One thing to get right: the named outputs, in these cases."""

    name: str
    points: int
    cases: list[int]
    outputs: list[str]


@dataclass(frozen=True)
class MistakeKey:
    """A known mistake: what to say of it, and what it answers to every call."""

    name: str
    say: str
    answers: list[Answer]


@dataclass(frozen=True)
class AnswerKey:
    """All that is known of an exercise's right and wrong answers.

    dims: for each output its named dimensions, such as "*batch n_query n_key".
    """

    exercise: str
    lesson: str
    dims: dict[str, str]
    cases: list[CaseKey]
    aspects: list[AspectKey]
    mistakes: list[MistakeKey]
    hints: list[str]

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    def to_tree(self) -> dict[str, Any]:
        mistakes = [vars(m) | {"answers": [a.to_tree() for a in m.answers]} for m in self.mistakes]
        return vars(self) | {
            "cases": [vars(case) for case in self.cases],
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "mistakes": mistakes,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "AnswerKey":
        mistakes = [
            MistakeKey(**(m | {"answers": [Answer.from_tree(a) for a in m["answers"]]}))
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
