"""Attacks on what an exercise forbids: the same function by other names, means and threads.

What is forbidden is refused where torch computes it. What a learner computes by hand, numpy
included, is allowed.
"""

from tests.sandbox.hostile.attack import Attack


def _ways(name: str, tries: str, *ways: str, before: str = "") -> Attack:
    """Make an attack that tries expressions for the softmax of x along dim until one works."""
    lines = "".join(f"    lambda x, dim: {way},\n" for way in ways)
    code = f"""
import torch.nn.functional as F
from torch import nn
{before}
refused = []
WAYS = [
{lines}]
def softmax(scores, dim=-1):
    for way in WAYS:
        try:
            return way(scores, dim)
        except Exception as error:
            refused.append(str(error))
    raise ValueError
"""
    told = 'print("refused:", sum("softmax" in error for error in refused))'
    answers = {"softmax": code}
    return Attack(name, tries, answers=answers, last=told, told="refused: [1-9]", outcome="graded")


ATTACKS = [
    _ways(
        "forbidden by its other names",
        "calls softmax by all the names that torch has for it",
        "torch.special.softmax(x, dim)",
        "torch._VF.softmax(x, dim)",
        "torch._C._VariableFunctions.softmax(x, dim)",
        "torch.Tensor.softmax(x, dim)",
        "x.softmax(dim)",
        "F.softmin(-x, dim)",
        "nn.Softmax(dim)(x)",
        "nn.Softmin(dim)(-x)",
    ),
    _ways(
        "forbidden by its operator",
        "calls softmax past Python's functions, as operators of torch's library",
        "torch.ops.aten.softmax.int(x, dim)",
        "torch.ops.aten._softmax(x, dim, False)",
        "torch.ops.aten._softmax.default(x, dim, False)",
        "torch.ops.aten._safe_softmax(x, dim)",
        "torch.ops.aten._softmax.default._op(x, dim, False)",
    ),
    _ways(
        "forbidden by the processor's key",
        "hands softmax to the kernel of the processor, past autograd and everything above",
        "torch.ops.aten._softmax.default.redispatch(CPU, x, dim, False)",
        "torch.ops.aten.softmax.int.redispatch(CPU, x, dim)",
        before="CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)",
    ),
    _ways(
        "forbidden with a place for the result",
        "has softmax write into an existing tensor, by operators for that",
        "torch.ops.aten._softmax.out(x, dim, False, out=torch.empty_like(x))",
        "torch.ops.aten._log_softmax.out(x, dim, False, out=torch.empty_like(x)).exp()",
        "torch.ops.aten._softmax.default.redispatch(AUTOGRAD, x, dim, False)",
        before="AUTOGRAD = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)",
    ),
    _ways(
        "forbidden in other layouts",
        "calls softmax on tensors in layouts with kernels of their own",
        "torch.ops.aten._softmax(x.to_mkldnn(), dim, False).to_dense()",
        "torch.ops.aten._softmax(nested([*x]), dim, False).to_padded_tensor(0)",
        before="nested = torch.nested.nested_tensor",
    ),
    _ways(
        "forbidden by its logarithm",
        "takes the exponential of what torch computes as a logarithm or a loss",
        "torch.log_softmax(x, dim).exp()",
        "nn.LogSoftmax(dim)(x).exp()",
        "torch.ops.aten._log_softmax(x, dim, False).exp()",
        "torch.distributions.Categorical(logits=x.movedim(dim, -1)).probs.movedim(-1, dim)",
        "F.cross_entropy(x.reshape(1, -1), torch.tensor([0]), reduction='none').neg().exp()",
        "F.gumbel_softmax(x, 1e9, dim=dim)",
    ),
    _ways(
        "forbidden in TorchScript",
        "calls softmax in functions that were traced and compiled before the check",
        "traced(x)",
        "compiled(x, dim)",
        before="""
traced = torch.jit.trace(lambda x: torch.softmax(x, -1), torch.zeros(3))
compiled = torch.jit.CompilationUnit("def f(x, dim: int):\\n    return x.softmax(dim)\\n").f
""",
    ),
    _ways(
        "forbidden in another thread",
        "has another thread call softmax, where Python's guards do not reach",
        "pool.submit(torch.softmax, x, dim).result()",
        "pool.submit(torch.ops.aten._softmax, x, dim, False).result()",
        before="""
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(print).result()
""",
    ),
    _ways(
        "forbidden without torch functions",
        "switches off what torch's guards for Python are made of, and calls softmax",
        "within(torch._C.DisableTorchFunction(), x, dim)",
        "within(torch._C.DisableTorchFunctionSubclass(), x, dim)",
        "within(torch.utils._python_dispatch._disable_current_modes(), x, dim)",
        before="""
def within(manager, x, dim):
    with manager:
        return torch.softmax(x, dim)
""",
    ),
    _ways(
        "forbidden with the guard off the stack",
        "takes the grader's mode off torch's stack of modes before it calls softmax",
        "alone(x, dim)",
        before="""
from torch.overrides import _pop_mode
def alone(x, dim):
    _pop_mode()
    return torch.softmax(x, dim)
""",
    ),
    _ways(
        "forbidden in functorch",
        "calls softmax within vmap, jvp, functionalize and a graph that was made before",
        "torch.vmap(lambda row: torch.ops.aten._softmax(row, -1, False))(x)",
        "torch.func.jvp(lambda y: torch.ops.aten._softmax(y, dim, False), (x,), (x,))[0]",
        "torch.func.functionalize(lambda y: torch.softmax(y, dim))(x)",
        "graph(x)",
        before="""
import torch.fx
class Soft(nn.Module):
    def forward(self, x): return torch.softmax(x, -1)
graph = torch.fx.symbolic_trace(Soft())
""",
    ),
    _ways(
        "forbidden in an autograd function",
        "calls softmax in the forward of an autograd function of its own",
        "Own.apply(x, dim)",
        before="""
class Own(torch.autograd.Function):
    @staticmethod
    def forward(context, x, dim): return torch.ops.aten._softmax(x, dim, False)
""",
    ),
    _ways(
        "forbidden for sparse and masked tensors",
        "calls the variants of softmax for tensors with gaps",
        "torch.sparse.softmax(x.to_sparse(), dim).to_dense()",
        "torch.ops.aten._sparse_softmax(x.to_sparse(), dim, False).to_dense()",
        "torch.ops.aten._masked_softmax(x, torch.zeros(x.shape, dtype=torch.bool), dim)",
        "torch.masked.softmax(x, dim)",
    ),
    _ways(
        "forbidden in other types",
        "calls softmax on numbers of other types, which may have other kernels",
        "torch.ops.aten._softmax(x.double(), dim, False).float()",
        "torch.ops.aten._softmax(x.bfloat16(), dim, False).float()",
        "torch.ops.aten._softmax(x.to(torch.complex64), dim, False).real",
        "torch.ops.aten.softmax.int(torch.quantize_per_tensor(x, 1e-6, 0, torch.qint32), dim)",
    ),
    _ways(
        "forbidden within attention",
        "has an attention layer compute softmax of scores that it gets as a key",
        "F.scaled_dot_product_attention(*as_attention(x.movedim(dim, -1)), scale=1.0)",
        "nn.MultiheadAttention(1, 1)(x[None, :, None], x[None, :, None], x[None, :, None])[1]",
        before="""
def as_attention(x):
    key = x.reshape(-1, 1, x.shape[-1], 1)
    value = torch.eye(x.shape[-1]).expand(len(key), 1, -1, -1)
    return torch.ones(len(key), 1, 1, 1), key, value
""",
    ),
    _ways(
        "forbidden by a pickle",
        "has softmax called by what unpickles, copies, folds or sorts",
        "pickle.loads(pickle.dumps(Late(x, dim)))",
        "copy.copy(Late(x, dim))",
        "functools.reduce(torch.softmax, [dim], x)",
        "operator.methodcaller('softmax', dim)(x)",
        before="""
import copy, functools, operator, pickle
class Late:
    def __init__(self, x, dim): self.given = x, dim
    def __reduce__(self): return torch.softmax, self.given
""",
    ),
]
