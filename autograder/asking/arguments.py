"""Call arguments that are more than a tensor or a plain value: modules and functions.

A case holds a description, which travels as plain data; `make` builds the real thing where the
learner's code runs.
"""

import importlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from types import CodeType, MethodType, ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MARK = "$made"


@dataclass(frozen=True)
class StandIn:
    """A module that replaces one of the notebook's, with the given parameters.

    A name with a dot ("query.weight") belongs to an nn.Linear; any other is an nn.Parameter.
    attributes: plain values that the module keeps, such as its number of heads.
    training: whether it is in train mode.
    forward: the source of this method; "" if nobody calls the module.
    """

    parameters: dict[str, Tensor]
    attributes: dict[str, int] = field(default_factory=dict)
    training: bool = True
    forward: str = ""

    def make(self) -> nn.Module:
        module = nn.Module()
        vars(module).update(self.attributes)
        for name, value in self.parameters.items():
            owner, _, own_name = name.rpartition(".")
            if not owner:
                setattr(module, name, nn.Parameter(value.clone()))
            elif own_name == "weight":
                setattr(module, owner, self._linear(owner))
        if self.forward:
            module.forward = MethodType(Code(self.forward).make(), module)
        return module.train(self.training)

    def _linear(self, name: str) -> nn.Linear:
        weight, bias = self.parameters[f"{name}.weight"], self.parameters.get(f"{name}.bias")
        n_out, n_in = weight.shape
        linear = nn.Linear(n_in, n_out, bias=bias is not None, dtype=weight.dtype)
        load_parameters(linear, {"weight": weight} | ({} if bias is None else {"bias": bias}))
        return linear


@dataclass(frozen=True)
class Library:
    """A library module, such as "torch.nn.MultiheadAttention".

    build: its constructor's arguments.
    parameters: loaded by name; if None, drawn when the reference is built.
    training: whether it is in train mode.
    """

    path: str
    build: dict[str, Any]
    parameters: dict[str, Tensor] | None = None
    training: bool = True

    def make(self) -> nn.Module:
        package, _, name = self.path.rpartition(".")
        module: nn.Module = getattr(importlib.import_module(package), name)(**self.build)
        if self.parameters:
            module.to(next(iter(self.parameters.values())).dtype)
            load_parameters(module, self.parameters)
        return module.train(self.training)


# The module and the file that such code seems to be in: errors are reported at a line outside this
# package.
GIVEN_MODULE = "given_by_the_check"
GIVEN = str(Path(__file__).with_name("<given>"))


@dataclass(frozen=True)
class Code:
    """An object given by source code: the last name that the source defines.

    given: names of other arguments of the call. If there are any, the source defines a function,
        and the argument is what it returns for them (such as an optimizer for a model).
    numbers: those that the source uses, by name. Sources that differ only in these compile once.
    """

    source: str
    given: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def make(self) -> Any:
        module = ModuleType(GIVEN_MODULE)
        vars(module).update({"torch": torch, "nn": nn, "F": F, "math": math, **self.numbers})
        exec(_compiled(self.source), vars(module))
        sys.modules[GIVEN_MODULE] = module  # where pickle, and so torch.save, looks for classes
        return list(vars(module).values())[-1]


@lru_cache(maxsize=500)
def _compiled(source: str) -> CodeType:
    return compile(source, GIVEN, "exec")


KINDS = {kind.__name__: kind for kind in (StandIn, Library, Code)}
MadeObject = StandIn | Library | Code


def make(value: Any) -> Any:
    """Make the argument that a call receives: copy a tensor, or build from a description."""
    if isinstance(value, Tensor):
        return value.clone()
    return value.make() if isinstance(value, MadeObject) else value


def make_all(values: dict[str, Any]) -> dict[str, Any]:
    """Make all arguments that a call receives, in order."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        made[name] = make(value)
        if isinstance(value, Code) and value.given:
            made[name] = made[name](*(made[other] for other in value.given))
    return made


def named_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters by name; the layers of an `nn.Sequential` go by number."""
    return {_by_number(module, name): value for name, value in module.named_parameters()}


def _by_number(module: nn.Module, name: str) -> str:
    *path, last = name.split(".")
    numbered = []
    for part in path:
        place = list(module._modules).index(part)
        numbered.append(str(place) if isinstance(module, nn.Sequential) else part)
        module = module.get_submodule(part)
    return ".".join([*numbered, last])


def load_parameters(module: nn.Module, values: dict[str, Tensor]) -> None:
    """Copy values into the parameters with the same names."""
    parameters = named_parameters(module)
    with torch.no_grad():
        for name, value in values.items():
            parameters[name].copy_(value)


def map_tensors(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Apply `change` to the floating-point tensors of a value, even inside a description."""
    if isinstance(value, Tensor):
        return change(value) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {name: map_tensors(child, change) for name, child in value.items()}
    if isinstance(value, StandIn | Library):
        return replace(value, parameters=map_tensors(value.parameters, change))
    return value


def to_tree(value: Any) -> Any:
    if not isinstance(value, MadeObject):
        return value
    return {MARK: type(value).__name__} | {f.name: getattr(value, f.name) for f in fields(value)}


def from_tree(tree: Any) -> Any:
    if not isinstance(tree, dict) or MARK not in tree:
        return tree
    return KINDS[tree[MARK]](**{name: value for name, value in tree.items() if name != MARK})
