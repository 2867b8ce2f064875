"""Attacks by objects that are not what they seem, as answers or their results."""

from tests.sandbox.hostile.attack import Attack


def _returns(name: str, tries: str, code: str, **facts: object) -> Attack:
    """Make an attack whose code defines softmax."""
    return Attack(name, tries, answers={"softmax": code}, **({"outcome": "graded"} | facts))


def _right_but(*lines: str) -> str:
    """Write a correct softmax that also does something else before it returns."""
    compute = ["right = (scores - scores.amax(dim, keepdim=True)).exp()"]
    compute += ["right = right / right.sum(dim, keepdim=True)", *lines, "return right"]
    return "\n    ".join(["def softmax(scores, dim=-1):", *compute])


ATTACKS = [
    _returns(
        "one answer under two names",
        "gives a right function the name of another exercise, to earn its points as well",
        "softmax = query_scores",
    ),
    _returns(
        "names that look alike",
        "defines functions whose names look like softmax and are written otherwise",
        """
        def s\u043eftmax(scores, dim=-1): return scores
        softmax = s\u043eftmax
        softmax.__name__ = "soft\\u200bmax"
        softmax.__qualname__ = "\\ud800" * 10_000
        """,
    ),
    _returns(
        "a function of another name",
        "gives a function a name that is a path, code, HTML or a megabyte",
        """
        def softmax(scores, dim=-1): return scores
        softmax.__name__ = "<img src=x onerror=alert(1)>" * 40_000
        """,
    ),
    _returns(
        "a function wrapped in itself",
        "makes whoever looks for the wrapped function go round in circles",
        """
        def softmax(scores, dim=-1): return scores
        softmax.__wrapped__ = softmax
        softmax.call = softmax.forward = softmax
        """,
    ),
    _returns(
        "a signature of its own",
        "gives a function signatures, defaults and annotations that raise or are huge",
        """
        class Odd:
            def __getattribute__(self, name): raise OSError(name)
        def softmax(scores, dim=-1): return scores
        softmax.__signature__ = Odd()
        softmax.__annotations__ = {str(n): "1 / 0" for n in range(1000)}
        """,
    ),
    _returns(
        "a class for a function",
        "answers with a class whose metaclass says yes to everything",
        """
        class Yes(type):
            def __instancecheck__(cls, thing): return True
            def __subclasscheck__(cls, thing): return True
            def __eq__(cls, other): return True
            __hash__ = type.__hash__
            def __call__(cls, *a, **k): return cls
        class softmax(metaclass=Yes): pass
        """,
    ),
    _returns(
        "a code of a thousand functions",
        "answers with a function that holds others, nested deep and by the thousand",
        """
        source = "def softmax(scores, dim=-1):\\n"
        for depth in range(1, 60):
            source += " " * depth + f"def f{depth}():\\n"
        exec(source + " " * 61 + "pass\\n return scores")
        """,
        told="",
    ),
    _returns(
        "a generator",
        "returns what yields without end, and lists that hold themselves",
        """
        def forever():
            while True: yield torch.zeros(3)
        ring = []; ring.append(ring)
        kinds = iter([forever(), ring, iter(ring), map(str, forever()), {1: ring}])
        def softmax(scores, dim=-1): return next(kinds, ring)
        """,
    ),
    _returns(
        "a type with a long name",
        "returns an object whose type has a name that is HTML, escapes and a megabyte",
        """
        Odd = type("<script>x()</script>\\x1b[31m" * 40_000, (), {"__module__": "numpy"})
        def softmax(scores, dim=-1): return Odd()
        """,
    ),
    _returns(
        "a tensor on paper",
        "returns views whose strides overlap, are zero, or reach far",
        """
        kinds = iter([torch.zeros(1).as_strided((1000, 1000, 1000), (0, 0, 0)),
                      torch.zeros(9).as_strided((3, 3), (1, 1)), torch.zeros(0, 1 << 40),
                      torch.zeros(5).expand(1 << 20, 5), torch.zeros(2, 3).T[::2, ::2]])
        def softmax(scores, dim=-1): return next(kinds, scores.T)
        """,
    ),
    _returns(
        "a tensor without its memory",
        "returns tensors whose storage was freed, shrunk or never was",
        """
        def softmax(scores, dim=-1):
            scores = scores.clone()
            scores.untyped_storage().resize_(0)
            return scores
        """,
        outcome="",
    ),
    _returns(
        "a wrapper tensor",
        "returns tensors whose computing is done by Python, and returns what it likes",
        """
        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, like):
                return torch.Tensor._make_wrapper_subclass(cls, like.shape, dtype=like.dtype)
            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                return torch.ones(1 << 10)
        def softmax(scores, dim=-1): return Wrapper(scores)
        """,
    ),
    _returns(
        "a tensor with hooks",
        "returns tensors that call back when they are copied, moved or differentiated",
        """
        def again(*a): raise SystemExit
        def softmax(scores, dim=-1):
            out = (scores.clone().requires_grad_() * 1).as_subclass(torch.nn.Parameter)
            if not out.is_leaf: out.register_hook(again)
            out.__dict__.update(detach=None, cpu=again, dtype=None, __class__=int)
            return out
        """,
        outcome="",
    ),
    _returns(
        "inputs changed behind",
        "changes its input from a thread while it is copied, and puts it back",
        """
        import threading
        def softmax(scores, dim=-1):
            def change():
                for _ in range(50): scores.add_(1); scores.sub_(1)
            threading.Thread(target=change).start()
            return scores
        """,
    ),
    _returns(
        "inputs changed by their memory",
        "changes its input past torch: by numpy, by DLPack, by its address",
        _right_but(
            "scores.numpy().fill(0)",
            "torch.from_dlpack(scores).fill_(1)",
            "ctypes.memset(scores.data_ptr(), 0, scores.numel() * 4)",
        ),
        told="in place",
    ),
    _returns(
        "inputs changed without a version",
        "changes its input through .data, so that torch counts no change",
        _right_but(
            "scores.data.copy_(right)",
            "torch._C._autograd._unsafe_set_version_counter((scores,), (0,))",
        ),
        told="in place",
    ),
    _returns(
        "inputs resized",
        "changes its input's shape and type in place, and returns the right result",
        _right_but("scores.unsqueeze_(0)"),
        told="in place",
    ),
    _returns(
        "hidden cases printed",
        "prints all inputs that it is called with, and the file of questions",
        """
        import json
        def softmax(scores, dim=-1):
            os.write(1, repr(scores.tolist()).encode())
            print(scores)
            return scores
        print(open(os.environ["AUTOGRADER_QUESTIONS"], "rb").read()[-3000:])
        """,
        told="arguments",
    ),
    _returns(
        "hidden cases in an error",
        "raises an error that tells the inputs of a hidden case",
        """
        def softmax(scores, dim=-1): raise ValueError(str(scores.tolist()) * 100)
        """,
    ),
    _returns(
        "hidden cases in a result",
        "returns the inputs of all cases as one result, to be shown on the card",
        """
        seen = []
        def softmax(scores, dim=-1):
            seen.append(scores.flatten())
            return torch.cat(seen)
        """,
    ),
]
