"""Verdicts: data that a card shows, a gradebook stores and a report counts."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from autograder.asking.problem import Problem, ProblemKind
from autograder.asking.question import Question

MOST_SHOWN = 64  # numbers among a case's inputs
Plain = Tensor | torch.dtype | int | float | bool | None  # an argument that a card can show


@dataclass(frozen=True)
class CaseCount:
    """How many cases are right, out of how many."""

    right: int = 0
    of: int = 0


@dataclass(frozen=True)
class AspectResult:
    """The outcome of one aspect.

    public: the cases that the notebook shows.
    hidden: the cases that only grading uses.
    """

    name: str
    points: int
    held: bool
    public: CaseCount = CaseCount()
    hidden: CaseCount = CaseCount()


@dataclass(frozen=True)
class Exhibit:
    """The failing case that tells most.

    case: its index among the exercise's cases.
    label: its name, if it has one.
    shapes: the shapes of its tensor arguments, by name.
    output: the name of the wrong output, empty if the call returned no tensors.
    expected, got: that output, or None; always None for a hidden case.
    wrong: where the two differ, if they have the same shape.
    sizes: the size of each named dimension.
    inputs: the arguments of the call by name, if they are small enough to be shown.
    example: whether it is the example in the exercise's docstring.
    """

    case: int
    label: str
    shapes: dict[str, list[int]]
    output: str = ""
    expected: Tensor | None = None
    got: Tensor | None = None
    wrong: Tensor | None = None
    hidden: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    example: bool = False


# Problems in which no call was made.
NEVER_CALLED = {
    ProblemKind.UNDEFINED,
    ProblemKind.CHECK_TIMED_OUT,
    ProblemKind.CHECK_WAITED,
    ProblemKind.NOT_RUN,
    ProblemKind.NO_ANSWER,
    ProblemKind.UNREADABLE,
    ProblemKind.NOT_JUDGED,
}
# Problems that leave the answer unknown: the notebook, its check or its judge ended too early.
UNKNOWN = {ProblemKind.NOT_RUN, ProblemKind.CHECK_WAITED, ProblemKind.NOT_JUDGED}


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise.

    sentence: what is wrong, empty if everything is right.
    mistake: the name of the known mistake that it is about, if it is about one.
    rules: the ids of the rules that wrote it (`judging.finding`), in order, if no mistake did.
    blamed_on: the exercises that have to be finished first, if it asks for that.
    recognized: whether it says what is wrong, not only where values are off.
    printed: how many lines the code printed.
    output: the beginning of what it printed in the case that is shown, or else in the first.
    problems: why calls returned no tensors, each problem once.
    given_up: whether the learner took the course's solution, which earns nothing.
    challenge: whether it is optional; its points then count nowhere.
    """

    exercise: str
    lesson: str
    aspects: list[AspectResult]
    sentence: str = ""
    mistake: str = ""
    rules: tuple[str, ...] = ()
    blamed_on: tuple[str, ...] = ()
    recognized: bool = True
    exhibit: Exhibit | None = None
    answered: bool = True
    printed: int = 0
    output: str = ""
    problems: tuple[Problem, ...] = ()
    given_up: bool = False
    challenge: bool = False

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects if aspect.held)

    @property
    def max_points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    @property
    def passed(self) -> bool:
        return all(aspect.held for aspect in self.aspects)

    @property
    def graded(self) -> bool:
        """Whether the answer was seen; if not, the points are unknown."""
        return not any(problem.kind in UNKNOWN for problem in self.problems)

    @property
    def finished(self) -> bool:
        """Whether other exercises can build on this one."""
        return self.passed or self.given_up

    def with_inputs(self, question: Question) -> "Verdict":
        """Return the verdict with the inputs of the case that it shows, if they are small."""
        if self.exhibit is None or self.exhibit.hidden:
            return self
        call = question.calls[self.exhibit.case]
        if call.build is not None or call.earlier is not None or question.trial:
            return self
        if not all(isinstance(v, Plain) for v in call.arguments.values()):
            return self
        sizes = [v.numel() for v in call.arguments.values() if isinstance(v, Tensor)]
        if sum(sizes) > MOST_SHOWN:
            return self
        return replace(self, exhibit=replace(self.exhibit, inputs=call.arguments))

    def summary(self) -> dict[str, Any]:
        """Return the verdict as plain values, without tensors."""
        return {
            "exercise": self.exercise,
            "points": self.points,
            "graded": self.graded,
            "max_points": self.max_points,
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "sentence": self.sentence,
            "mistake": self.mistake,
            "rules": list(self.rules),
            "blamed_on": list(self.blamed_on),
            "given_up": self.given_up,
            "answered": self.answered,
            "problems": [asdict(problem) for problem in self.problems],
        }
