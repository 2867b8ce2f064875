"""Every reference has an independent witness: plain loops, or a library's own function.

They are compared in float64 on the exercise's cases, so that no solution certifies itself.
"""

import itertools
from dataclasses import replace
from inspect import signature

import pytest
import torch

from autograder.asking.answer import Answer
from autograder.asking.arguments import make_all
from autograder.asking.models import gradients, output_weights
from autograder.judging.measures import measured
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.notebook.course_solution import course_solution
from autograder.references.store import find
from tests.course.witnesses import all_witnesses

WITNESSES = all_witnesses()
ROUNDING = 5e-6  # what Keras layers, which stay in float32, may be off
STEP = 0.5  # differences are exact for any step: what has no gradient is at most quadratic


def test_every_exercise_has_a_witness():
    names = {exercise for name in lesson_names() for exercise in Lesson(name).asked}
    assert names == WITNESSES.keys(), "add it to `WITNESSES` in tests/course/witnesses/lesson_NN.py"


@pytest.mark.anywhere
@pytest.mark.parametrize("name", WITNESSES)
def test_the_reference_agrees_with_its_witness(name):
    """A function's witness takes its arguments; a module's also takes its build and parameters."""
    reference = find(name)
    question, key = reference.questions[name], reference.keys[name]
    compared = 0
    for number, (call, case) in enumerate(zip(question.calls, key.cases, strict=True)):
        if case.raises or call.training or (call.build is not None and call.parameters is None):
            continue  # there is no result, or it depends on the solution's randomness
        compared += 1
        if number == key.example:
            call = with_defaults(call, name)
        outputs = witnessed(WITNESSES[name], question, call)
        outputs = measured(key.measure, case.arguments, Answer(outputs)).tensors
        for output, value in outputs.items():
            if output not in case.expected:  # it is guarded, not compared
                continue
            expected = case.expected[output]
            assert_agrees(value.to(expected.dtype), expected, case.most_error.get(output))
    assert compared


def with_defaults(call, name):
    """Return an example's call with the arguments that it leaves out: a witness has no defaults."""
    solution = course_solution(name, find(name).lesson)
    bound = signature(solution).bind_partial(**call.arguments)
    bound.apply_defaults()
    return replace(call, arguments=dict(bound.arguments))


def assert_agrees(value, expected, most_error):
    if most_error is not None:  # a goal that the solution falls short of too
        assert torch.nn.functional.mse_loss(value.double(), expected.double()) <= most_error
        return
    scale = max([1.0, *expected.double().abs().flatten().tolist()])
    eps = torch.finfo(expected.dtype).eps if expected.is_floating_point() else 0  # large for halves
    torch.testing.assert_close(value, expected, rtol=0, atol=max(ROUNDING, eps) * scale)


def witnessed(witness, question, call):
    """Return the witness's outputs by name, in float64, with gradients if the call wants them."""
    call = call.map_tensors(torch.Tensor.double)
    arguments = make_all(call.arguments)
    parameters = dict(call.parameters or {})
    leaves = {**floating(arguments), **parameters} if call.gradients else {}
    for leaf in leaves.values():
        leaf.requires_grad_()
    module = () if call.build is None else (call.build, parameters)
    result = witness(*module, *arguments.values())
    if isinstance(result, dict):
        return result
    results = result if isinstance(result, tuple) else (result,)
    results = [torch.as_tensor(value) for value in results]
    outputs = dict(zip(question.returns + question.keeps, results, strict=True))
    returned = {n: outputs[n] for n in question.returns}
    if leaves and all(value.requires_grad for value in returned.values()):
        outputs |= gradients(returned, leaves)
    elif leaves:
        outputs |= differences(lambda: witness(*module, *arguments.values()), leaves)
    return {name: value.detach() for name, value in outputs.items()}


def differences(call, leaves):
    """Return the slopes of the weighted sum that `gradients` takes, from differences."""

    def total():
        result = call()
        results = result if isinstance(result, tuple) else (result,)
        return sum((value * output_weights(value)).sum() for value in results)

    slopes = {}
    with torch.no_grad():
        for name, leaf in leaves.items():
            slope = torch.zeros_like(leaf)
            for place in itertools.product(*map(range, leaf.shape)):
                before = leaf[place].item()
                leaf[place] = before + STEP
                above = total()
                leaf[place] = before - STEP
                slope[place] = (above - total()) / (2 * STEP)
                leaf[place] = before
            slopes[f"gradient of {name}"] = slope
    return slopes


def floating(arguments):
    tensors = {n: v for n, v in arguments.items() if isinstance(v, torch.Tensor)}
    return {name: value for name, value in tensors.items() if value.is_floating_point()}
