"""What a learner's code returned, as plain data that can cross a process boundary."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.asking.problem import Problem, cut

REPEATS = "repeats"  # the name of an output: whether a second call gave the same
OWN_BACKWARD = "once"  # a fact that is noted of answers which write their own backward pass
GRADIENT = "gradient of "  # the name of a gradient: this, and what it is taken with respect to
MOST_ELEMENTS = 1_000_000
# Dtypes that can be compared and shown: no complex numbers, no floats below 16 bits.
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
)

# What a trial notes besides the result; an exception if that can't be found out.
Facts = dict[str, Tensor | Exception]


@dataclass(frozen=True)
class Answer:
    """What one call returned: tensors by name, or the problem that prevented them.

    lacks: outputs that are missing although the call succeeded, and why.
    changed: names of the arguments that the call changed in place. It does not travel: whoever gets
        the answer compares `inputs` with what was passed.
    printed: how many lines the call printed.
    output: the beginning of what it printed. It does not travel.
    borrowed: names of the notebook's tensors and modules that the code reads although they are no
        arguments; "self.name" where the module has an attribute of that name.
    unused: names of the arguments that the code never reads.
    reordered: names of all arguments as they are passed, if the code takes them in another order.
    inputs: digests of the tensors that were passed, after the call.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    problem: Problem | None = None
    lacks: dict[str, Problem] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    printed: int = 0
    output: str = ""
    borrowed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    reordered: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)

    def to_tree(self) -> dict[str, Any]:
        problem = asdict(self.problem) if self.problem else None
        return {
            "tensors": self.tensors,
            "problem": problem,
            "lacks": {name: asdict(lack) for name, lack in self.lacks.items()},
            "printed": self.printed,
            "borrowed": list(self.borrowed),
            "unused": list(self.unused),
            "reordered": list(self.reordered),
            "inputs": self.inputs,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Answer":
        """Read the answer from a decoded tree, which may come from an untrusted process.

        Raises ValueError if the tree is not an answer.
        """
        try:
            return cls(
                tensors=_tensors(tree["tensors"]),
                problem=None if tree["problem"] is None else Problem.from_tree(tree["problem"]),
                lacks={name: Problem.from_tree(lack) for name, lack in tree["lacks"].items()},
                printed=int(tree["printed"]),
                borrowed=_names(tree["borrowed"]),
                unused=_names(tree["unused"]),
                reordered=_names(tree["reordered"]),
                inputs=_texts(tree["inputs"]),
            )
        except (TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ValueError(f"this is no answer: {error}") from error


def digests(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each tensor among the arguments: of its dtype, shape and values."""
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
    return {name: _digest(tensor) for name, tensor in tensors.items()}


def changed_inputs(before: Mapping[str, Any], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the arguments, known `before` a call, whose digests differ after it.

    An argument without a digest counts as changed.
    """
    known = digests(before)
    return tuple(name for name in known if after.get(name) != known[name])


def _digest(tensor: Tensor) -> str:
    flat = tensor.detach().clone(memory_format=torch.contiguous_format).view(-1)
    digest = hashlib.blake2b(flat.view(torch.uint8).numpy().tobytes(), digest_size=16)
    digest.update(f"{tensor.dtype} {list(tensor.shape)}".encode())
    return digest.hexdigest()


def _tensors(tree: dict[str, Any]) -> dict[str, Tensor]:
    if not all(t.dtype in DTYPES and t.numel() <= MOST_ELEMENTS for t in tree.values()):
        raise ValueError("an answer holds tensors of bearable size and plain numbers")
    return tree


def _names(values: list[Any]) -> tuple[str, ...]:
    return tuple(map(cut, values))


def _texts(tree: dict[str, Any]) -> dict[str, str]:
    return {key: cut(value) for key, value in tree.items()}
