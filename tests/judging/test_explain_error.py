"""Real errors of Python and torch, and what the judge says about them."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.judging.explain_error import explain_error

SIZES = {"n_query": 4, "d_k": 3, "n_key": 5}
X, Y = torch.randn(4, 3), torch.randn(5, 3)


class NoSuper(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 2)


class NoForward(nn.Module):
    pass


def in_place():
    x = X.clone().requires_grad_()
    y = x.exp()
    y /= y.sum()
    y.sum().backward()


def filled_in_place():
    rows = X.clone().requires_grad_().clone().unbind()
    rows[0].mul_(2)


def not_a_pair():
    _batch, _n, _d = X.shape


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (lambda: X @ Y, "(n_query=4, d_k=3) and (n_key=5, d_k=3)"),
        (lambda: X @ Y, "They fit if you transpose the right one"),
        (lambda: Y.T @ X.T, "They fit if you transpose the left one"),
        (lambda: torch.stack(X[0]), "take a list of tensors, and this is a single one."),
        (filled_in_place, "Collect the pieces in a list, then `torch.stack` them."),
        (lambda: X.shape[2], "A `shape` has one for each dimension"),
        (lambda: X.shape(0), "A size is picked with brackets: `x.shape[-1]`."),
        (lambda: X @ nn.Linear(3, 2), "it is called like a function, `self.layer(x)`."),
        (lambda: eval("exp(1)"), "Python itself has no `exp`; torch does. Write `torch.exp`."),
        (lambda: eval("true"), "Python writes `True`"),
        (lambda: X @ torch.ones(5, 6), "so the two have to be the same."),
        (lambda: torch.eye(3) @ X, "They fit the other way around, and with"),
        (lambda: X @ torch.ones(5, 4), "They fit the other way around: what is on the right"),
        (lambda: X @ torch.ones(4), "They fit if the vector comes first"),
        (lambda: torch.dot(X, Y[0]), "`dot` takes two vectors"),
        (lambda: torch.outer(X, Y[0]), "`outer` takes two vectors"),
        (lambda: torch.stack([X, Y]), "these have (4, 3) and (5, 3)"),
        (lambda: torch.cat([X.sum(), Y.sum()]), "`torch.stack` makes one tensor of single numbers"),
        (lambda: X @ X.t, "`()` is missing after its name"),
        (lambda: X.size[0], "`()` is missing after its name"),
        (lambda: max(X, X), "Python's own `max` and `min` need a single True or False"),
        (
            lambda: torch.bmm(X.expand(3, 4, 3), Y.T[None]),
            "right one 1. The two have to match",
        ),
        (lambda: torch.bmm(X[None], Y[None]), "the right one's second to last is 5"),
        (lambda: X + Y, "differ in dimension 0: 4 (n_query) and 5 (n_key)."),
        (lambda: X.view(5, 3), "12 numbers doesn't fit into the new shape, (5, 3)"),
        (lambda: X.T.view(12), "`view` needs numbers that lie side by side"),
        (lambda: X.sum(2), "dimension 2 of a tensor with 2"),
        (lambda: X[7], "no index 7 in dimension 0: its size is 4 (n_query)"),
        (lambda: X[0, 0, 0], "more indices here than the tensor has dimensions, 2"),
        (not_a_pair, "has 3 names, and fewer values, 2, are on its right"),
        (lambda: torch.einsum("id,jd->ij", X, Y[0]), "operand 1 has 1 dimensions"),
        (lambda: torch.einsum("id,di->i", X, Y), "two sizes at once"),
        (lambda: torch.einsum("id,jd->ij", X), "differ in the number of operands"),
        (lambda: undefined, "There is no `undefined` here"),
        (NoSuper, "`super().__init__()` has to come first"),
        (lambda: NoForward()(X), "`NoForward` has no `forward`"),
        (lambda: X - X.max(-1), "returns two things, values and indices"),
        (lambda: X.shape.numbers, "of type torch.Size has no `numbers`"),
        (lambda: 1 if X else 2, "single True or False"),
        (lambda: X.half().masked_fill(X > 0, -1e9), "too large for the dtype"),
        (lambda: X @ X.double().T, "two tensors have different dtypes"),
        (in_place, "overwrites a tensor that the gradient still needs"),
        (lambda: X.requires_grad_().exp().numpy(), "NumPy ends the gradient"),
        (lambda: 2 ^ 0.5, "`^` isn't a power"),
        (lambda: F.softmax(torch.arange(3), -1), "floating-point numbers, and these are of type"),
        (lambda: X.transpose(), "arguments don't fit `transpose`"),
        (lambda: X(1), "called like a function"),
        (lambda: float(X), "A single number is needed here"),
    ],
)
def test_an_error_is_explained(code, words):
    with pytest.raises(Exception) as error:
        code()
    message = f"{error.type.__name__}: {error.value}".splitlines()[0]
    meaning = explain_error(message, SIZES)
    assert words in (meaning.sentence if meaning else message)


def test_a_size_shared_by_two_dimensions_has_no_name():
    message = "The size of tensor a (4) must match the size of tensor b (5) at non-singleton "
    said = explain_error(message + "dimension 1", {"n": 4, "m": 4, "d": 5}).sentence
    assert "4 and 5 (d)." in said


def test_an_unknown_error_has_no_explanation():
    assert explain_error("ValueError: the moon is full", SIZES) is None
