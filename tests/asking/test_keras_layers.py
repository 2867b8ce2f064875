"""Keras layers as answers: built, given parameters by name, called and differentiated."""

import dataclasses
import sys

import pytest
import torch

from autograder.asking.collect import collect
from autograder.asking.keras_layers import is_keras_layer
from autograder.asking.question import Call, Question
from autograder.judging.explain_problem import explain_problem
from autograder.utils.keras_on_torch import keras

WORDS = torch.randn(2, 4, 3)
PARAMETERS = {"affine.kernel": torch.randn(3, 5), "affine.bias": torch.randn(5)}
CALL = Call({"words": WORDS}, build={"d_out": 5}, parameters=PARAMETERS)
QUESTION = Question("Affine", [CALL], returns=["result"])


class Affine(keras.layers.Layer):
    def __init__(self, d_out):
        super().__init__()
        self.affine = keras.layers.Dense(d_out)

    def call(self, words):
        return self.affine(words)


def ask(answer, **changes):
    question = dataclasses.replace(QUESTION, calls=[dataclasses.replace(CALL, **changes)])
    [answer] = collect(answer, question)
    return answer


def test_what_is_a_keras_layer(monkeypatch):
    assert is_keras_layer(Affine)
    assert not is_keras_layer(torch.nn.Linear)
    assert not is_keras_layer(Affine(5))
    monkeypatch.delitem(sys.modules, "keras")
    assert not is_keras_layer(Affine)


def test_parameters_are_loaded_by_name():
    answer = ask(Affine)
    expected = WORDS @ PARAMETERS["affine.kernel"] + PARAMETERS["affine.bias"]
    torch.testing.assert_close(answer.tensors["result"], expected)


def test_it_returns_the_dtype_of_its_input():
    """On torch, Keras's own matrix products are rounded to float32 regardless."""
    precise = {name: value.double() for name, value in PARAMETERS.items()}
    words = WORDS.double()
    answer = ask(Affine, arguments={"words": words}, parameters=precise)
    expected = words @ precise["affine.kernel"] + precise["affine.bias"]
    torch.testing.assert_close(answer.tensors["result"], expected, rtol=1e-6, atol=1e-6)
    assert keras.config.dtype_policy().name == "float32"


def test_gradients_of_arguments_and_parameters():
    answer = ask(Affine, gradients=True)
    weights = torch.arange(40.0).cos().view(2, 4, 5)
    wanted = {
        "gradient of words": weights @ PARAMETERS["affine.kernel"].T,
        "gradient of affine.kernel": torch.einsum("bni,bno->io", WORDS, weights),
        "gradient of affine.bias": weights.sum((0, 1)),
    }
    assert answer.tensors.keys() == {"result", *wanted}
    for name, value in wanted.items():
        torch.testing.assert_close(answer.tensors[name], value)


def test_layers_may_be_made_in_build():
    class Affine(keras.layers.Layer):
        def __init__(self, d_out):
            super().__init__()
            self.d_out = d_out

        def build(self, shape):
            self.affine = keras.layers.Dense(self.d_out)
            self.affine.build(shape)

        def call(self, words):
            return self.affine(words)

    expected = WORDS @ PARAMETERS["affine.kernel"] + PARAMETERS["affine.bias"]
    torch.testing.assert_close(ask(Affine).tensors["result"], expected)


def variant(**methods):
    return type("Affine", (Affine,), methods)


def renamed(self, d_out):
    keras.layers.Layer.__init__(self)
    self.linear = keras.layers.Dense(d_out)


def renamed_call(self, words):
    return self.linear(words)


def no_bias(self, d_out):
    keras.layers.Layer.__init__(self)
    self.affine = keras.layers.Dense(d_out, use_bias=False)


def one_more(self, d_out):
    Affine.__init__(self, d_out)
    self.more = keras.layers.Dense(d_out)


def another_size(self, d_out):
    Affine.__init__(self, d_out + 1)


def returns_nothing(self, words):
    self.affine(words)


def unanswered(self, words):
    raise NotImplementedError()


unanswered.__code__ = unanswered.__code__.replace(co_qualname="Affine.call")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            variant(__init__=renamed, call=renamed_call),
            "`Affine` has `linear` where `affine` should be",
        ),
        (
            variant(__init__=no_bias),
            "lacks `affine.bias`: check the kind of these layers, and `bias=`",
        ),
        (
            variant(__init__=one_more, call=lambda self, x: self.affine(x) + self.more(x)),
            "`Affine` has an extra `more.kernel`, `more.bias`.",
        ),
        (variant(__init__=another_size), "parameter affine.kernel has shape (3, 6), not (3, 5)"),
        (
            variant(call=keras.layers.Layer.call, forward=Affine.call),
            "`Affine` should have a method `call`; there is none.",
        ),
        (variant(call=unanswered), "`Affine` is not answered yet"),
        (variant(call=returns_nothing), "returned None"),
        (variant(call=lambda self, words: self.affine(words).detach()), "No gradient flows back"),
        (
            variant(call=lambda self, words: self.affine(words) @ words),
            "stopped with RuntimeError: Expected size for first two dimensions of batch2 tensor",
        ),
        (
            variant(call=lambda self, words: self.affine(keras.ops.reshape(words, (7, -1)))),
            "stopped with RuntimeError: shape '[7, -1]' is invalid for input of size 24. It happ",
        ),
        (variant(call=lambda self, words: self.words), "'Affine' object has no attribute 'words'"),
    ],
)
def test_problems_of_a_layer_are_named(answer, words):
    problem = ask(answer, gradients=True).problem
    assert words in explain_problem(problem, "Affine")


def test_an_error_is_placed_at_the_learners_line():
    def call(self, words):
        return keras.ops.reshape(words, (7, -1))

    assert "return keras.ops.reshape(words, (7, -1))" in ask(variant(call=call)).problem.place.code


def test_names_do_not_depend_on_the_layers_made_before():
    details = {ask(variant(__init__=no_bias)).problem.detail for _ in range(2)}
    assert len(details) == 1


def test_messages_do_not_depend_on_the_layers_made_before():
    class Misfit(Affine):
        def call(self, words):
            return self.affine(self.affine(words))

    first, second = (ask(Misfit).problem for _ in range(2))
    assert "layer 'dense' is incompatible" in first.detail and first.same_as(second)
