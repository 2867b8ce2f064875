"""Build a learner's module for a call, and take gradients through the call."""

import inspect
import re
import sys
from collections.abc import Callable, Collection
from functools import partial, reduce
from operator import add
from typing import Any

import torch
import torch.utils._device  # noqa: F401  # `torch.device` would import it on the clock
from torch import Tensor, nn

from autograder.asking.answer import GRADIENT
from autograder.asking.arguments import load_parameters, make_all, named_parameters
from autograder.asking.keras_layers import built_layer, is_keras_layer, layer_parameters
from autograder.asking.problem import ProblemKind
from autograder.asking.question import Call
from autograder.asking.returned import WrongResult, describe, other_parameters
from autograder.asking.surroundings import START, Undrawn

UNLIKELY = 7_919_104_729  # a seed that nobody would choose


def built_module(
    answer: Callable[..., Any], call: Call, arguments: dict[str, Any], from_file: bool = False
) -> nn.Module:
    """Build the learner's class and load its parameters. Raises WrongResult.

    from_file: build it once more, without memory, and load as from a file.
    """
    if not (inspect.isclass(answer) and issubclass(answer, nn.Module)):
        raise WrongResult(ProblemKind.CLASS, describe(answer))
    build = make_all(call.build or {})
    try:
        inspect.signature(answer).bind(**build)
    except TypeError as error:
        takes = ", ".join(inspect.signature(answer).parameters) or "nothing"
        wanted = ", ".join(build)
        raise WrongResult(
            ProblemKind.CONSTRUCTOR, f"({takes}), and is built with ({wanted})"
        ) from error
    if is_keras_layer(answer):
        module: nn.Module = built_layer(
            answer, build, call.parameters, list(arguments.values()), call.dtype
        )
    else:
        _seed_as_zero()
        module = answer(**build)
        _require_usual(module, call.method)
        module = _torch_module(module.to(call.dtype), call.parameters)
        if torch.initial_seed() != UNLIKELY:
            raise WrongResult(ProblemKind.SETTING, "seed")
        if from_file and call.parameters is not None:
            module = _loaded(answer, build, call.parameters)
    torch.default_generator.manual_seed(START)  # whatever building drew
    return module.train(call.training)


def _loaded(
    answer: Callable[..., Any], build: dict[str, Any], parameters: dict[str, Tensor]
) -> nn.Module:
    """Build a class without memory, and put parameters in, all of them and nothing else."""
    with torch.device("meta"), Undrawn():
        module: nn.Module = answer(**build)
    try:
        module.load_state_dict({n: value.clone() for n, value in parameters.items()}, assign=True)
    except RuntimeError as error:
        raise WrongResult(ProblemKind.OTHER_NAMES, _first_reason(error)) from error
    return module


def require_loadable(used: nn.Module, new: nn.Module) -> None:
    """Raise WrongResult unless what a used module saves can be loaded into a new one."""
    try:
        new.load_state_dict(used.state_dict())
    except RuntimeError as error:
        raise WrongResult(ProblemKind.NOT_LOADED, _first_reason(error)) from error


def _first_reason(error: RuntimeError) -> str:
    """Return the first of the reasons for which `load_state_dict` failed."""
    said = str(error).partition("\n\t")[2].splitlines() or [str(error)]
    return said[0].strip().rstrip(".:")


def _seed_as_zero() -> None:
    """Let torch draw what it draws after `manual_seed(0)`, but remember another seed.

    So a constructor that sets the seed is noticed, whichever it is.
    """
    torch.default_generator.manual_seed(0)
    state = torch.default_generator.get_state()
    state[:8] = torch.tensor(list(UNLIKELY.to_bytes(8, sys.byteorder)), dtype=torch.uint8)
    torch.default_generator.set_state(state)


def _require_usual(module: nn.Module, method: str) -> None:
    """Raise WrongResult unless a new module is called as torch does, and can learn."""
    if method == "forward" and type(module).forward is nn.Module.forward:
        raise WrongResult(ProblemKind.METHOD, method)
    for name, value in module.named_parameters():
        if value.is_floating_point() and value.dtype != torch.float32:
            dtype = str(value.dtype).removeprefix("torch.")
            raise WrongResult(ProblemKind.PARAMETER_SHAPE, f"{name} has dtype {dtype}, not float32")
    for name, part in module.named_modules():
        if isinstance(part, nn.Linear) and part.weight.numel() > 1 and not part.weight.any():
            raise WrongResult(
                ProblemKind.PARAMETER_SHAPE,
                f"{name}.weight is 0 everywhere; leave it as `nn.Linear` draws it",
            )


def _torch_module(module: nn.Module, parameters: dict[str, Tensor] | None) -> nn.Module:
    if parameters is not None:
        _require_parameters(module, parameters)
        load_parameters(module, parameters)
    return module


def _require_parameters(module: nn.Module, wanted: dict[str, Tensor]) -> None:
    """Raise WrongResult unless the module has exactly these parameters, in these shapes."""
    there = {name: tuple(value.shape) for name, value in named_parameters(module).items()}
    shapes = {name: tuple(value.shape) for name, value in wanted.items()}
    if there.keys() != shapes.keys():
        _require_each_once(module, shapes.keys() - there.keys())
        plain = [name for name in shapes if isinstance(vars(module).get(name), Tensor)]
        if plain:
            raise WrongResult(ProblemKind.PLAIN_PARAMETER, plain[0])
        raise other_parameters(there, shapes)
    for name, shape in shapes.items():
        if there[name] != shape:
            raise WrongResult(
                ProblemKind.PARAMETER_SHAPE, f"{name} has shape {there[name]}, not {shape}"
            )


def _require_each_once(module: nn.Module, lacking: Collection[str]) -> None:
    """Raise WrongResult if a missing parameter is just another name for one that is there."""
    names: dict[nn.Parameter, str] = {}
    for name, value in module.named_parameters(remove_duplicate=False):
        first = names.setdefault(value, name)
        if name in lacking and first != name:
            raise WrongResult(ProblemKind.SAME_PARAMETER, f"`{name}` is `{first}`")


def require_own_memory(arguments: dict[str, Any]) -> None:
    """Raise WrongResult if two module arguments share a parameter's memory."""
    owners: dict[int, str] = {}
    for name, module in arguments.items():
        if not isinstance(module, nn.Module):
            continue
        places = {f"{name}.{p}": value.data_ptr() for p, value in module.named_parameters()}
        for parameter, place in places.items():
            if place in owners:
                raise WrongResult(
                    ProblemKind.SHARED,
                    f"`{parameter}` now shares its memory with `{owners[place]}`",
                )
        owners |= {place: parameter for parameter, place in places.items()}


def leaf_tensors(
    function: Callable[..., Any], call: Call, arguments: dict[str, Any]
) -> dict[str, Tensor]:
    """Return the tensors to differentiate by: floating-point arguments and module parameters."""
    leaves = {
        name: value.detach().requires_grad_()
        for name, value in arguments.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    if not isinstance(function, nn.Module):
        return leaves
    if is_keras_layer(type(function)):
        return leaves | layer_parameters(function, list(call.parameters or {}))
    return leaves | named_parameters(function)


def gradients(outputs: dict[str, Tensor], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """Differentiate a weighted sum of all outputs.

    Raises WrongResult if an output has no graph, or if a NaN appears on the way back but not in the
    gradients.
    """
    for name, value in outputs.items():
        if not value.requires_grad:
            raise WrongResult(ProblemKind.DETACHED, name)
    for name, leaf in leaves.items():
        if not leaf.requires_grad:
            raise WrongResult(ProblemKind.NEVER_TRAINED, name)
    sums = [(value * output_weights(value)).sum() for value in outputs.values()]
    found = _differentiated(reduce(add, sums), list(leaves.values()))
    return {
        GRADIENT + name: torch.zeros_like(leaf) if gradient is None else gradient
        for (name, leaf), gradient in zip(leaves.items(), found, strict=True)
    }


def _differentiated(total: Tensor, inputs: list[Tensor]) -> tuple[Tensor | None, ...]:
    differentiate = partial(torch.autograd.grad, total, inputs, allow_unused=True)
    try:
        with torch.autograd.set_detect_anomaly(True):
            return differentiate(retain_graph=True)
    except RuntimeError as error:
        made = re.match(r"Function '(\w+)' returned nan values", str(error))
        if not made:
            raise
    found = differentiate()
    if any(gradient.isnan().any() for gradient in found if gradient is not None):
        return found
    raise WrongResult(ProblemKind.NAN_ON_THE_WAY, made[1])


def output_weights(output: Tensor) -> Tensor:
    """Return fixed weights, a different one for each element."""
    return torch.arange(output.numel(), dtype=output.dtype).cos().view(output.shape)
