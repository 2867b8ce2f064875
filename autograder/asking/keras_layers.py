"""Keras layers as answers, on Keras's torch backend.

This module never imports Keras: a class can only be a Keras layer if the notebook imported it.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn

from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, other_parameters

# Keras wraps an error message: what was called, the message itself in bold, all arguments.
WRAPPED = re.compile(r"\x1b\[1m(.*)\x1b\[0m", re.DOTALL)
# It numbers layers of a kind, in the whole process: "layer 'dense_12'".
COUNTED = re.compile(r"(layer '\w*?[a-z])_\d+'")


def is_keras_layer(answer: object) -> bool:
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(answer, type) and issubclass(answer, keras.layers.Layer)


def is_torch_module(value: object) -> TypeGuard[nn.Module]:
    """Whether a value is a torch module, and no Keras layer."""
    return isinstance(value, nn.Module) and not is_keras_layer(type(value))


def built_layer(
    answer: type[Any],
    build: dict[str, Any],
    parameters: dict[str, Tensor] | None,
    arguments: list[Any],
    dtype: torch.dtype,
) -> Any:
    """Build a layer with the given parameters, named like "query.kernel". Raises WrongResult."""
    layers = sys.modules["keras"].layers
    if answer.call is layers.Layer.call:
        raise WrongResult(ProblemKind.METHOD, "call")
    with _float_type(dtype):
        layer = answer(**build)
        # A layer without a `build` of its own creates its variables in a call. Before that, Keras
        # would call it on symbolic tensors, which takes several times as long.
        layer.built = answer.build is layers.Layer.build
        layer(*arguments)
    if parameters is not None:
        _load(layer, parameters)
    return layer


def _load(layer: Any, parameters: dict[str, Tensor]) -> None:
    """Load the parameters. Raises WrongResult unless names and shapes match exactly."""
    variables = {name: _variable(layer, name) for name in parameters}
    known = {id(variable) for variable in variables.values() if variable is not None}
    if len(known) < len(parameters) or len(layer.weights) > len(known):
        raise other_parameters(_names_in(layer), parameters)
    for name, value in parameters.items():
        shape = tuple(variables[name].shape)
        if shape != tuple(value.shape):
            detail = f"{name} has shape {shape}, not {tuple(value.shape)}"
            raise WrongResult(ProblemKind.PARAMETER_SHAPE, detail)
        _require_usable(variables[name], name, value.dtype)
        variables[name].assign(value)


def _require_usable(variable: Any, name: str, dtype: torch.dtype) -> None:
    """Raise WrongResult if a variable has another dtype, or a kernel starts the same everywhere."""
    wanted, start = str(dtype).removeprefix("torch."), variable.value.detach()
    if variable.dtype != wanted:
        detail = f"{name} is {variable.dtype}, not {wanted}"
        raise WrongResult(ProblemKind.PARAMETER_SHAPE, detail)
    if name.endswith(".kernel") and start.numel() > 1 and (start == start.flatten()[0]).all():
        detail = f"{name} starts with one number everywhere, so its features would all learn alike"
        raise WrongResult(ProblemKind.PARAMETER_SHAPE, detail)


def layer_parameters(layer: Any, names: list[str]) -> dict[str, Tensor]:
    """Return the torch parameters behind the named variables."""
    return {name: _variable(layer, name).value for name in names}


def _variable(layer: Any, name: str) -> Any:
    """Return the variable at the path `name`, or None."""
    owner = layer
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


def _names_in(layer: Any, prefix: str = "") -> Iterator[str]:
    """Yield the variables' names by attribute; Keras's own paths count the layers made so far."""
    sublayers = {name: child for name, child in layer.named_children() if hasattr(child, "weights")}
    below = {id(variable) for child in sublayers.values() for variable in child.weights}
    yield from (f"{prefix}{v.name}" for v in layer.weights if id(v) not in below)
    for name, child in sublayers.items():
        yield from _names_in(child, f"{prefix}{name}.")


def plain_message(error: BaseException) -> str:
    """Return an error's message, without what Keras wraps around it, and how it counts layers."""
    wrapped = WRAPPED.search(str(error))
    return COUNTED.sub(r"\1'", wrapped[1] if wrapped else str(error))


@contextmanager
def _float_type(dtype: torch.dtype) -> Iterator[None]:
    """Give layers built in the body this dtype for inputs and outputs.

    Keras's own matrix products on torch are rounded to float32 regardless.
    """
    config = sys.modules["keras"].config
    before = config.dtype_policy()
    config.set_dtype_policy(str(dtype).removeprefix("torch."))
    try:
        yield
    finally:
        config.set_dtype_policy(before)
