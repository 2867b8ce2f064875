"""A forbidden function is refused where torch computes it, by whatever name it is called."""

import pytest
import torch

from autograder.asking.surroundings import ForbiddenCall, SameDropout, forbid, usual_settings

INFERENCE = torch.inference_mode()


@pytest.fixture
def restored():
    """Put torch's settings back, whatever a test makes of them."""
    threads = torch.get_num_threads()
    yield
    if torch.is_inference_mode_enabled():
        INFERENCE.__exit__(None, None, None)
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        (lambda: torch.set_default_device("meta"), torch.get_default_device),
        (lambda: torch.set_default_dtype(torch.float64), torch.get_default_dtype),
        (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
        (lambda: torch.set_num_threads(2), torch.get_num_threads),
        (INFERENCE.__enter__, torch.is_inference_mode_enabled),
    ],
)
def test_a_check_has_the_usual_settings_and_the_notebook_keeps_its_own(change, read, restored):
    torch.set_num_threads(1)
    usual = read()
    change()
    with usual_settings():
        assert torch.zeros(1).device == torch.device("cpu")
        inside = read()
    assert inside == usual != read()


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
