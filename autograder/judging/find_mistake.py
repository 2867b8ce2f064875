"""Recognize a known mistake by the footprints of the answers."""

from functools import cached_property

from torch import Tensor

from autograder.asking.answer import Answer
from autograder.judging.footprint import Footprint, footprint, slack
from autograder.judging.judgment import Judgment, raised
from autograder.judging.key import MistakeKey

Footprints = list[Footprint]
RIGHT = 0.02  # of the slack: where a mistake goes right, it is off by its rounding alone


def find_mistake(judgment: Judgment, case: int) -> MistakeKey | None:
    """Find the known mistake that explains the answers, above all the one to `case`.

    It has to be wrong in that case, match the answer to it and to half of those that it could have
    spoiled, and leave no trace in a case where the answer is right.
    """
    return _Lineup(judgment, case).best()


class _Lineup:
    """Answers, and a case whose answer is wrong."""

    def __init__(self, judgment: Judgment, case: int) -> None:
        self.key, self.answers, self.wrong = judgment.key, judgment.answers, judgment.wrong
        self.case = case

    def best(self) -> MistakeKey | None:
        """Return the mistake that explains most."""
        suspects = [
            (mistake, known)
            for mistake in self.key.mistakes
            for known in mistake.variants
            if self._explains(known)
        ]
        if all(value.dim() == 0 for value in self.key.cases[self.case].expected.values()):
            # One wrong True or False proves little, so every case that is known has to agree.
            suspects = [(m, known) for m, known in suspects if self._agreement(known) == len(known)]
        mistake, _ = max(suspects, key=lambda pair: self._agreement(pair[1]), default=(None, []))
        return mistake

    @cached_property
    def _footprints(self) -> list[Footprint]:
        return [footprint(answer) for answer in self.answers]

    def _explains(self, known: Footprints) -> bool:
        if not self._alike(known, self.case):
            return False
        bad = [self._alike(known, i) for i in range(len(known)) if self.wrong[i]]
        good = [self._alike(known, i) for i in range(len(known)) if not self.wrong[i]]
        return 2 * sum(bad) >= len(bad) and all(good)

    def _agreement(self, known: Footprints) -> int:
        return sum(self._alike(known, index) for index in range(len(self.answers)))

    def _alike(self, known: Footprints, index: int) -> bool:
        if index >= len(known):
            return False
        raises = self.key.cases[index].raises
        if raises and raised(known[index].problem, raises):
            return not self.wrong[index]  # whatever the message says
        if not known[index].matches(self._footprints[index], self._slacks[index]):
            return False
        if not self.wrong[index] or self._looks_right(self._footprints[index], index):
            return True
        return not self._looks_right(known[index], index)  # what is right explains nothing wrong

    def _looks_right(self, one: Footprint, index: int) -> bool:
        if one.problem or one.structure != self._right_footprints[index].structure:
            return False
        return one.matches(self._right_footprints[index], RIGHT * self._slacks[index])

    @cached_property
    def _right_footprints(self) -> list[Footprint]:
        return [footprint(Answer(case.expected)) for case in self.key.cases]

    @cached_property
    def _slacks(self) -> list[Tensor]:
        pairs = zip(self.answers, self.key.cases, strict=True)
        return [slack(answer, case.tolerance) for answer, case in pairs]
