"""Take the named outputs of a call, or say why there are none."""

import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import DTYPES, MOST_ELEMENTS, Problem
from autograder.asking.question import Call, Question

MOST_NAMES = 4
MOST_DEPTH = 10
PLACE = re.compile(r"(.+?)\.(\d+)\.(.+)")  # in a list of modules: "heads.0.query.weight"


class WrongResult(Exception):
    """The result is not what the question asks for; holds the Problem."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(kind, detail)


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
        raise WrongResult("count", f"{describe(result)} instead of {wanted}")
    if len(result) != len(names):
        raise WrongResult("count", f"{len(result)} things instead of {wanted}")
    pairs = zip(names, result, strict=True)
    return {name: _tensor(value, name, question.plain) for name, value in pairs}


def _choice(value: Any, choices: list[str]) -> Tensor:
    """Return the index of a word in `choices`. Raises WrongResult for any other value."""
    if value not in choices:
        raise WrongResult("choice", f"{value!r}, which is none of: {', '.join(choices)}")
    return torch.tensor(choices.index(value))


def _values_in_order(result: Any, names: list[str]) -> list[Any]:
    """Return a dict's values in the order of `names`. Raises WrongResult for anything else."""
    if not isinstance(result, dict):
        raise WrongResult("keys", f"{describe(result)}, not a dict")
    if set(result) != set(names):
        there = ", ".join(map(str, result)) or "nothing in it"
        raise WrongResult("keys", f"a dict with {there}; it should have {', '.join(names)}")
    return [result[name] for name in names]


def _tensor(value: Any, name: str, plain: bool = False) -> Tensor:
    """Return the value if it is a tensor, or a plain number as one. Raises WrongResult."""
    if plain and isinstance(value, bool | int | float):
        return torch.tensor(value)
    if plain and isinstance(value, Tensor) and value.requires_grad:
        raise WrongResult("graph", name)
    if plain or not isinstance(value, Tensor):
        kind = "plain" if plain else "type"
        raise WrongResult(kind, f"{describe(value)}{f' for {name}' if name else ''}")
    return value


def kept_attribute(module: nn.Module, name: str, question: Question, call: Call) -> Tensor:
    """Return an attribute that the module should keep. Raises WrongResult."""
    if not hasattr(module, name):
        raise WrongResult("attribute", name)
    value = getattr(module, name)
    value = _tensor(value, f"the attribute {name}", plain=isinstance(value, int))
    if question.keeps_detached and call.gradients and value.requires_grad:
        raise WrongResult("attached", name)
    return value


def other_parameters(there: Iterable[str], wanted: Iterable[str]) -> WrongResult:
    """Return the problem of a module with other parameters, which names only what differs."""
    there, wanted = list(there), list(wanted)
    lacking = [name for name in wanted if name not in there]
    extra = [name for name in there if name not in wanted]
    layers = {name.split(".")[0] for name in lacking}, {name.split(".")[0] for name in extra}
    if all(len(names) == 1 for names in layers) and layers[0] != layers[1]:
        [right], [given] = layers
        return WrongResult("parameters", f"has `{given}` where `{right}` should be")
    if not extra and (short := _short_list(there, wanted)):
        return WrongResult("parameters", short)
    if _come_earlier(extra, lacking):
        return WrongResult(
            "parameters",
            f"has {_some(extra)} where {_some(lacking)} should be, so a step before it is missing, "
            "such as a ReLU",
        )
    parts = [f"lacks {_some(lacking)}"] if lacking else []
    parts += [f"has an extra {_some(extra)}"] if extra else []
    only_biases = all(name.rpartition(".")[2] == "bias" for name in lacking + extra)
    cure = ": check `bias=` where you make the layers" if only_biases else ""
    return WrongResult("parameters", " and ".join(parts) + cure)


def _come_earlier(extra: list[str], lacking: list[str]) -> bool:
    """Whether all extra parameters are the lacking ones, at an earlier place of a list."""
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
        raise WrongResult("mode", "training" if module.training else "evaluation")


def plain_tensor(value: Tensor, name: str) -> Tensor:
    """Copy a tensor to the CPU, without its graph. Raises WrongResult if that is impossible.

    A class of its own is left behind: it could compute later, where nothing is forbidden.
    """
    if value.layout is not torch.strided:
        raise WrongResult("type", f"a sparse tensor for {name}")
    value = Tensor.as_subclass(value, Tensor)
    if value.dtype not in DTYPES:
        raise WrongResult("type", f"a tensor of dtype {str(value.dtype)[6:]} for {name}")
    if value.numel() > MOST_ELEMENTS:
        raise WrongResult("size", f"{tuple(value.shape)}")
    copied = value.detach().cpu().clone()
    if type(copied) is not Tensor:
        raise WrongResult("type", f"{describe(copied)} for {name}")
    return copied


def describe(value: Any) -> str:
    if value is None:
        return "None"
    kind = type(value)
    if kind.__module__ == "numpy":
        return "a numpy array" if kind.__name__ == "ndarray" else f"a numpy {kind.__name__}"
    article = "an" if kind.__name__[0] in "aeiou" else "a"
    return f"{article} {kind.__name__}{_elements(value) if kind is list else ''}"


def _elements(values: list) -> str:
    """Return what a list holds, however deep: " of tensors", " of numbers", or "" for the rest."""
    first: Any = values
    for _ in range(MOST_DEPTH):
        if not isinstance(first, list) or not first:
            break
        first = first[0]
    if isinstance(first, Tensor):
        return " of tensors"
    return " of numbers" if isinstance(first, bool | int | float) else ""
