"""Every reference has an independent witness: plain loops, or a library's own function.

Compared in float64 on the cases of the exercise, so that no solution certifies itself.
"""

import math

import pytest
import torch
import torch.nn.functional as F

from autograder.authoring.lesson import Lesson, lesson_names
from autograder.course import find


def query_scores(query, words):
    return torch.tensor([math.fsum(q * x for q, x in zip(query, w, strict=True)) for w in words])


def softmax(scores, dim=-1):
    return F.softmax(scores, dim)


def context_vector(attn_weights, words):
    columns = words.T.tolist()
    weights = attn_weights.tolist()
    return torch.tensor(
        [math.fsum(w * x for w, x in zip(weights, column, strict=True)) for column in columns]
    )


def attention_scores(words):
    rows = words.tolist()
    return torch.tensor(
        [[math.fsum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    )


def simple_attention(words):
    n = len(words)
    context = F.scaled_dot_product_attention(words[None], words[None], words[None], scale=1.0)[0]
    # The same with the identity as values gives the weights.
    eye = torch.eye(n, dtype=words.dtype)
    weights = F.scaled_dot_product_attention(words[None], words[None], eye[None], scale=1.0)[0]
    return context, weights


WITNESSES = {
    function.__name__: function
    for function in (query_scores, softmax, context_vector, attention_scores, simple_attention)
}


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
