"""A case in words: how large it is, and what it passes."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.judging.code_marks import count
from autograder.judging.tensor_table import format_value
from autograder.judging.verdict import Exhibit

# What there are several of, by dimension: the noun, and what follows it.
NOUNS = {
    "m": ("row", ""),
    "n": ("word", ""),
    "n_query": ("query", ""),
    "n_key": ("key", ""),
    "n_heads": ("head", ""),
    "n_kv_heads": ("key head", ""),
    "n_tokens": ("token", " in the vocabulary"),
    "n_layers": ("layer", ""),
    "n_sentences": ("sentence", ""),
    "n_source": ("source point", ""),
    "n_target": ("target point", ""),
    "d": ("feature", ""),
    "d_in": ("feature", ""),
    "d_model": ("feature", ""),
    "d_input": ("input feature", ""),
    "d_k": ("feature", " in a key"),
    "d_v": ("feature", " in a value"),
    "d_head": ("feature", " in a head"),
    "d_feedforward": ("hidden unit", ""),
}
OF_TOKENS = {"n": ("token", "")}  # where there is a vocabulary


def case_in_words(exhibit: Exhibit) -> str:
    """Say which case went wrong; "" if there is nothing to say."""
    if exhibit.example:
        return f"Tried with the example above{':' if exhibit.inputs else '.'}"
    how = "Tried with a case that only grading uses" if exhibit.hidden else "Tried"
    sizes = size_in_words(_sizes(exhibit)) or _shapes(exhibit.shapes)
    sizes = ", ".join(filter(None, [sizes, *_plain(exhibit)]))
    label = _without(exhibit.label, sizes)
    if not sizes and not label:
        return f"{how}." if exhibit.hidden else ""
    link = ": " if exhibit.hidden else " with "
    beside = f" ({label})" if label else ""
    return f"{how}{link}{sizes}{beside}." if sizes else f"{how}{link}{label}."


def size_in_words(sizes: Mapping[str, int]) -> str:
    """ "7 words, 5 features"; a dimension that has no words is "n_half = 2".

    A dimension without a name, such as the 2 in "n 2", is always the same, and left out.
    """
    nouns = NOUNS | OF_TOKENS if "n_tokens" in sizes else NOUNS
    order = [*nouns]
    named = (name for name in sizes if name.isidentifier())
    names = sorted(named, key=lambda name: order.index(name) if name in order else -1)
    return ", ".join(_size(name, sizes[name], nouns) for name in names)


def names_by_size(sizes: Mapping[str, int]) -> dict[str, str]:
    """Return dimensions by size, leaving out 1 and sizes that several dimensions share."""
    values = list(sizes.values())
    return {str(size): name for name, size in sizes.items() if size > 1 and values.count(size) == 1}


def inputs_as_code(inputs: Mapping[str, Any]) -> str:
    """Write a call's inputs down, one below the other: "query = [1, 2]"."""
    return "\n".join(_assignment(name, value) for name, value in inputs.items())


def _size(name: str, size: int, nouns: Mapping[str, tuple[str, str]]) -> str:
    if name == "batch":
        return f"a batch of {size}"
    if name not in nouns:
        return f"{name} = {size}"
    noun, after = nouns[name]
    return count(size, noun) + after


def _sizes(exhibit: Exhibit) -> dict[str, int]:
    """Return the sizes, those among the inputs included."""
    given = {n: v for n, v in exhibit.inputs.items() if n in NOUNS and isinstance(v, int)}
    return given | exhibit.sizes


def _plain(exhibit: Exhibit) -> list[str]:
    """Write down the numbers among the inputs, such as "dim = 0", unless they are sizes, too."""
    return [
        f"{name} = {value}"
        for name, value in exhibit.inputs.items()
        if isinstance(value, int | float) and name not in _sizes(exhibit)
    ]


def _without(label: str, said: str) -> str:
    """Leave out of a label what has been said, such as "2 heads"."""
    return ", ".join(part for part in label.split(", ") if part not in said.split(", "))


def _shapes(shapes: Mapping[str, list[int]]) -> str:
    return ", ".join(f"`{name}` of shape {tuple(shape)}" for name, shape in shapes.items())


def _assignment(name: str, value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"{name} = {value}"
    start = f"{name} = "
    return start + _nested(value, decimals=_decimals(value), indent=" " * len(start))


def _nested(values: Tensor, decimals: int, indent: str) -> str:
    """Write a tensor as nested lists, each row on a line of its own."""
    if not values.dim():
        if values.dtype is torch.bool:
            return str(values.item())
        return format_value(values, decimals) if decimals else f"{values.item():g}"
    inner = [_nested(value, decimals, indent + " ") for value in values]
    between = ", " if values.dim() == 1 else f",\n{indent} "
    return f"[{between.join(inner)}]"


def _decimals(values: Tensor) -> int:
    fractions = values[values.isfinite()] % 1 if values.is_floating_point() else values[:0]
    return 3 if fractions.any() else 0
