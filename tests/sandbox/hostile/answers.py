"""Attacks on the path from an answer to its points, by code that runs alongside it."""

from autograder.references.store import PUBLIC, load
from tests.sandbox.hostile.attack import LESSON, POINTS, SLEEP, Attack

WRONG = {name: f"def {name}(*inputs):\n    return inputs[0]" for name in POINTS}
WRONG_SOFTMAX = {"softmax": WRONG["softmax"]}
LIAR = """
class Liar(torch.Tensor):
    {}

def softmax(scores, dim=-1):
    return scores.as_subclass(Liar)
"""


def _hard_coded() -> dict[str, str]:
    """Make answers that look up the public cases, which every learner has."""
    reference = load(PUBLIC / f"{LESSON.name}.safetensors")
    return {name: _look_up(reference, name) for name in POINTS}


def _look_up(reference, name: str) -> str:
    known = [
        (
            [v.tolist() if hasattr(v, "tolist") else v for v in call.arguments.values()],
            [(value.tolist(), str(value.dtype)) for value in case.expected.values()],
        )
        for call, case in zip(
            reference.questions[name].calls, reference.keys[name].cases, strict=True
        )
    ]
    return f"""
inf, nan = float("inf"), float("nan")
KNOWN_{name} = {known!r}
def {name}({", ".join(reference.questions[name].calls[0].arguments)}):
    asked = [v.tolist() if hasattr(v, "tolist") else v for v in locals().values()]
    for inputs, outputs in KNOWN_{name}:
        if asked == inputs:
            found = tuple(torch.tensor(v, dtype=eval(d)) for v, d in outputs)
            return found if len(found) > 1 else found[0]
"""


ATTACKS = [
    Attack(
        "comparisons that say yes",
        "patches torch.allclose, isclose, equal and numpy.testing, and answers with its inputs",
        first="""
            import numpy
            for name in ("allclose", "isclose", "equal", "eq"):
                setattr(torch, name, lambda *a, **k: torch.tensor(True))
            numpy.testing.assert_allclose = numpy.testing.assert_array_equal = lambda *a, **k: None
            torch.Tensor.__eq__ = torch.Tensor.allclose = lambda *a, **k: torch.tensor(True)
        """,
        answers=WRONG_SOFTMAX,
    ),
    Attack(
        "check replaced by nothing",
        "defines a check of its own that is content with everything",
        first="def check(answer): pass",
        earns=(),
        outcome="graded",
    ),
    Attack(
        "check that returns points",
        "makes each check cell's result a number, which stock nbgrader takes for points",
        first="check = lambda answer: 5",
        earns=(),
    ),
    Attack(
        "autograder replaced in sys.modules",
        "puts modules of its own in place of autograder, and imports check again",
        first="""
            import types
            for name in [name for name in sys.modules if name.startswith("autograder")]:
                fake = sys.modules[name] = types.ModuleType(name)
                fake.check = fake.collect = fake.judge = lambda *a, **k: True
            from autograder import check
        """,
        earns=(),
    ),
    Attack(
        "a module of another class",
        "gives the autograder's modules a class whose attributes are all yes",
        first="""
            import types
            class Yes(types.ModuleType):
                def __getattribute__(self, name):
                    return lambda *a, **k: True
            for name in ("autograder", "autograder.asking.collect", "autograder.asking.hand_in"):
                sys.modules[name].__class__ = Yes
            from autograder import check
        """,
        earns=(),
    ),
    Attack(
        "collector replaced",
        "makes the collector hand in zeros of a fitting shape for every case",
        first="""
            import autograder.asking.hand_in
            from autograder.asking.answer import Answer
            def zeros(answer, question):
                nothing = {name: torch.zeros(3) for name in question.returns}
                return [Answer(nothing) for call in question.calls]
            autograder.asking.hand_in.collect = zeros
        """,
        earns=(),
    ),
    Attack(
        "judge replaced",
        "looks for a judge that could give all points, and makes one of its own",
        first="""
            import importlib, types
            for name in ("judging.judge", "judging.compare", "learner"):
                attempt(lambda: importlib.import_module(f"autograder.{name}"))
                sys.modules[f"autograder.{name}"] = types.SimpleNamespace(equal=lambda *a: True)
        """,
        answers=WRONG_SOFTMAX,
        told="held: ModuleNotFoundError",
    ),
    Attack(
        "grading denied",
        "removes what tells check that it is being graded, so that it judges by itself",
        first='del os.environ["AUTOGRADER_QUESTIONS"]',
        earns=(),
    ),
    Attack(
        "easier questions",
        "puts a file with a single easy question in place of the grader's",
        first="""
            from autograder.asking.codec import decode, encode
            path = os.environ["AUTOGRADER_QUESTIONS"]
            questions = decode(open(path, "rb").read())
            for question in questions:
                question["calls"] = question["calls"][:1]
            os.remove(path)
            open(path, "wb").write(encode(questions))
        """,
        earns=(),
    ),
    Attack(
        "assertions stripped",
        "removes every check and assert by an AST transformer",
        first="""
            import ast
            class Strip(ast.NodeTransformer):
                def visit_Assert(self, node):
                    return ast.Pass()
                def visit_Expr(self, node):
                    return ast.Pass() if "check" in ast.dump(node) else node
            get_ipython().ast_transformers.append(Strip())
        """,
        earns=(),
    ),
    Attack(
        "cells rewritten on their way",
        "turns each check cell into a plain number by an input transformer",
        first="""
            def rewrite(lines):
                return ["5"] if "".join(lines).startswith("check(") else lines
            get_ipython().input_transformers_post.append(rewrite)
        """,
        earns=(),
    ),
    Attack(
        "run_cell replaced",
        "makes the shell claim success without running anything any more",
        first="""
            from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
            async def run(cell, **k):
                return ExecutionResult(ExecutionInfo(cell, True, False, True, None))
            get_ipython().run_cell_async = run
            get_ipython().should_run_async = lambda *a, **k: True
        """,
        earns=(),
    ),
    Attack(
        "hard-coded public answers",
        "looks up the inputs of the public cases and returns what the released reference expects",
        answers=_hard_coded(),
        honest=(),
        outcome="graded",
    ),
    Attack(
        "the answer knows its check",
        "looks for expected values in the frames of whoever calls it, and in all live objects",
        answers={
            "softmax": """
                import gc
                def softmax(scores, dim=-1):
                    for thing in gc.get_objects():
                        if type(thing).__name__ in ("AnswerKey", "CaseKey"):
                            print("HELD NOT:", thing)
                            return thing.expected
                    return scores
            """
        },
    ),
    *(
        Attack(
            f"a tensor that lies in {name}",
            f"returns a tensor whose {name} claims to be right",
            answers={"softmax": LIAR.format(code)},
        )
        for name, code in {
            "__eq__": "__eq__ = __ne__ = isclose = lambda self, other: torch.tensor(True)",
            "__array__": "__array__ = numpy = tolist = lambda self, *a: [[1.0]]",
            "shape": "shape = property(lambda self: torch.Size([1 << 40]))",
            "numel": "numel = lambda self: 1",
            "dtype": "dtype = property(lambda self: torch.float64)",
            "detach": "detach = cpu = clone = contiguous = lambda self: 'all points'",
            "__torch_function__": (
                "@classmethod\n"
                "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
                "        return torch.ones(())"
            ),
            "__reduce__": "__reduce_ex__ = lambda self, protocol: (os._exit, (3,))",
        }.items()
    ),
    Attack(
        "an answer that is no tensor",
        "returns an object that claims to be a tensor and to equal everything",
        answers={
            "softmax": """
                class Anything:
                    __class__ = torch.Tensor
                    def __getattr__(self, name): return Anything()
                    def __call__(self, *a, **k): return Anything()
                    def __eq__(self, other): return True
                def softmax(scores, dim=-1):
                    return Anything()
            """
        },
    ),
    Attack(
        "a tensor of a gigabyte",
        "answers with a tensor far larger than its input, in memory and on paper",
        answers={
            "softmax": "def softmax(scores, dim=-1): return torch.ones(1 << 28)",
            "context_vector": "def context_vector(a, w): return torch.ones(1).expand(1 << 40)",
        },
        outcome="graded",
    ),
    Attack(
        "tensors of strange kinds",
        "answers with complex, sparse, meta, quantized and many-dimensional tensors",
        answers={
            "softmax": "def softmax(scores, dim=-1): return scores.to(torch.complex64)",
            "context_vector": "def context_vector(a, w): return w.to('meta')",
            "attention_scores": "def attention_scores(words): return torch.ones([1] * 60)",
            "simple_attention": """
                def simple_attention(words):
                    return words.to_sparse(), words.to(torch.float8_e5m2)
            """,
        },
        outcome="graded",
    ),
    Attack(
        "right by what is forbidden",
        "calls torch.softmax where it is off limits, plainly",
        answers={"softmax": "def softmax(scores, dim=-1): return torch.softmax(scores, dim)"},
    ),
    Attack(
        "finalizers",
        "leaves objects, weak references and exit handlers that act when nobody looks",
        first=f"""
            import atexit, gc, weakref
            class Late:
                def __del__(self):
                    time.sleep({SLEEP})
            late = Late()
            late.itself = late
            def answer_again(*a):
                os.write(1, b"late")
                time.sleep({SLEEP})
            weakref.finalize(late, answer_again)
            atexit.register(answer_again)
            gc.callbacks.append(lambda *a: None)
        """,
        outcome="graded",
    ),
]
