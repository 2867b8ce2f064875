"""Keras layers as answers, on Keras's torch backend.

Keras is never imported here: a class can only be a Keras layer once the notebook has imported it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from autograder.results import WrongResult


def is_keras_layer(answer: Callable) -> bool:
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(answer, type) and issubclass(answer, keras.layers.Layer)


def built_layer(
    answer: Callable,
    build: dict[str, Any],
    parameters: dict[str, Tensor] | None,
    arguments: list[Any],
    dtype: torch.dtype,
) -> Any:
    """A layer with the given parameters, by names such as "query.kernel". Raises WrongResult."""
    with _float_type(dtype):
        layer = answer(**build)
        layer(*arguments)  # a layer makes its variables when it is first called
    for name, value in (parameters or {}).items():
        variable = _variable(layer, name)
        if tuple(variable.shape) != tuple(value.shape):
            detail = f"{name} has shape {tuple(variable.shape)}, not {tuple(value.shape)}"
            raise WrongResult("parameter shape", detail)
        variable.assign(value)
    return layer


def layer_parameters(layer: Any, names: list[str]) -> dict[str, Tensor]:
    """The torch parameters behind the named variables."""
    return {name: _variable(layer, name).value for name in names}


def _variable(layer: Any, name: str) -> Any:
    owner = layer
    for part in name.split("."):
        owner = getattr(owner, part, None)
    if owner is None:
        raise WrongResult("parameters", f"{_variable_names(layer)}; it should have {name}")
    return owner


def _variable_names(layer: Any) -> str:
    return ", ".join(variable.path for variable in layer.weights) or "no parameters"


@contextmanager
def _float_type(dtype: torch.dtype) -> Iterator[None]:
    """Layers made in the body compute in this dtype."""
    config = sys.modules["keras"].config
    before = config.dtype_policy()
    config.set_dtype_policy(str(dtype).removeprefix("torch."))
    try:
        yield
    finally:
        config.set_dtype_policy(before)
