"""Every reference has an independent witness: plain loops, or a library's own function.

Compared in float64 on the cases of the exercise, so that no solution certifies itself.
"""

import pytest
import torch

from autograder.authoring.lesson import Lesson, lesson_names
from autograder.course import find
from tests.witnesses import all_witnesses

WITNESSES = all_witnesses()


def test_every_exercise_has_a_witness():
    names = [exercise.name for name in lesson_names() for exercise in Lesson(name).exercises]
    assert sorted(names) == sorted(WITNESSES)


@pytest.mark.parametrize("name", WITNESSES)
def test_the_reference_agrees_with_its_witness(name):
    reference = find(name)
    question, key = reference.questions[name], reference.keys[name]
    for call, case in zip(question.calls, key.cases, strict=True):
        precise = [a.double() if isinstance(a, torch.Tensor) else a for a in call.values()]
        result = WITNESSES[name](*precise)
        results = result if isinstance(result, tuple) else (result,)
        for output, value in zip(question.returns, results, strict=True):
            scale = max(1.0, case.expected[output].abs().max().item())
            torch.testing.assert_close(
                value.float(), case.expected[output], rtol=0, atol=2e-6 * scale
            )
