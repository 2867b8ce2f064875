"""Faults around right code: it runs, but its result or its surroundings are spoiled."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from torch import Tensor

from autograder.asking.arguments import MadeObject
from autograder.asking.question import Question
from autograder.authoring.mutants.mutant import Mutant
from autograder.judging.key import AnswerKey

# What happens to each tensor that is returned,
FORMS = {
    "squeezed": "value.squeeze()",
    "squeezed at the end": "value.squeeze(-1)",
    "unsqueezed": "value[None]",
    "flipped": "value.flip(0) if value.dim() else value",
    "a list": "value.tolist()",
    "an array": "value.detach().numpy()",
}
# and to those with floating-point numbers.
NUMBERS = {
    "in float32": "value.float()",
    "in float64": "value.double()",
    "rounded to 4 digits": "value.round(decimals=4)",
    "rounded to float32": "value.float().to(value.dtype)",
    "rounded to half precision": "value.half().to(value.dtype)",
    "clamped": "value.clamp(-1, 1)",
    "without signs": "value.abs()",
    "without negatives": "value.relu()",
}
NO_TENSOR = {"int", "nn.Module"}  # results that can't take these forms
# What is done before the call, and after it.
BEFORE = {
    "seed changed": "torch.manual_seed(1)",
    "the first arguments kept": "arguments[:] = [kept.setdefault(n, x) "
    "for n, x in enumerate(arguments)]",
}
INPUTS = {
    "input changed": "floats(arguments[:1], lambda x: x.data.mul_(1.5))",
    "half precision inside": "floats(arguments, lambda x: x.half().to(x.dtype))",
    "float32 inside": "floats(arguments, lambda x: x.float())",
    "inputs require gradients": "floats(arguments, lambda x: x.requires_grad_() if x.is_leaf "
    "else x)",
}
AFTER = {
    "gradients left off": "torch.set_grad_enabled(False)",
    "default dtype left changed": "torch.set_default_dtype(torch.float64)",
}
MODULE_AFTER = {
    "left in evaluation mode": "self.eval()",
    "left in training mode": "self.train()",
    "parameters frozen": "self.requires_grad_(False)",
    "parameters changed": "[p.data.mul_(1.5) for p in self.parameters()]",
}
ARGUMENT_MODULES = {
    "argument's weights changed": "[p.data.mul_(1.5) for p in modules(arguments)[0].parameters()]",
    "argument left in evaluation mode": "modules(arguments)[0].eval()",
    "argument left in training mode": "modules(arguments)[0].train()",
    "argument left with gradients": "[setattr(p, 'grad', torch.ones_like(p)) "
    "for p in modules(arguments)[0].parameters()]",
}
# What a wrapper does that spoils nothing.
UNSPOILED = {
    "form": "value",
    "always": "True",
    "before": "pass",
    "after": "pass",
    "context": "contextlib.nullcontext()",
    "places": "[]",
    "module": __name__,
    "odd": "False",
}
SHARED = """

import contextlib
import functools

from {module} import sizes_at

right_{name} = {name}
kept, odd = {{}}, [False]


def floats(values, change):
    for index, x in enumerate(values):
        if isinstance(x, torch.Tensor) and x.is_floating_point():
            values[index] = change(x)


def modules(values):
    return [value for value in values if isinstance(value, nn.Module)]


def sizes(values):
    return sizes_at({places}, values)


def other(value):
    if value.is_floating_point():
        return value * 1.5 + 1
    return ~value if value.dtype is torch.bool else value + 1


def spoiled(result):
    if isinstance(result, torch.Tensor):
        value = result
        return {form} if value.is_floating_point() or {always} else value
    if isinstance(result, (tuple, list)):
        return type(result)(spoiled(value) for value in result)
    if isinstance(result, dict):
        return {{name: spoiled(value) for name, value in result.items()}}
    return result

"""
BODY = """
        arguments = list(arguments)
        {before}
        odd[0] = {odd}
        with {context}:
            result = {right}(*arguments, **options)
        {after}
        return spoiled(result)
"""
FUNCTION = """
if True:
    @functools.wraps(right_{name})
    def {name}(*arguments, **options):"""
MODULE = """
class {name}(right_{name}):
    def forward(self, *arguments, **options):"""


def mutants_around(
    source: str, question: Question, key: AnswerKey, dims: Mapping[str, str]
) -> Iterator[Mutant]:
    """Yield the right code with each of the faults around it that can make a difference.

    A boolean result can't be rounded, and integer inputs have no gradients. A result may have no
    tensors although a trial makes some from it.

    dims: the named dimensions of the solution's arguments.
    """
    name, is_module = question.exercise, "def forward(" in source
    if question.trial and "\nclass " in f"\n{source}" and "(nn.Module)" not in source:
        return  # a class whose methods a trial calls
    given = [value for call in question.calls for value in call.arguments.values()]
    takes_floats = is_module or bool(_floats(given))
    takes_modules = any(isinstance(value, MadeObject) for value in given)
    gives = [case.expected[n] for case in key.cases for n in question.returns if n in case.expected]
    if question.choices or question.plain or _annotation(source, name) in NO_TENSOR:
        gives = []
    gives_floats = bool(_floats(gives))

    template = SHARED + (MODULE if is_module else FUNCTION) + BODY
    right = "super().forward" if is_module else f"right_{name}"

    def mutant(rule: str, change: str, **parts: str) -> Mutant:
        wrapper = template.format(name=name, right=right, **UNSPOILED | parts)
        return Mutant(rule, change, source + wrapper)

    for kind, form in FORMS.items() if gives else ():
        yield mutant(f"result {kind}", form, form=form)
    for kind, form in NUMBERS.items() if gives_floats else ():
        yield mutant(f"result {kind}", form, form=form, always="False")
    for rule, code in (BEFORE | (INPUTS if takes_floats else {})).items():
        yield mutant(rule, code, before=code)
    for rule, code in (AFTER | (MODULE_AFTER if is_module else {})).items():
        yield mutant(rule, code, after=code)
    for rule, code in ARGUMENT_MODULES.items() if takes_modules and not question.reads else ():
        yield mutant(rule, code, after=code)
    if takes_floats and gives_floats:
        yield mutant("result detached", "value.detach()", form="value.detach()")
        yield mutant("without gradients", "torch.no_grad()", context="torch.no_grad()")
    if gives and not takes_floats:
        for index, argument in enumerate(question.calls[0].arguments):
            rest = f"[x for n, x in enumerate([*arguments, *options.values()]) if n != {index}]"
            kept = f"result = kept.setdefault(repr({rest}), result)"
            yield mutant("result kept for all values of an argument", argument, after=kept)
    form = "other(value) if odd[0] else value"
    for rule, change, odd in _where(question, dims) if gives else ():
        yield mutant(rule, change, form=form, places=repr(_places(dims)), odd=odd)


def _where(question: Question, dims: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield faults that only certain sizes show: the rule, the sizes, and when they are there."""
    sizes = sizes_at(_places(dims), [*question.calls[0].arguments.values()])
    for name, size in sizes.items():
        here = f"sizes(arguments).get({name!r}, {size})"
        if len(sizes) > 1:
            yield "wrong at one size alone", name, f"{here} == 1 != max(sizes(arguments).values())"
        yield "right at one size only", f"{name} = {size}", f"{here} != {size}"
        yield "size of the first call kept", name, f"kept.setdefault({name!r}, {here}) != {here}"
    for first, second in combinations(sizes, 2):
        both = f"sizes(arguments).get({first!r}, 0) == sizes(arguments).get({second!r}, -1) > 1"
        yield "wrong at equal sizes", f"{first} = {second}", both


def _places(dims: Mapping[str, str]) -> list[tuple[str, int, int]]:
    """Return by dimension: its name, the argument that has it, and the axis, from the end."""
    return [
        (name, index, axis - len(names))
        for index, names in enumerate(map(str.split, dims.values()))
        for axis, name in enumerate(names)
        if name.isidentifier()
    ]


def sizes_at(places: list[tuple[str, int, int]], values: list[Any]) -> dict[str, int]:
    """Return the sizes of the dimensions that are at these places among the values, by name."""
    return {
        name: values[index].shape[axis]
        for name, index, axis in places
        if index < len(values) and isinstance(values[index], Tensor)
        if values[index].dim() >= -axis
    }


def _annotation(source: str, name: str) -> str:
    """Return a function's return annotation; "" for a class."""
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    return next((ast.unparse(f.returns) for f in functions if f.name == name and f.returns), "")


def _floats(values: Iterable[Any]) -> list[Tensor]:
    return [v for v in values if isinstance(v, Tensor) and v.is_floating_point()]
