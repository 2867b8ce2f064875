"""A second grader: true points for known code, found without collect and judge.

It calls both the code and the solution, and `torch.allclose` compares them. The two graders share
only the cases that a notebook shows, so that each can catch errors in the other.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import GRADIENT, REPEATS
from autograder.asking.arguments import make_all
from autograder.asking.keras_layers import is_keras_layer, layer_parameters
from autograder.asking.models import built_module
from autograder.asking.question import Call, Question
from autograder.asking.surroundings import SameDropout, same_randomness, silence
from autograder.asking.trials import TRIALS
from autograder.building.hidden import grading_reference
from autograder.judging.key import CaseKey
from autograder.lessons.lesson import Lesson
from autograder.references.store import LessonReference

EVERYTHING = "*"


class SecondGrader:
    """Finds the true points of answers to one lesson's exercises."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self._wanted: dict[str, list[dict[str, Any] | None]] = {}

    @cached_property
    def reference(self) -> LessonReference:
        return grading_reference(self.lesson.name, "true marks")

    @cached_property
    def solutions(self) -> dict[str, Any]:
        return self.lesson.namespace()

    def points(self, exercise: str, namespace: dict[str, Any]) -> int:
        """Return the points for the answer to `exercise` in a namespace."""
        question, key = self.reference.questions[exercise], self.reference.keys[exercise]
        cases = zip(question.calls, key.cases, self._right_outputs(exercise), strict=True)
        answer = namespace[exercise]
        wrong = [_wrong_outputs(answer, question, key.measure, *case) for case in cases]
        lost = {
            aspect.name: _wrong_in(aspect.outputs, [wrong[i] for i in aspect.cases])
            for aspect in key.aspects
        }
        for name in key.keeps:
            _leave_one(name, lost, {a.name for a in key.aspects if name in a.outputs})
        return sum(aspect.points for aspect in key.aspects if not lost[aspect.name])

    def _right_outputs(self, exercise: str) -> list[dict[str, Any] | None]:
        """Call the solution, once for each case; None where an exception is right."""
        if exercise not in self._wanted:
            question, key = self.reference.questions[exercise], self.reference.keys[exercise]
            solution, self._wanted[exercise] = self.solutions[exercise], []
            for call, case in zip(question.calls, key.cases, strict=True):
                with silence(), same_randomness():
                    right = None if case.raises else _outputs(solution, question, call)
                self._wanted[exercise].append(_measured(key.measure, call, right))
        return self._wanted[exercise]


def _wrong_outputs(
    answer: Callable,
    question: Question,
    measure: str,
    call: Call,
    case: CaseKey,
    wanted: dict[str, Any] | None,
) -> set[str]:
    """Return the names of the wrong outputs; `EVERYTHING` if the whole call went wrong."""
    with silence(), same_randomness():
        try:
            got = _measured(measure, call, _outputs(answer, question, call))
        except Exception as error:
            return set() if type(error).__name__ == case.raises else {EVERYTHING}
    if got is None or wanted is None:
        return {EVERYTHING}
    return {name for name in wanted if not _right(name, got.get(name), wanted[name], case)}


def _wrong_in(outputs: list[str], wrong: list[set[str]]) -> set[str]:
    """Return the wrong ones among an aspect's outputs; if `outputs` is empty, all count."""
    found = set().union(*wrong)
    if EVERYTHING in found or not outputs:
        return found
    if not any(name.startswith(GRADIENT) for name in outputs):
        outputs = [*outputs, *(name for name in found if name.startswith(GRADIENT))]
    return found & set(outputs)


def _leave_one(name: str, lost: dict[str, set[str]], about: set[str]) -> None:
    """Let a wrong attribute count in one aspect only: one about it, or else the first."""
    charged = [aspect for aspect in lost if name in lost[aspect]]
    for aspect in sorted(charged, key=lambda aspect: aspect not in about)[1:]:
        lost[aspect].discard(name)


def _right(name: str, got: Any, wanted: Any, case: CaseKey) -> bool:
    if name in case.most_error:
        goal = case.expected[name]
        fits = got.shape == goal.shape
        return fits and nn.functional.mse_loss(got, goal).item() <= case.most_error[name]
    return _alike(got, wanted, 2 * case.tolerance[name])


def _outputs(answer: Callable, question: Question, call: Call) -> dict[str, Any] | None:
    """Return the outputs of a call by name; None if it breaks a rule."""
    arguments = make_all(call.arguments)
    function = answer if call.build is None else _module(answer, call, arguments)
    if not call.method:
        return {}
    leaves = _leaves(function, call, arguments) if call.gradients else {}
    facts: dict[str, Any] = {}
    if question.trial:  # not worth writing a second trial either
        method = partial(TRIALS[question.trial], function, facts)
    else:
        method = function if call.method == "forward" else getattr(function, call.method)
    if call.earlier and call.earlier.build is None:
        _forget(method(*make_all(call.earlier.arguments).values()))
    with SameDropout() if call.training else nullcontext():
        result = method(*arguments.values())
    if any(_changed(call.arguments[name], now) for name, now in arguments.items()):
        return None
    if question.reads and _shared(arguments):
        return None
    outputs = result if question.as_dict else _named(result, question)
    if outputs is None:
        return None
    if call.repeats:
        torch.default_generator.manual_seed(0)
        again = _named(method(*make_all(call.arguments).values()), question)
        outputs = outputs | {REPEATS: torch.tensor(_repeated(outputs, again))}
    if call.gradients:
        outputs = outputs | _gradients(outputs, leaves)
    outputs = outputs | facts
    for name in question.keeps:
        kept = getattr(function, name, None)
        graph = question.keeps_detached and call.gradients and getattr(kept, "requires_grad", False)
        outputs = outputs | {name: None if graph else kept}
    for name in question.reads:
        outputs = outputs | {f"{name}.{p}": v for p, v in arguments[name].named_parameters()}
        outputs = outputs | {f"{name}.training": arguments[name].training}
    return outputs


def _measured(measure: str, call: Call, outputs: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what counts where many different outputs are right."""
    if not measure or outputs is None:
        return outputs
    return MEASURES[measure](**make_all(call.arguments), **outputs)


def _told_apart(healthy: nn.Module, ill: nn.Module, x: Tensor) -> dict[str, Any]:
    apart = (healthy(x) - ill(x)).abs().max().item() > 1e-4
    return {"told_apart": apart, "words": x.shape[0] * x.shape[1]}


MEASURES = {"tell apart": _told_apart}


def _named(result: Any, question: Question) -> dict[str, Any] | None:
    """Return the results by name; None if they are not what the question asks for."""
    names, loose = question.returns, question.plain or question.choices
    results = result if len(names) > 1 else [result][: len(names)]
    fitting = isinstance(results, tuple | list) and len(results) == len(names)
    if not fitting or not (loose or all(isinstance(value, Tensor) for value in results)):
        return None
    return dict(zip(names, results, strict=True))


def _forget(result: Any) -> None:
    """Overwrite results, as a caller may."""
    for value in result if isinstance(result, tuple) else [result]:
        if isinstance(value, Tensor):
            with suppress(RuntimeError):
                value.detach().fill_(1)


def _leaves(function: Callable, call: Call, arguments: dict[str, Any]) -> dict[str, Tensor]:
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
    floats = {name: value for name, value in tensors.items() if value.is_floating_point()}
    leaves = {name: value.requires_grad_() for name, value in floats.items()}
    if is_keras_layer(type(function)):
        return leaves | layer_parameters(function, list(call.parameters or {}))
    return leaves | (dict(function.named_parameters()) if isinstance(function, nn.Module) else {})


def _gradients(outputs: dict[str, Tensor], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    total = sum((v * torch.arange(v.numel()).cos().view(v.shape)).sum() for v in outputs.values())
    with torch.autograd.set_detect_anomaly(True):  # an error at the first NaN
        total.backward()
    grads = {name: leaf.grad for name, leaf in leaves.items()}
    return {GRADIENT + name: grad for name, grad in grads.items() if grad is not None}


def _module(answer: Callable, call: Call, arguments: dict[str, Any]) -> nn.Module:
    if is_keras_layer(answer):
        # Filling Keras's variables is not worth writing twice; the two ways differ from here on.
        return built_module(answer, call, arguments)
    module = answer(**make_all(call.build)).train(call.training)
    if call.parameters:
        module.to(next(iter(call.parameters.values())).dtype)
        module.load_state_dict(call.parameters)
    torch.manual_seed(0)
    return module


def _shared(arguments: dict[str, Any]) -> bool:
    """Whether modules among the arguments share a parameter."""
    modules = [value for value in arguments.values() if isinstance(value, nn.Module)]
    places = [p.data_ptr() for module in modules for p in module.parameters()]
    return len(set(places)) < len(places)


def _changed(before: Any, now: Any) -> bool:
    return isinstance(before, Tensor) and not torch.equal(before, now)


def _repeated(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    pairs = [(value, other[name]) for name, value in one.items()]
    return all(_alike(again, value, 0.01 * value.abs().max().item()) for value, again in pairs)


def _alike(got: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, float) and isinstance(got, float | Tensor):
        return abs(float(got) - wanted) <= tolerance
    if not isinstance(wanted, Tensor):
        return got == wanted
    if wanted.dtype is not getattr(got, "dtype", None) or got.shape != wanted.shape:
        return False
    return torch.allclose(got.double(), wanted.double(), rtol=0, atol=tolerance, equal_nan=True)
