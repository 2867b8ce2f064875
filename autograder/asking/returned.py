"""Extract the named outputs of a call, or say why there are none."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.asking.answer import DTYPES, MOST_ELEMENTS
from autograder.asking.problem import Instead, Problem, ProblemKind
from autograder.asking.question import Call, Question

MOST_NAMES = 4
MOST_CHOICES = 20
MOST_DEPTH = 10
PLACE = re.compile(r"(.+?)\.(\d+)\.(.+)")  # in a list of modules: "heads.0.query.weight"


class WrongResult(Exception):
    """The result is not what the question asks for; holds the Problem."""

    def __init__(self, kind: ProblemKind, detail: str, instead: Instead = Instead.OTHER) -> None:
        super().__init__(detail)
        self.problem = Problem(kind, detail, instead=instead)


def wrong_type(kind: ProblemKind, value: Any, name: str = "") -> WrongResult:
    """Return the problem of a value whose type is not the one that the kind asks for.

    name: the result's name, if there are several.
    """
    detail = f"{describe(value)}{f' for {name}' if name else ''}"
    is_one_of_several = value is None and name  # so a `return` was reached
    return WrongResult(kind, detail, Instead.OTHER if is_one_of_several else _instead(value))


def named_results(result: Any, question: Question) -> dict[str, Tensor]:
    """Return the results by name. Raises WrongResult if they are not what was asked for."""
    names = question.returns
    if not names:
        return {}
    if question.choices:
        return {names[0]: _choice(result, question.choices)}
    if len(names) == 1:
        return {names[0]: _tensor(result, "", question.plain)}
    if question.as_dict:
        result = _values_in_order(result, names)
    wanted = f"({', '.join(names)})"
    if not isinstance(result, tuple | list):
        raise WrongResult(ProblemKind.COUNT, f"{describe(result)} instead of {wanted}")
    if len(result) != len(names):
        raise WrongResult(ProblemKind.COUNT, f"{len(result)} things instead of {wanted}")
    pairs = zip(names, result, strict=True)
    return {name: _tensor(value, name, question.plain) for name, value in pairs}


def _choice(value: Any, choices: list[str]) -> Tensor:
    """Return the index of a word in `choices`. Raises WrongResult for any other value."""
    if value not in choices:
        few = len(choices) <= MOST_CHOICES
        there = ", ".join(choices) if few else _some(choices)
        raise WrongResult(ProblemKind.CHOICE, f"{value!r}, which is none of: {there}")
    return torch.tensor(choices.index(value))


def _values_in_order(result: Any, names: list[str]) -> list[Any]:
    """Return a dict's values in the order of `names`. Raises WrongResult for anything else."""
    if not isinstance(result, dict):
        raise WrongResult(ProblemKind.KEYS, f"{describe(result)}, not a dict")
    if set(result) != set(names):
        there = ", ".join(map(str, result)) or "nothing in it"
        raise WrongResult(
            ProblemKind.KEYS, f"a dict with {there}; it should have {', '.join(names)}"
        )
    return [result[name] for name in names]


def _tensor(value: Any, name: str, plain: bool) -> Tensor:
    """Return the value if it is a tensor, or a plain number as one. Raises WrongResult."""
    if plain and (isinstance(value, np.generic) or _is_flag(value)):  # np.float64 is a float
        return torch.tensor(value.item())
    if plain and isinstance(value, bool | int | float):
        return torch.tensor(value)
    if plain and isinstance(value, Tensor) and value.requires_grad:
        raise WrongResult(ProblemKind.GRAPH, name)
    if plain or not isinstance(value, Tensor):
        raise wrong_type(ProblemKind.PLAIN if plain else ProblemKind.TYPE, value, name)
    return value


def _is_flag(value: Any) -> bool:
    """Whether a value is a boolean tensor of one element, as good as a plain True or False."""
    return isinstance(value, Tensor) and value.dtype is torch.bool and value.dim() == 0


def kept_attribute(module: object, name: str, question: Question, call: Call) -> Tensor:
    """Return an attribute that the module should keep. Raises WrongResult."""
    if not hasattr(module, name):
        raise WrongResult(ProblemKind.ATTRIBUTE, name)
    value = getattr(module, name)
    value = _tensor(value, f"the attribute {name}", plain=isinstance(value, int))
    if question.keeps_detached and isinstance(value, nn.Parameter):
        kept = f"has an extra `{name}`, which training would change. Keep a plain tensor"
        raise WrongResult(ProblemKind.PARAMETERS, kept)
    if question.keeps_detached and call.gradients and value.requires_grad:
        raise WrongResult(ProblemKind.ATTACHED, name)
    return value


def other_parameters(there: Iterable[str], wanted: Iterable[str]) -> WrongResult:
    """Return the problem of a module with other parameters, naming only those that differ."""
    there, wanted = list(there), list(wanted)
    lacking = [name for name in wanted if name not in there]
    extra = [name for name in there if name not in wanted]
    layers = {name.split(".")[0] for name in lacking}, {name.split(".")[0] for name in extra}
    if all(len(names) == 1 for names in layers) and layers[0] != layers[1]:
        [right], [given] = layers
        return WrongResult(ProblemKind.PARAMETERS, f"has `{given}` where `{right}` should be")
    if not extra and (short := _short_list(there, wanted)):
        return WrongResult(ProblemKind.PARAMETERS, short)
    if _come_earlier(extra, lacking):
        return WrongResult(
            ProblemKind.PARAMETERS,
            f"has {_some(extra)} where {_some(lacking)} should be, so a step before it is missing, "
            "such as a ReLU",
        )
    parts = [f"lacks {_some(lacking)}"] if lacking else []
    parts += [f"has an extra {_some(extra)}"] if extra else []
    only_biases = all(name.rpartition(".")[2] == "bias" for name in lacking + extra)
    cure = (
        ": check the kind of these layers, and `bias=`, where you make them" if only_biases else ""
    )
    return WrongResult(ProblemKind.PARAMETERS, " and ".join(parts) + cure)


def _come_earlier(extra: list[str], lacking: list[str]) -> bool:
    """Whether all extra parameters are the missing ones, at an earlier place in a list."""
    places = [list(map(PLACE.match, names)) for names in (extra, lacking)]
    if len(extra) != len(lacking) or not all(map(all, places)):
        return False
    pairs = list(zip(*places, strict=True))
    same = all((given[1], given[3]) == (right[1], right[3]) for given, right in pairs)
    return bool(pairs) and same and all(int(given[2]) < int(right[2]) for given, right in pairs)


def _short_list(there: list[str], wanted: list[str]) -> str:
    """Say which list of modules is shorter than it should be; "" if none is."""
    lengths = [_list_lengths(names) for names in (there, wanted)]
    for name, length in lengths[1].items():
        if 0 < lengths[0].get(name, 0) < length:
            return f"has {lengths[0][name]} modules in `{name}`, and should have {length}"
    return ""


def _list_lengths(names: list[str]) -> dict[str, int]:
    """Return how many modules each list has, by its name: "heads" in "heads.0.query.weight"."""
    places = map(PLACE.match, names)
    lengths: dict[str, set[str]] = {}
    for place in filter(None, places):
        lengths.setdefault(place[1], set()).add(place[2])
    return {name: len(indices) for name, indices in lengths.items()}


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    left = len(names) - MOST_NAMES
    return f"{shown} and {left} more" if left > 0 else shown


def require_mode(module: Any, training: bool) -> None:
    """Raise WrongResult if a call has changed whether a module is in training mode."""
    if isinstance(module, nn.Module) and module.training != training:
        raise WrongResult(ProblemKind.MODE, "training" if module.training else "evaluation")


def plain_tensor(value: Tensor, name: str) -> Tensor:
    """Copy a tensor to the CPU, without its graph. Raises WrongResult if that is impossible.

    A tensor subclass is not kept: it could compute later, where nothing is forbidden.
    """
    if value.layout is not torch.strided:
        raise WrongResult(ProblemKind.TYPE, f"a sparse tensor for {name}")
    value = Tensor.as_subclass(value, Tensor)
    if value.dtype not in DTYPES:
        raise WrongResult(ProblemKind.TYPE, f"a tensor of dtype {str(value.dtype)[6:]} for {name}")
    if value.numel() > MOST_ELEMENTS:
        raise WrongResult(ProblemKind.SIZE, f"{tuple(value.shape)}")
    copied = value.detach().cpu().clone()
    if type(copied) is not Tensor:
        raise wrong_type(ProblemKind.TYPE, copied, name)
    return copied


def describe(value: Any) -> str:
    """Return what a value is, in words."""
    if value is None:
        return "None"
    kind, name = type(value), type(value).__name__
    if kind.__module__ == "numpy":
        return "a numpy array" if name == "ndarray" else f"a numpy {name}"
    if _instead(value) in (Instead.TENSORS, Instead.NUMBERS):
        name = _instead(value)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _instead(value: Any) -> Instead:
    """Return what a value is, given that a tensor or a number is expected."""
    if value is None:
        return Instead.NOTHING
    if type(value).__module__ == "numpy":
        return Instead.NUMPY
    if type(value) is tuple:
        return Instead.TUPLE
    return _elements(value) if type(value) is list else Instead.OTHER


def _elements(values: list[Any]) -> Instead:
    """Return what a list holds, however deeply nested."""
    first: Any = values
    for _ in range(MOST_DEPTH):
        if not isinstance(first, list) or not first:
            break
        first = first[0]
    if isinstance(first, Tensor):
        return Instead.TENSORS
    return Instead.NUMBERS if isinstance(first, bool | int | float) else Instead.OTHER
