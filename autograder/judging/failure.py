"""Which of the cases that went wrong tells a learner most, and what a card shows of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from autograder.asking.answer import GRADIENT, Answer
from autograder.asking.problem import Problem
from autograder.judging.compare import Comparison
from autograder.judging.differences.shapes import IN_ONE_GO
from autograder.judging.explain_difference import recognize_difference
from autograder.judging.finding import Finding
from autograder.judging.form import AFTER_A_CALL
from autograder.judging.judgment import WHOLE_CALL, Judgment
from autograder.judging.key import CaseKey
from autograder.judging.verdict import Exhibit


def worst_failure(judgment: Judgment) -> "Failure | None":
    """Return the failure that tells a learner most, if there is one."""
    return min(_failures(judgment), key=lambda failure: failure.rank, default=None)


def failed_example(judgment: Judgment) -> "Failure | None":
    """Return the docstring's example, if it went wrong."""
    index = judgment.key.example
    return Failure(judgment, 0, index) if index is not None and judgment.wrong[index] else None


def _failures(judgment: Judgment) -> "Iterator[Failure]":
    for number, aspect in enumerate(judgment.aspects):
        yield from (Failure(judgment, number, index) for index in judgment.failing(aspect))


@dataclass(frozen=True)
class Failure:
    """A case in which an aspect is wrong.

    number, index: of the aspect and of the case.
    """

    judgment: Judgment
    number: int
    index: int

    @property
    def rank(self) -> tuple[bool, bool, bool, int, bool]:
        """The lowest tells a learner most.

        What goes wrong in a first call, or in a result, explains what follows from it. A lost
        gradient explains a lost dtype. And a case that is not hidden can be shown in full.
        """
        counted = self.judgment.wrong[self.index] & {*self._names, WHOLE_CALL}
        only_gradients = all(name.startswith(GRADIENT) for name in counted)
        only_dtype = all(map(self._lost_dtype, counted))
        form = self.case.form
        return form in AFTER_A_CALL, only_dtype, only_gradients, self.number, self.case.hidden

    @property
    def case(self) -> CaseKey:
        return self.judgment.key.cases[self.index]

    @property
    def answer(self) -> Answer:
        return self.judgment.answers[self.index]

    @cached_property
    def problem(self) -> Problem | None:
        """What ended the call, or else why the first missing output that counts is missing."""
        lacks = self.answer.lacks
        return self.answer.problem or next((lacks[n] for n in self._names if n in lacks), None)

    @property
    def wrong(self) -> Comparison | None:
        """The first wrong output that a rule recognizes, or else the first wrong one."""
        return self._told[0]

    @property
    def found(self) -> Finding | None:
        """What a rule recognizes in the wrong output."""
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[Comparison | None, Finding | None]:
        """The output to tell about: a wrong attribute may explain a wrong result."""
        if self.problem:
            return None, None
        compared = [
            self.judgment.comparison(self.index, name)
            for name in self._suspects()
            if name in self.answer.tensors
        ]
        found = ((one, recognize_difference(one, self._elsewhere(one.name))) for one in compared)
        recognized = (pair for pair in found if pair[1])
        return next(recognized, (next(iter(compared), None), None))

    def _elsewhere(self, name: str) -> list[Comparison]:
        """Return the comparisons of an output in the other cases where it is wrong."""
        judgment = self.judgment
        return [
            judgment.comparison(index, name)
            for index, wrong in enumerate(judgment.wrong)
            if index != self.index and name in wrong and name in judgment.answers[index].tensors
        ]

    @property
    def is_finite(self) -> bool:
        """Whether the call returned no NaN and no infinite number."""
        return all(bool(value.isfinite().all()) for value in self.answer.tensors.values())

    def exhibit(self) -> Exhibit:
        """Return what a card shows about it."""
        case, wrong = self.case, self.wrong
        is_example = self.index == self.judgment.key.example
        exhibit = Exhibit(
            self.index,
            case.label,
            case.shapes,
            hidden=case.hidden,
            sizes=case.sizes,
            example=is_example,
        )
        if wrong is None or case.hidden:
            return exhibit
        cell_by_cell = wrong.most_error is None and wrong.got.shape == wrong.expected.shape
        return replace(
            exhibit,
            output=wrong.name,
            expected=wrong.expected,
            got=wrong.got,
            wrong=wrong.wrong_at if cell_by_cell else None,
        )

    @property
    def _names(self) -> list[str]:
        return self.judgment.counted(self.judgment.aspects[self.number], self.index)

    def _suspects(self) -> list[str]:
        """List the wrong outputs that count, and then those that the module keeps.

        What a second reading gives comes last: it tells something only where the first is right.
        """
        wrong = self.judgment.wrong[self.index]
        counted = [name for name in self._names if name in wrong]
        first = [name for name in counted if name not in IN_ONE_GO] or counted
        keeps = self.judgment.key.keeps
        kept = [name for name in self.case.expected if name in wrong and name in keeps]
        return list(dict.fromkeys([*first, *kept])) if first else []

    def _lost_dtype(self, name: str) -> bool:
        """Whether an output has torch's default dtype, where another was given."""
        expected, got = self.case.expected.get(name), self.answer.tensors.get(name)
        if expected is None or got is None or expected.dtype == torch.float32:
            return False
        return expected.is_floating_point() and got.dtype == torch.float32
