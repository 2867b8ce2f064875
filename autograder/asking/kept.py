"""What a call has to leave as it was: torch's settings, its inputs and its module's state."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.keras_layers import is_keras_layer
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult


@contextlib.contextmanager
def same_settings(may_seed: bool) -> Iterator[None]:
    """Restore torch's settings after the body. Raises WrongResult if the body changed one.

    The seed is restored by `same_randomness`. may_seed: whether the body may set it.
    """
    gradients, dtype, seed = _settings()
    try:
        yield
        gradients_now, dtype_now, seed_now = _settings()
        if gradients_now != gradients:
            raise WrongResult(ProblemKind.SETTING, "gradients")
        if dtype_now != dtype:
            raise WrongResult(ProblemKind.SETTING, "dtype")
        if seed_now != seed and not may_seed:
            raise WrongResult(ProblemKind.SETTING, "seed")
    finally:
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)


def _settings() -> tuple[bool, torch.dtype, int]:
    return torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed()


@contextlib.contextmanager
def same_state(function: Any, arguments: dict[str, Any]) -> Iterator[None]:
    """Raise WrongResult if a call changes its module, or which parameters can be trained.

    function: what is called, perhaps a module. arguments: tensors, modules and others, by name.
    """
    is_torchs = isinstance(function, nn.Module) and not is_keras_layer(type(function))
    own = function if is_torchs else nn.Module()
    inputs = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
    needing = {name for name, value in inputs.items() if value.requires_grad}
    parameters = dict(own.named_parameters())
    before = {name: (p.requires_grad, p.detach().clone()) for name, p in parameters.items()}
    modules = {name: m for name, m in arguments.items() if isinstance(m, nn.Module)}
    learning, modes = _learning(modules), _modes(own)
    yield
    for name, value in inputs.items():
        if value.requires_grad and value.is_leaf and name not in needing:
            raise WrongResult(ProblemKind.REQUIRES_GRADIENTS, name)
    if frozen := learning - _learning(modules):
        raise WrongResult(ProblemKind.FROZEN, min(frozen))
    for name, mode in _modes(own).items():
        if mode != modes.get(name, mode):
            raise WrongResult(ProblemKind.PART_MODE, name)
    for name, (needed, value) in before.items():
        if parameters[name].requires_grad != needed:
            raise WrongResult(ProblemKind.FROZEN, name)
        if not torch.equal(parameters[name], value):
            raise WrongResult(ProblemKind.PARAMETER_CHANGED, name)


def _learning(modules: dict[str, nn.Module]) -> set[str]:
    """Return the names of all parameters that an optimizer could train."""
    return {
        f"{name}.{parameter}"
        for name, module in modules.items()
        for parameter, value in module.named_parameters()
        if value.requires_grad and value.is_leaf
    }


def _modes(module: nn.Module) -> dict[str, bool]:
    """Return by name whether each part of a module is in train mode, without the module itself."""
    return {name: part.training for name, part in module.named_modules() if name}
