"""Attacks on the path from an answer to its points, by code that runs alongside it."""

from autograder.references.store import PUBLIC, load
from tests.sandbox.hostile.attack import LESSON, POINTS, Attack

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
        "hard-coded public answers",
        "looks up the inputs of the public cases and returns what the released reference expects",
        answers=_hard_coded(),
        honest=(),
        outcome="graded",
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
]
