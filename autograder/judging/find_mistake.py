"""Recognize a known mistake by the footprints of the answers."""

from functools import cached_property

from torch import Tensor

from autograder.asking.answer import Answer
from autograder.judging.footprint import Footprint, footprint, slack
from autograder.judging.judgment import Judgment, raised
from autograder.judging.key import MistakeKey

Footprints = list[Footprint]
RIGHT = 0.02  # of the slack: where a form goes right, it is off by its rounding alone


def find_mistake(judgment: Judgment, case: int) -> MistakeKey | None:
    """Find the known mistake that explains the answers, above all the one to `case`.

    It has to be wrong in that case, match the answer to it and to half of those that it could have
    spoiled, and leave no trace in a case where the answer is right.
    """
    return _Suspicion(judgment, case).best()


class _Suspicion:
    """Answers, and a case whose answer is wrong."""

    def __init__(self, judgment: Judgment, case: int) -> None:
        self.key, self.answers, self.wrong = judgment.key, judgment.answers, judgment.wrong
        self.case = case

    def best(self) -> MistakeKey | None:
        """Return the mistake that explains most."""
        forms = [(mistake, form) for mistake in self.key.mistakes for form in mistake.forms]
        suspects = [(mistake, form) for mistake, form in forms if self._explains(form)]
        if all(value.dim() == 0 for value in self.key.cases[self.case].expected.values()):
            # One wrong True or False proves little, so every case that a form knows has to agree.
            suspects = [(m, form) for m, form in suspects if self._agreement(form) == len(form)]
        mistake, _ = max(suspects, key=lambda pair: self._agreement(pair[1]), default=(None, []))
        return mistake

    @cached_property
    def _prints(self) -> list[Footprint]:
        return [footprint(answer) for answer in self.answers]

    def _explains(self, form: Footprints) -> bool:
        if not self._alike(form, self.case):
            return False
        bad = [self._alike(form, i) for i in range(len(form)) if self.wrong[i]]
        good = [self._alike(form, i) for i in range(len(form)) if not self.wrong[i]]
        return 2 * sum(bad) >= len(bad) and all(good)

    def _agreement(self, form: Footprints) -> int:
        return sum(self._alike(form, index) for index in range(len(self.answers)))

    def _alike(self, form: Footprints, index: int) -> bool:
        if index >= len(form):
            return False
        raises = self.key.cases[index].raises
        if raises and raised(form[index].problem, raises):
            return not self.wrong[index]  # whatever the message says
        if not form[index].matches(self._prints[index], self._slacks[index]):
            return False
        if not self.wrong[index] or self._looks_right(self._prints[index], index):
            return True
        return not self._looks_right(form[index], index)  # what is right explains nothing wrong

    def _looks_right(self, print_: Footprint, index: int) -> bool:
        if print_.problem or print_.form != self._right_prints[index].form:
            return False
        return print_.matches(self._right_prints[index], RIGHT * self._slacks[index])

    @cached_property
    def _right_prints(self) -> list[Footprint]:
        return [footprint(Answer(case.expected)) for case in self.key.cases]

    @cached_property
    def _slacks(self) -> list[Tensor]:
        pairs = zip(self.answers, self.key.cases, strict=True)
        return [slack(answer, case.tolerance) for answer, case in pairs]
