"""The right answers to drawn cases: what the solution returns, and how far others may be off.

Expected values are computed in float64 from the float32 inputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from autograder.asking.answer import GRADIENT, REPEATS, Answer
from autograder.asking.arguments import map_tensors
from autograder.asking.collect import trusted_outputs
from autograder.asking.question import Call, Question
from autograder.asking.surroundings import silence
from autograder.building.drawing import DrawnCase
from autograder.errors import AuthoringError
from autograder.judging.key import CaseKey
from autograder.judging.measures import measured
from autograder.lessons.cases import Goal

ROUNDING = 16  # how far inputs are moved to find the tolerance, in rounding errors
# The least relative error that counts, by dtype. Right code that takes a detour over logarithms of
# large scores is off by 2e-5 in float32.
LEAST = {torch.float64: 1e-10, torch.float32: 3e-5, torch.float16: 1e-2, torch.bfloat16: 4e-2}
# A rounding error; 16 of bfloat16's own would hide any mistake.
ERROR = {torch.bfloat16: 2.0**-12}


@dataclass(frozen=True)
class Solution:
    """The course's solution of an exercise, how it is called, and how answers are judged.

    measure: what is judged instead of the outputs, by its name.
    """

    code: Callable
    question: Question
    measure: str

    def case_keys(self, cases: Sequence[DrawnCase], known: Sequence[CaseKey] = ()) -> list[CaseKey]:
        """Return the answers to `cases`, which are the question's calls. Raises AuthoringError.

        known: answers that hold for every case with the same label, so this isn't run again.
        """
        by_name = {key.label: key for key in known if key.label}
        return [self._case_key(case, by_name.get(case.draw.name)) for case in cases]

    def _case_key(self, case: DrawnCase, known: CaseKey | None) -> CaseKey:
        if known:
            key = _key(case, known.expected, known.tolerance, known.most_error)
        elif case.goal:  # answers need to come near the goal, so the solution isn't run
            key = _goal_key(case, case.goal)
        elif self.measure:
            outputs = Answer(self._expected(case))
            found = measured(self.measure, case.call.arguments, outputs).tensors
            key = _key(case, found, dict.fromkeys(found, 0.0), {})
        else:
            key = self._compared_key(case)
        return replace(key, arguments=case.call.arguments) if self.measure else key

    def _compared_key(self, case: DrawnCase) -> CaseKey:
        expected = disturbed = self._expected(case)
        if any(map(Tensor.is_floating_point, expected.values())):  # other dtypes are not rounded
            disturbed = self._expected(case, ROUNDING)
        scales, least = _scales(expected), LEAST[case.call.dtype]
        tolerance = {
            name: _tolerance(value, disturbed[name], least * scales[name])
            for name, value in expected.items()
        }
        return _key(case, expected, tolerance, {})

    def _expected(self, case: DrawnCase, noise: float = 0.0) -> dict[str, Tensor]:
        """Compute the outputs in float64 and return them in the inputs' dtype.

        noise: the size of random changes to the inputs and parameters, in rounding errors.
        """
        generator = torch.Generator().manual_seed(0)

        def precise(value: Tensor) -> Tensor:
            exact = value.double()
            if not noise:
                return exact
            changes = torch.randn(value.shape, generator=generator)
            error = ERROR.get(value.dtype, torch.finfo(value.dtype).eps)
            return exact * (1 + noise * error * changes)

        with silence():
            outputs = self._outputs(case, case.call.map_tensors(precise))
        return map_tensors(outputs, rounding_to(case.call.dtype))

    def _outputs(self, case: DrawnCase, call: Call) -> dict[str, Tensor]:
        """Return the outputs of a call; {} if it should raise an exception."""
        try:
            return trusted_outputs(self.code, self.question, call)
        except Exception as error:
            if case.raises:
                return {}
            said = f"{self.question.exercise} fails: {type(error).__name__}: {error}"
            raise AuthoringError(f"the solution of {said}") from error


def _goal_key(case: DrawnCase, goal: Goal) -> CaseKey:
    repeats = {REPEATS: torch.tensor(True)} if case.call.repeats else {}
    scales = _scales(goal.goal).items()
    tolerance = {name: LEAST[case.call.dtype] * scale for name, scale in scales}
    near = [name for name, value in goal.goal.items() if value.is_floating_point()]
    most_error = dict.fromkeys(near, goal.most_error)
    return _key(case, goal.goal | repeats, tolerance | dict.fromkeys(repeats, 0.0), most_error)


def _key(
    case: DrawnCase,
    expected: dict[str, Tensor],
    tolerance: dict[str, float],
    most_error: dict[str, float],
) -> CaseKey:
    arguments = case.call.arguments.items()
    return CaseKey(
        label=case.draw.name,
        shapes={name: list(v.shape) for name, v in arguments if isinstance(v, Tensor)},
        sizes=case.draw.sizes,
        expected=expected,
        tolerance=tolerance,
        raises=case.raises,
        most_error=most_error,
        dropout=(case.call.build or {}).get("dropout", 0.0) if case.call.training else None,
        form=case.form,
        fresh=case.fresh,
        hidden=case.hidden,
    )


def rounding_to(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """Return a function that rounds float64 to `dtype`; other dtypes are the solution's choice."""
    return lambda value: value.to(dtype) if value.dtype is torch.float64 else value


def _tolerance(expected: Tensor, disturbed: Tensor, least: float) -> float:
    """Return how far a right answer may be off in absolute terms: at least `least`.

    Good code is off by about as much as rounding its inputs changes the answer (backward
    stability), so the bound is a few times that.
    """
    if not expected.is_floating_point():
        return 0.0
    return max(least, 4 * _largest(disturbed - expected))


def _scales(outputs: dict[str, Tensor]) -> dict[str, float]:
    """Return, for each output, the scale of its rounding errors: at least 1.

    A gradient may be zero because large terms cancel, like that of a key's bias, so all gradients
    of a call share one scale.
    """
    own = {
        name: max(1.0, _largest(value)) if value.is_floating_point() else 1.0
        for name, value in outputs.items()
    }
    shared = max((scale for name, scale in own.items() if name.startswith(GRADIENT)), default=1.0)
    return {name: shared if name.startswith(GRADIENT) else scale for name, scale in own.items()}


def _largest(values: Tensor) -> float:
    finite = values[values.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0
