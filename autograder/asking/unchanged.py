"""What a call has to leave as it was: torch's settings, what it is given, and its module."""

import contextlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from autograder.asking.keras_layers import is_torch_module
from autograder.asking.problem import ProblemKind
from autograder.asking.returned import WrongResult, other_parameters

OTHER = -0.5  # times which a parameter is another


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
def changed_parameters(function: Any) -> Iterator[None]:
    """Change a torch module's parameters in place, and back after the body."""
    own = list(function.parameters()) if is_torch_module(function) else []
    before = [parameter.detach().clone() for parameter in own]
    with torch.no_grad():
        for parameter in own:
            parameter.mul_(OTHER)
    yield
    with torch.no_grad():
        for parameter, value in zip(own, before, strict=True):
            parameter.copy_(value)


@contextlib.contextmanager
def same_state(
    function: Any, arguments: dict[str, Any], changing: Container[str] = ()
) -> Iterator[None]:
    """Raise WrongResult if a call changes its module, a module that it is given, or `.grad`.

    function: what is called, perhaps a module.
    arguments: tensors, modules and others, by name.
    changing: names of the modules among them whose numbers should change, and nothing else.
    """
    own = function if is_torch_module(function) else nn.Module()
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}
    modules = {name: m for name, m in arguments.items() if isinstance(m, nn.Module)}
    optimizers = {name: o for name, o in arguments.items() if isinstance(o, Optimizer)}
    with (
        _same_module(own),
        _same_training(modules),
        _same_tensors(tensors),
        _same_modules(modules, changing),
        _same_optimizers(optimizers),
    ):
        yield


@contextlib.contextmanager
def as_it_was(*parts: nn.Module) -> Iterator[None]:
    """Raise WrongResult if parts of a model, or itself, end in another mode or with new attributes.

    Parts that note something when they are first called are left out, or have been called before.
    """
    before = [(part, part.training, {*vars(part)}) for part in parts]
    yield
    for part, training, names in before:
        if part.training != training:
            raise WrongResult(ProblemKind.PART_MODE, "model")
        if new := vars(part).keys() - names:
            said = f"the attribute `{min(new)}` of `model`"
            raise WrongResult(ProblemKind.ARGUMENT_CHANGED, said)


@contextlib.contextmanager
def _same_modules(modules: dict[str, nn.Module], changing: Container[str]) -> Iterator[None]:
    """Raise WrongResult if a module that was given is not as it was.

    changing: names of those whose numbers and modes are outputs.
    """
    contents = {name: ModuleContent.of(m) for name, m in modules.items() if name not in changing}
    settings = {name: ModuleSettings.of(module) for name, module in modules.items()}
    yield
    for name, module in modules.items():
        change = contents[name].change(ModuleContent.of(module)) if name in contents else ""
        if change := change or settings[name].change(ModuleSettings.of(module)):
            raise WrongResult(ProblemKind.ARGUMENT_CHANGED, f"{change} of `{name}`")


@contextlib.contextmanager
def _same_optimizers(optimizers: dict[str, Optimizer]) -> Iterator[None]:
    """Raise WrongResult if an optimizer that was given has another setting, such as `lr`."""
    before = {name: _optimizer_settings(optimizer) for name, optimizer in optimizers.items()}
    yield
    for name, optimizer in optimizers.items():
        now = _optimizer_settings(optimizer)
        for (group, setting), value in before[name].items():
            if now.get((group, setting)) != value:
                raise WrongResult(ProblemKind.ARGUMENT_CHANGED, f"`{setting}` of `{name}`")


def _optimizer_settings(optimizer: Optimizer) -> dict[tuple[int, str], Any]:
    """Return an optimizer's settings, by group and name; its parameters are none."""
    groups = enumerate(optimizer.param_groups)
    return {(i, name): group[name] for i, group in groups for name in group if name != "params"}


@contextlib.contextmanager
def _same_tensors(tensors: dict[str, Tensor]) -> Iterator[None]:
    """Raise WrongResult if a tensor that was given now has a gradient, or requires one."""
    needing = {name for name, value in tensors.items() if value.requires_grad}
    graded = {name for name, value in tensors.items() if value.is_leaf and value.grad is not None}
    yield
    for name, value in tensors.items():
        if value.is_leaf and value.grad is not None and name not in graded:
            raise WrongResult(ProblemKind.ARGUMENT_CHANGED, f"`.grad` of `{name}`")
        if value.requires_grad and value.is_leaf and name not in needing:
            raise WrongResult(ProblemKind.REQUIRES_GRADIENTS, name)


@contextlib.contextmanager
def _same_training(modules: dict[str, nn.Module]) -> Iterator[None]:
    """Raise WrongResult if a module that was given has other parameters, or fewer can be trained.

    Their numbers may change.
    """
    learning = _learning(modules)
    names = {name: _names(module) for name, module in modules.items()}
    yield
    for name, module in modules.items():
        if {*(there := _names(module))} != {*names[name]}:
            said = other_parameters(there, names[name]).problem.detail
            raise WrongResult(ProblemKind.OTHER_PARAMETERS, f"`{name}` {said}")
    if frozen := learning - _learning(modules):
        raise WrongResult(ProblemKind.FROZEN, min(frozen))


@contextlib.contextmanager
def _same_module(own: nn.Module) -> Iterator[None]:
    """Raise WrongResult if a module that was called has other parts, modes or numbers."""
    parts, modes, parameters = dict(own.named_modules()), _modes(own), dict(own.named_parameters())
    before = {name: (p.requires_grad, p.detach().clone()) for name, p in parameters.items()}
    yield
    for name, part in own.named_modules():
        if parts.get(name, part) is not part:
            raise WrongResult(ProblemKind.PART_REPLACED, name)
    for name, mode in _modes(own).items():
        if mode != modes.get(name, mode):
            raise WrongResult(ProblemKind.PART_MODE, name)
    for name, (needed, value) in before.items():
        if parameters[name].requires_grad != needed:
            raise WrongResult(ProblemKind.FROZEN, name)
        if not torch.equal(parameters[name], value):
            raise WrongResult(ProblemKind.PARAMETER_CHANGED, name)


@dataclass(frozen=True)
class ModuleContent:
    """What a module is made of, and its numbers.

    parts: by name, each part itself (so that its place in memory isn't used again), and whether it
        is in train mode.
    numbers, gradients: copies of the parameters' and buffers' values, and of their `.grad`.
    learning: the names of the parameters that require gradients.
    """

    parts: dict[str, tuple[nn.Module, bool]]
    numbers: dict[str, Tensor]
    gradients: dict[str, Tensor]
    learning: set[str]

    @classmethod
    def of(cls, module: nn.Module) -> Self:
        named = [*module.named_parameters(), *module.named_buffers()]
        return cls(
            {name: (part, part.training) for name, part in module.named_modules()},
            {name: value.detach().clone() for name, value in named},
            {name: value.grad.clone() for name, value in named if value.grad is not None},
            {name for name, value in named if value.requires_grad},
        )

    def change(self, now: Self) -> str:
        """Say in words what has changed; "" if nothing has."""
        if self.parts.keys() != now.parts.keys():
            return "the parts"
        for name, (part, training) in self.parts.items():
            part_now, training_now = now.parts[name]
            if part_now is not part:
                return f"the part `{name}`"
            if training_now != training:
                return f"the mode (train or evaluation){_where(name)}"
        if name := _differing(self.numbers, now.numbers):
            return f"the numbers in `{name}`"
        if name := _differing(self.gradients, now.gradients):
            return f"the `.grad` of `{name}`"
        if names := now.learning - self.learning:
            return f"`requires_grad` of `{min(names)}`"
        return ""


@dataclass(frozen=True)
class ModuleSettings:
    """How a module works, apart from its content.

    hooks: how many each part has, by its name.
    plain: the attributes that are numbers or text, by part and name.
    instead: the attributes, by part and name, that hide a method, as another `forward` does.
    """

    hooks: dict[str, int]
    plain: dict[tuple[str, str], Any]
    instead: dict[tuple[str, str], Any]

    @classmethod
    def of(cls, module: nn.Module) -> Self:
        hooks, plain, instead = {}, {}, {}
        for name, part in module.named_modules():
            hooks[name] = _hooks(part)
            for attribute, value in vars(part).items():
                if isinstance(value, bool | int | float | str) and attribute != "training":
                    plain[name, attribute] = value
                if callable(getattr(type(part), attribute, None)):
                    instead[name, attribute] = value
        return cls(hooks, plain, instead)

    def change(self, now: Self) -> str:
        """Say in words what has changed; "" if nothing has."""
        for name, hooks in self.hooks.items():
            if now.hooks.get(name, hooks) != hooks:
                return f"the hooks{_where(name)}"
        for (name, attribute), value in self.plain.items():
            if now.plain.get((name, attribute), value) != value:
                return f"the attribute `{attribute}`{_where(name)}"
        for (name, attribute), value in now.instead.items():
            if self.instead.get((name, attribute)) is not value:
                return f"the method `{attribute}`{_where(name)}"
        return ""


def _where(part: str) -> str:
    return f" of its part `{part}`" if part else ""


def _hooks(module: nn.Module) -> int:
    kinds = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
    return sum(map(len, kinds))


def _differing(before: dict[str, Tensor], now: dict[str, Tensor]) -> str:
    """Return the name of a tensor that is not the same; "" if all are."""
    for name in [*before, *now]:
        if name not in before or name not in now or not _same(before[name], now[name]):
            return name
    return ""


def _same(first: Tensor, second: Tensor) -> bool:
    return first.dtype == second.dtype and bool(
        first.shape == second.shape and torch.allclose(first, second, 0, 0, equal_nan=True)
    )


def _learning(modules: dict[str, nn.Module]) -> set[str]:
    """Return the names of all parameters that an optimizer could train."""
    return {
        f"{name}.{parameter}"
        for name, module in modules.items()
        for parameter, value in module.named_parameters()
        if value.requires_grad and value.is_leaf
    }


def _names(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_parameters()]


def _modes(module: nn.Module) -> dict[str, bool]:
    """Return by name whether each part of a module is in train mode, without the module itself."""
    return {name: part.training for name, part in module.named_modules() if name}
