"""The answers to an exercise, case by case and aspect by aspect, compared with its key."""

import builtins
from dataclasses import replace

from autograder.asking.answer import GRADIENT, Answer
from autograder.asking.problem import Problem, ProblemKind
from autograder.judging.compare import Comparison
from autograder.judging.form import AFTER_A_CALL, Form
from autograder.judging.key import AnswerKey, AspectKey, CaseKey
from autograder.judging.measures import measured
from autograder.judging.verdict import AspectResult, CaseCount

MOST_PROBLEMS = 5
WHOLE_CALL = "*"  # among what is wrong: the call failed, or changed its inputs


class Judgment:
    """Answers compared with a key.

    key: what is expected.
    answers: one for each case of the key.
    wrong: for each case, the names of the wrong outputs, and `WHOLE_CALL` if the call went wrong.
    aspects: the key's, where each wrong attribute counts in one aspect only.
    """

    def __init__(self, key: AnswerKey, answers: list[Answer]) -> None:
        if len(answers) != len(key.cases):
            raise ValueError(
                f"{key.exercise} has {len(key.cases)} cases, not {len(answers)} answers"
            )
        self.key = key
        self.answers = [
            _complete(case, measured(key.measure, case.arguments, answer))
            for case, answer in zip(key.cases, answers, strict=True)
        ]
        self.wrong = [self._wrong_outputs(index) for index in range(len(answers))]
        self.aspects = self._with_example(self._charge_once())

    @property
    def answered(self) -> bool:
        """Whether the learner has written anything in place of the stub."""
        stub = Problem(ProblemKind.NOT_ANSWERED, self.key.exercise)
        return not any(stub.same_as(answer.problem) for answer in self.answers)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why calls returned no tensors, each problem once."""
        found: list[Problem] = []
        for index in range(len(self.answers)):
            for problem in self._case_problems(index):
                if not any(problem.same_as(other) for other in found):
                    found.append(problem)
        return tuple(found[:MOST_PROBLEMS])

    def result(self, aspect: AspectKey) -> AspectResult:
        """Return the outcome of an aspect."""
        failing = self.failing(aspect)

        def count(hidden: bool) -> CaseCount:
            cases = [i for i in aspect.cases if self.key.cases[i].hidden is hidden]
            return CaseCount(sum(i not in failing for i in cases), len(cases))

        return AspectResult(aspect.name, aspect.points, not failing, count(False), count(True))

    def failing(self, aspect: AspectKey) -> list[int]:
        """List the cases in which an aspect is wrong."""
        return [i for i in aspect.cases if self.wrong[i] & {*self.counted(aspect, i), WHOLE_CALL}]

    def counted(self, aspect: AspectKey, index: int) -> list[str]:
        """List the outputs that count in a case: all, or those named and their gradients."""
        outputs = aspect.outputs
        of_gradients = any(name.startswith(GRADIENT) for name in outputs)
        return [
            name
            for name in self.key.cases[index].expected
            if name not in aspect.ignored
            and (not outputs or name in outputs or (name.startswith(GRADIENT) and not of_gradients))
        ]

    def comparison(self, index: int, name: str) -> Comparison:
        """Compare an output in a case with what is expected."""
        key, case = self.key, self.key.cases[index]
        return Comparison(
            name=name,
            got=self.answers[index].tensors[name],
            expected=case.expected[name],
            tolerance=case.tolerance.get(name, 0.0),
            dims=key.dims.get(name, ""),
            sizes=case.sizes,
            most_error=case.most_error.get(name),
            others=case.expected,
            label=case.label,
            choices=key.choices,
        )

    def right_at_first(self, case: CaseKey) -> bool:
        """Whether a first call like the one in a case is right: in its mode, with its arguments."""
        return any(
            not wrong
            and other.form not in AFTER_A_CALL
            and (other.dropout is None) == (case.dropout is None)
            and other.shapes.keys() == case.shapes.keys()
            for other, wrong in zip(self.key.cases, self.wrong, strict=True)
        )

    def only_in_training(self) -> bool:
        """Whether a module is right in evaluation mode, wrong in train mode.

        That is in all of train mode, or only where `dropout` is 0. (With sizes of 1 alone, these
        may be to blame.)
        """
        pairs = list(zip(self.key.cases, map(bool, self.wrong), strict=True))
        for training in ({case.dropout for case, _ in pairs} - {None}, {0.0}):
            follows = (bad == (case.dropout in training) for case, bad in pairs if not case.raises)
            if all(follows):
                cases = [case for case in self.key.cases if case.form != Form.ONES]
                return any(case.dropout is not None for case in cases)
        return False

    def _wrong_outputs(self, index: int) -> set[str]:
        case, answer = self.key.cases[index], self.answers[index]
        if case.raises:
            return set() if raised(answer.problem, case.raises) else {WHOLE_CALL}
        if answer.problem:
            return {WHOLE_CALL}
        wrong = {
            name
            for name in case.expected
            if name in answer.lacks or not self.comparison(index, name).right
        }
        return wrong | {WHOLE_CALL} if answer.changed else wrong

    def _charge_once(self) -> list[AspectKey]:
        """Return the aspects, such that a wrong attribute of the module counts in only one.

        That is the aspect about this attribute, or else the first in which it is wrong.
        """
        aspects = list(self.key.aspects)
        for name in self.key.keeps:
            charged = [n for n, aspect in enumerate(aspects) if self._charges(aspect, name)]
            about = [n for n in charged if name in aspects[n].outputs]
            for n in set(charged) - set((about or charged)[:1]):
                aspects[n] = replace(aspects[n], ignored=[*aspects[n].ignored, name])
        return aspects

    def _with_example(self, aspects: list[AspectKey]) -> list[AspectKey]:
        """Let the docstring's example count in the first aspect, if nothing else is wrong."""
        index = self.key.example
        if index is None or not self.wrong[index] or any(map(self.failing, aspects)):
            return aspects
        return [replace(aspects[0], cases=[*aspects[0].cases, index]), *aspects[1:]]

    def _charges(self, aspect: AspectKey, name: str) -> bool:
        return any(name in self.wrong[i] and name in self.counted(aspect, i) for i in aspect.cases)

    def _case_problems(self, index: int) -> list[Problem]:
        case, answer = self.key.cases[index], self.answers[index]
        if case.raises and raised(answer.problem, case.raises):
            return []
        if answer.problem:
            return [answer.problem]
        return [] if case.raises else list(answer.lacks.values())


def raised(problem: Problem | None, error: str) -> bool:
    """Whether the code stopped with this exception, or one of its kind."""
    if problem is None or not problem.exception:
        return False
    kind, wanted = (getattr(builtins, name, None) for name in (problem.exception, error))
    is_one = isinstance(kind, type) and isinstance(wanted, type) and issubclass(kind, wanted)
    return is_one or problem.exception == error


def _complete(case: CaseKey, answer: Answer) -> Answer:
    """Return the answer, or a problem if an output is missing (only forged answers lack one)."""
    given = answer.tensors.keys() | answer.lacks.keys()
    if answer.problem or case.raises or given == case.expected.keys():
        return answer
    said = f"other things than ({', '.join(case.expected)})"
    return Answer(problem=Problem(ProblemKind.COUNT, said))
