"""The mutation test of an exercise: its check must reject wrong answers and accept right ones."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from autograder.asking.answer import Answer
from autograder.asking.collect import collect
from autograder.asking.question import Call, Question
from autograder.errors import AuthoringError
from autograder.judging.form import Form
from autograder.judging.judge import judge
from autograder.judging.key import AnswerKey
from autograder.lessons.exercise import Exercise

LEAST_ALTERNATIVES = 2
HINTS = 3


class Audit:
    """The mutation test of one exercise. Each finding raises AuthoringError."""

    def __init__(self, exercise: Exercise, question: Question, key: AnswerKey) -> None:
        self.exercise, self.question, self.key = exercise, question, key

    def run(self, right: dict[str, list[Answer]], wrong: dict[str, list[list[Answer]]]) -> None:
        """Run the audit. Raises AuthoringError.

        right: the answers of the solution and of every alternative.
        wrong: for every mistake, the answers of each code variant that makes it.
        """
        self._require(len(self.key.hints) == HINTS, f"should have {HINTS} hints")
        many = len(self.exercise.alternatives)
        self._require(
            many >= LEAST_ALTERNATIVES, f"needs {LEAST_ALTERNATIVES} alternatives and has {many}"
        )
        for case in self.key.cases:
            if case.form in (Form.EQUAL, Form.ALONE, Form.ONES):  # 1 · 6 is 6
                continue
            sizes = [size for size in case.sizes.values() if size > 1]
            distinct = len(set(sizes)) == len(sizes)
            self._require(distinct, f"has equal sizes in {case.sizes}")
        for name, answers in right.items():
            verdict = judge(self.key, answers)
            self._require(verdict.passed, f"refuses {name!r}: {verdict.sentence}")
        self._mistakes_are_seen(wrong)
        for name, answers in self._trivial(right["the solution"]):
            earned = judge(self.key, answers).points
            self._require(not earned, f"gives {earned} points for {name}")

    def _mistakes_are_seen(self, wrong: dict[str, list[list[Answer]]]) -> None:
        said = {mistake.name: mistake.say for mistake in self.key.mistakes}
        self._require(len(said) == len(self.key.mistakes), "has two mistakes of the same name")
        for mistake, answers in ((m, form) for m in self.key.mistakes for form in wrong[m.name]):
            unknown = _unknown_name(answers)
            self._require(not unknown, f"has a mistake {mistake.name!r} that ends in a {unknown}")
            verdict = judge(self.key.first(len(answers)), answers)
            self._require(not verdict.passed, f"lets the mistake {mistake.name!r} pass")
            confused = said.get(verdict.mistake) != mistake.say
            self._require(not confused, f"takes {mistake.name!r} for {verdict.mistake!r}")
            unearned = mistake.name == self.exercise.begins_with and verdict.points
            self._require(not unearned, f"gives {verdict.points} points for the code to repair")

    def _trivial(self, good: list[Answer]) -> Iterator[tuple[str, list[Answer]]]:
        """Yield answers that take no thought, in the form of good ones."""
        generator = torch.Generator().manual_seed(0)
        makers: dict[str, Callable[[Tensor], Tensor]] = {
            "zeros": torch.zeros_like,
            "ones": torch.ones_like,
            "random values": lambda t: torch.rand(t.shape, generator=generator).to(t.dtype),
        }
        if self.key.measure:  # other values may be right
            makers = {"zeros": torch.zeros_like}
        for name, make in makers.items():
            yield name, [self._made_of(answer.tensors, make) for answer in good]
        pairs = zip(self.question.calls, good, strict=True)
        yield "an input", [self._echo(call, answer.tensors) for call, answer in pairs]
        if self.question.reads:
            yield "doing nothing", collect(lambda *arguments: None, self.question)

    def _made_of(self, expected: dict[str, Tensor], make: Callable[[Tensor], Tensor]) -> Answer:
        return Answer({name: make(tensor) for name, tensor in expected.items()})

    def _echo(self, call: Call, expected: dict[str, Tensor]) -> Answer:
        """Answer with an input of the same shape and dtype for every output, or zeros."""
        inputs = [value for value in call.arguments.values() if isinstance(value, Tensor)]

        def echo(wanted: Tensor) -> Tensor:
            form = (wanted.shape, wanted.dtype)
            fitting = [value for value in inputs if (value.shape, value.dtype) == form]
            return fitting[0] if fitting else torch.zeros_like(wanted)

        return self._made_of(expected, echo)

    def _require(self, good: bool, finding: str) -> None:
        if not good:
            raise AuthoringError(f"the exercise {self.exercise.name} {finding}")


def _unknown_name(answers: list[Answer]) -> str:
    """Return the NameError that an answer ends in; "" if none does.

    A mistake that ends in one is badly written: no learner's code would.
    """
    problems = [answer.problem for answer in answers if answer.problem]
    return next((one.detail for one in problems if one.exception == NameError.__name__), "")
