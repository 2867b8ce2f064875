"""Read the numbers and labels that a plot is given, and write numbers briefly."""

from collections.abc import Sequence
from typing import Any

import numpy as np

LISTED = 8  # names in an enumeration, before the others are only counted


def as_array(values: Any, name: str) -> np.ndarray:
    """Convert `values` (tensor, array, nested lists of either) to float64; `name` is for errors.

    Raises ValueError if it is None, ragged, or not made of numbers.
    """
    if values is None:
        raise ValueError(f"{name} is None: does the function that made it return its result?")
    try:
        return np.asarray(_detached(values), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers, in rows of equal length: {error}") from None


def softmax(scores: np.ndarray) -> np.ndarray:
    """Turn scores into weights that sum to 1 along the last dimension."""
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def is_boolean(values: Any) -> bool:
    """Whether all of `values` (tensor, array, nested lists of either) is True or False."""
    if isinstance(values, list | tuple):
        return bool(values) and all(map(is_boolean, values))
    return isinstance(values, bool) or str(getattr(values, "dtype", "")).endswith("bool")


def _detached(values: Any) -> Any:
    if hasattr(values, "detach"):
        # To the CPU first: some devices have no float64, and numpy has no bfloat16.
        return values.detach().cpu().double().numpy()
    if isinstance(values, list | tuple):
        return [_detached(value) for value in values]
    return values


def as_labels(labels: Sequence[str], name: str) -> list[str]:
    """Convert `labels` to a list of strings. Raises ValueError if it is one string."""
    if isinstance(labels, str):
        raise ValueError(f"{name} is one string, {labels!r}: split it, {labels!r}.split()")
    return [str(label) for label in labels]


def check_finite(values: np.ndarray, name: str) -> None:
    """Raise ValueError if `values` has a NaN or inf, which can't be drawn."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"{name}[{where}] is {values[tuple(bad[0])]}: it can't be drawn, find out where it "
            f"comes from"
        )


def listed(names: Sequence[str]) -> str:
    """Join names in one line, only the first few if there are many."""
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def short(value: float) -> str:
    """Format a number in about six characters at most: 0.24, 12.5, 4e-44, -1e9, NaN."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else str(value)
    size = abs(value)
    if size < 10_000 and value == int(value):
        return str(int(value))
    if size < 0.005:
        return _short_exponent(f"{value:.0e}")
    if size >= 9_999.5:
        return _short_exponent(f"{value:.1e}".replace(".0e", "e"))
    return f"{value:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}"


def _short_exponent(text: str) -> str:
    digits, exponent = text.split("e")
    return f"{digits}e{int(exponent)}"
