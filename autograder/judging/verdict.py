"""What a judge found: data that a card shows, a gradebook stores and a report counts."""

from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor

from autograder.asking.answer import Problem


@dataclass(frozen=True)
class CaseCount:
    """How many cases are right, of how many."""

    right: int = 0
    of: int = 0


@dataclass(frozen=True)
class AspectResult:
    """What became of one aspect.

    public: the cases that the notebook shows; hidden: those that only grading uses.
    """

    name: str
    points: int
    held: bool
    public: CaseCount = CaseCount()
    hidden: CaseCount = CaseCount()


@dataclass(frozen=True)
class Exhibit:
    """The first case that went wrong.

    case: its number among the cases of the exercise.
    label: its name, if it has one.
    shapes: of its tensor arguments, by name.
    output: the name of the wrong output, empty when the call gave no tensors.
    expected, got: that output, or None; for a hidden case they stay hidden.
    """

    case: int
    label: str
    shapes: dict[str, list[int]]
    output: str = ""
    expected: Tensor | None = None
    got: Tensor | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Verdict:
    """The outcome of one exercise.

    sentence: what is wrong, empty when all is right.
    mistake: the name of the known mistake, if it is one.
    problems: what stood in the way of tensors in any case, each trouble once.
    """

    exercise: str
    lesson: str
    aspects: list[AspectResult]
    sentence: str = ""
    mistake: str = ""
    exhibit: Exhibit | None = None
    answered: bool = True
    printed: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def points(self) -> int:
        return sum(aspect.points for aspect in self.aspects if aspect.held)

    @property
    def max_points(self) -> int:
        return sum(aspect.points for aspect in self.aspects)

    @property
    def passed(self) -> bool:
        return all(aspect.held for aspect in self.aspects)

    def summary(self) -> dict[str, Any]:
        """The verdict in plain values, without tensors."""
        return {
            "exercise": self.exercise,
            "points": self.points,
            "max_points": self.max_points,
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "sentence": self.sentence,
            "mistake": self.mistake,
            "answered": self.answered,
            "problems": [asdict(problem) for problem in self.problems],
        }
