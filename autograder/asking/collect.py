"""Collect: call a learner's code on the cases of a question, and record what comes back.

This half runs where the learner's code runs and knows no expected value. Whatever the code does
(raise, loop, print, return something else) ends up as an `Answer`.
"""

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, equal  # by name: a notebook may replace torch's

from autograder.asking.answer import (
    MOST_ELEMENTS,
    REPEATS,
    Answer,
    changed_inputs,
    digests,
)
from autograder.asking.arguments import make_all
from autograder.asking.caught import problem_of
from autograder.asking.clock import TimeLimit
from autograder.asking.kept import same_settings, same_state
from autograder.asking.models import built_module, gradients, leaf_tensors, require_own_memory
from autograder.asking.problem import Problem, ProblemKind
from autograder.asking.question import Call, Question
from autograder.asking.returned import (
    WrongResult,
    kept_attribute,
    named_results,
    plain_tensor,
    require_mode,
)
from autograder.asking.surroundings import START, SameDropout, forbid, same_randomness, silence
from autograder.asking.trials import TRIALS
from autograder.asking.written import borrowed_names, method_of, written_function

# After one of these, the other calls would go the same way and take as long.
IN_VAIN = {ProblemKind.TIME, ProblemKind.WAITING, ProblemKind.NOT_ANSWERED}
# How far a second call may be off, as a fraction of the largest value. The same training in other
# memory rounds differently and ends up to 0.001 away; with another seed, more than 0.05.
SAME_AGAIN = 0.01


def collect(answer: Callable[..., Any], question: Question) -> list[Answer]:
    """Collect one answer for each call of the question."""
    answers: list[Answer] = []
    borrowed = borrowed_names(answer)
    forbidden = forbid(question.forbidden) if question.forbidden else contextlib.nullcontext()
    with TimeLimit(question.seconds) as limit, forbidden:
        for call in question.calls:
            answers.append(replace(_collect_call(answer, question, call, limit), borrowed=borrowed))
            problem = answers[-1].problem
            if problem and problem.kind in IN_VAIN:
                rest = len(question.calls) - len(answers)
                return answers + [Answer(problem=problem)] * rest
    return answers


def _collect_call(
    answer: Callable[..., Any], question: Question, call: Call, limit: TimeLimit
) -> Answer:
    arguments: dict[str, Any] = {}
    lacks: dict[str, Problem] = {}
    tensors, problem = {}, None
    with silence() as printed:
        try:
            with same_randomness():
                arguments = _made(call)  # the course's code, and its imports
                settings = same_settings(may_seed="seed" in arguments)
                with settings, _dropout(call), limit.running():
                    tensors = _outputs(answer, question, call, arguments, lacks)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problem = problem_of(error, question, limit)
    inputs = digests(arguments)
    return Answer(
        tensors,
        problem,
        lacks,
        changed_inputs(call.arguments, inputs),
        printed.lines,
        inputs=inputs,
    )


def trusted_outputs(
    solution: Callable[..., Any], question: Question, call: Call
) -> dict[str, Tensor]:
    """Return all outputs of one call of the course's own code, by name, without guarding it.

    Raises what the code raises.
    """
    with same_randomness(), _dropout(call):
        return _outputs(solution, question, call, _made(call), {})


def _dropout(call: Call) -> contextlib.AbstractContextManager[object]:
    return SameDropout() if call.training else contextlib.nullcontext()


def _made(call: Call) -> dict[str, Any]:
    """Make the arguments, equal tensors as one, as in `attention(x, x, x)`.

    If gradients are taken, they stay apart.
    """
    made = make_all(call.arguments)
    tensors = [] if call.gradients else [v for v in made.values() if isinstance(v, Tensor)]
    for name, value in made.items():
        if isinstance(value, Tensor):
            made[name] = next((t for t in tensors if equal(t, value)), value)
    return made


def _outputs(
    answer: Callable[..., Any],
    question: Question,
    call: Call,
    arguments: dict[str, Any],
    lacks: dict[str, Problem],
) -> dict[str, Tensor]:
    """Return all outputs of one call, by name; record missing attributes in `lacks`.

    Raises WrongResult, and whatever the code raises.
    """
    function = answer if call.build is None else built_module(answer, call, arguments)
    if not call.method:
        return {}
    leaves = leaf_tensors(function, call, arguments) if call.gradients else {}
    given = [leaves[name].clone() if name in leaves else arguments[name] for name in arguments]
    facts: dict[str, Tensor] = {}
    method = _method(function, question, call, facts)
    calls: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if call.earlier is not None:
        calls = torch.no_grad()  # as when models are used, and results are kept for later
        _call_earlier(method, call.earlier, question)
    with calls, same_state(function, dict(zip(arguments, given, strict=True))):
        result = method(*given)
    require_mode(function, call.training)
    arguments.update(zip(arguments, given, strict=True))
    returned = named_results(result, question)
    if question.reads:
        require_own_memory(arguments)
    kept = _kept_attributes(function, question, call, lacks)
    slopes = gradients(returned, leaves) if call.gradients else {}
    read = {
        f"{name}.{parameter}": value
        for name in question.reads
        for parameter, value in arguments[name].named_parameters()
    }
    modes = {f"{name}.training": torch.tensor(arguments[name].training) for name in question.reads}
    outputs = returned | facts | kept | slopes | read | modes
    if call.repeats:
        outputs[REPEATS] = _same_again(method, call, question, returned)
    return {name: plain_tensor(value, name) for name, value in outputs.items()}


def _method(
    function: Callable[..., Any], question: Question, call: Call, facts: dict[str, Tensor]
) -> Callable[..., Any]:
    """Return what to call with the arguments; it may note facts. Raises WrongResult."""
    if question.trial:
        return partial(TRIALS[question.trial], function, facts)
    method = function if call.method == "forward" else method_of(function, call.method)
    _require_arguments(method, call.arguments)
    return method


def _call_earlier(
    method: Callable[..., Any], arguments: dict[str, Any], question: Question
) -> None:
    """Make a call that must leave nothing behind, and overwrite what it returned."""
    with torch.no_grad():
        results = named_results(method(*make_all(arguments).values()), question)
    for value in results.values():
        if value.numel() <= MOST_ELEMENTS:
            with contextlib.suppress(RuntimeError):  # an expanded tensor can't be written to
                value.detach().zero_()


def _same_again(
    method: Callable[..., Any], call: Call, question: Question, first: dict[str, Tensor]
) -> Tensor:
    """Whether the call gives the same results, up to `SAME_AGAIN`, in another random state."""
    torch.default_generator.manual_seed(START + 1)
    again = named_results(method(*make_all(call.arguments).values()), question)
    return torch.tensor(all(_alike(again[name], value) for name, value in first.items()))


def _alike(again: Tensor, first: Tensor) -> bool:
    if again.shape != first.shape or not first.numel():
        return again.shape == first.shape
    again, first = again.detach().double(), first.detach().double()
    off = SAME_AGAIN * first.abs().max().item()
    return torch.allclose(again, first, rtol=0, atol=off, equal_nan=True)


def _kept_attributes(
    module: Callable[..., Any], question: Question, call: Call, lacks: dict[str, Problem]
) -> dict[str, Tensor]:
    kept = {}
    for name in question.keeps:
        try:
            kept[name] = kept_attribute(module, name, question, call)
        except WrongResult as error:
            lacks[name] = error.problem
    return kept


def _require_arguments(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Raise WrongResult if the function does not take these arguments by position."""
    try:
        signature = inspect.signature(written_function(function))
    except (TypeError, ValueError):  # builtins have none
        return
    try:
        signature.bind(*arguments.values())
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise WrongResult(
            ProblemKind.ARGUMENTS, f"({takes}), and is called with ({', '.join(arguments)})"
        ) from error
