"""A forbidden function is refused where torch computes it, by whatever name it is called."""

import pytest
import torch

from autograder.asking.surroundings import ForbiddenCall, SameDropout, forbid

CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
X = torch.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]])


def attention(x):
    """Compute softmax by attention to the rows of an identity matrix."""
    size = 8
    query, key = torch.zeros(1, 1, 1, size), torch.zeros(1, 1, x.shape[1], size)
    query[..., 0], key[..., 0] = 1, x[0]
    value = torch.eye(x.shape[1], size)[None, None]
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=1.0)


WAYS = {
    "function": lambda x: torch.softmax(x, -1),
    "operator": lambda x: torch.ops.aten._softmax(x, -1, False),
    "out": lambda x: torch.ops.aten._softmax.out(x, -1, False, out=torch.empty_like(x)),
    "redispatched": lambda x: torch.ops.aten._softmax.default.redispatch(CPU, x, -1, False),
    "mkldnn": lambda x: torch.ops.aten._softmax(x.to_mkldnn(), -1, False),
    "nested": lambda x: torch.ops.aten._softmax(torch.nested.nested_tensor([*x]), -1, False),
    "sparse": lambda x: torch.sparse.softmax(x.to_sparse(), -1),
    "log": lambda x: torch.ops.aten._log_softmax(x, -1, False).exp(),
    "log out": lambda x: torch.ops.aten._log_softmax.out(x, -1, False, out=torch.empty_like(x)),
    "attention": attention,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_it_is_refused_only_inside(way):
    with pytest.raises(ForbiddenCall), forbid(["softmax", "log_softmax"]):
        WAYS[way](X)
    WAYS[way](X)


@pytest.mark.parametrize("call", [lambda x: torch.cumsum(x, -1), lambda x: x.cumsum(-1)])
def test_functions_without_kernels_of_their_own_are_refused_by_name(call):
    with pytest.raises(ForbiddenCall), forbid(["cumsum"]):
        call(X)


def test_dropout_is_the_same_in_every_random_state():
    dropout = torch.nn.functional.dropout
    with SameDropout():
        dropped = dropout(X)
        torch.manual_seed(1)
        assert torch.equal(dropout(X), dropped) and not torch.equal(dropped, X)
        assert torch.equal(dropout(X, training=False), X) and torch.equal(dropout(X, 0.0), X)
        assert not dropout(X, 1.0).any()
