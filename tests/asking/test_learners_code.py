"""What an answer reads besides its arguments."""

import sys
from functools import partial

import pytest
import torch
from torch import nn

from autograder.asking.learners_code import borrowed_names, exercise_name, names_used

NOTEBOOK = """
import torch
from torch import nn

words, w_query, SMALL, layer = torch.ones(2), torch.ones(2), 1e-9, nn.Linear(1, 1)

def other(x):
    return words

def clean(words):
    return (words + SMALL) @ other(words)

def reads_words(x):
    return [words for _ in x]

class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.w_query, self.SMALL = nn.Parameter(torch.ones(2)), 1.0

    def forward(self, x):
        return layer(x) @ w_query + SMALL

class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return other(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_context):
        return clean(d_context)
"""


class Doubling:
    def __call__(self, x):
        return 2 * x


@pytest.mark.parametrize(
    "answer",
    [lambda x: x, partial(torch.mul, 2), torch.vmap(torch.exp), Doubling(), torch.exp],
)
def test_an_answer_has_the_name_that_the_notebook_gave_it(answer, monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "softmax", answer, raising=False)
    assert exercise_name(answer, {"softmax"}) == "softmax"


def test_an_answer_is_found_by_its_own_name_too():
    def softmax(x):
        return x

    assert exercise_name(softmax, {"softmax"}) == "softmax"


def test_names_borrowed_from_the_notebook():
    beside = {}
    exec(NOTEBOOK, beside)
    assert borrowed_names(beside["clean"]) == ()
    assert borrowed_names(beside["reads_words"]) == ("words",)
    assert borrowed_names(beside["Module"]) == ("self.SMALL", "layer", "self.w_query")


def test_static_and_decorated_methods_use_names_too():
    beside = {}
    exec(NOTEBOOK, beside)
    assert names_used(beside["Function"]) >= {"other", "clean", "words", "SMALL"}


def test_values_without_code_borrow_nothing():
    assert borrowed_names(torch.softmax) == ()
    assert borrowed_names(nn.Linear) == ()
