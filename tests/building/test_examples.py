"""The example in a docstring holds on any machine."""

import pytest
import torch

from autograder.building.examples import example_arguments, require_true_examples
from autograder.errors import AuthoringError


class OneExercise:
    """A lesson whose only exercise has this docstring."""

    def __init__(self, docstring):
        self.docstring = docstring

    def namespace(self):
        def double(x):
            return 2 * x

        double.__doc__ = self.docstring
        return {"double": double}


def test_a_true_example_passes():
    require_true_examples(OneExercise(">>> double(torch.tensor([0.5]))\ntensor([1.])"), "double")
    assert torch.get_default_dtype() is torch.float32


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("It doubles.", "has no example"),
        (">>> double(1)\n3", "not true in torch.float32"),
        # 0.00055 is 5.5000e-04 or 0.0005 or 0.0006, by how it is rounded
        (">>> double(torch.tensor(0.000275))\ntensor(0.0005)", "not true in torch.float"),
        (">>> double(torch.tensor(1 / 3)).item()\n0.6666666865348816", "in torch.float64"),
    ],
)
def test_a_false_one_is_refused(example, words):
    with pytest.raises(AuthoringError, match=words):
        require_true_examples(OneExercise(example), "double")


def double(x, times=1, *, plus=0):
    return x


def arguments_of(example):
    double.__doc__ = example
    return example_arguments(double, {"two": torch.tensor(2.0)})


def test_the_first_call_of_an_example_is_a_case():
    assert arguments_of(">>> double(two)") == {"x": torch.tensor(2.0)}
    assert arguments_of(">>> y = 3\n>>> z = double(two, y) + 1\n>>> double(z)")["times"] == 3
    assert arguments_of(">>> double(two, plus=4)") == {"x": 2.0, "times": 1, "plus": 4}


@pytest.mark.parametrize("example", ["", ">>> two + 1", ">>> double(print)", ">>> double([two])"])
def test_an_example_without_a_plain_call_is_none(example):
    assert arguments_of(example) is None


def test_the_example_of_a_class_is_none():
    assert example_arguments(torch.nn.Linear, {}) is None
