"""Maps of queries by keys: attention weights, attention scores, masks.

A wrong map is still drawn, and its errors are marked.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.utils.palette import GRAY, RED
from autograder.utils.plots.alt_text import attention_summary, matrix_summary, remarks
from autograder.utils.plots.heatmap import Maps, Note, draw_maps
from autograder.utils.plots.look import MASK, WEIGHTS
from autograder.utils.plots.numbers import as_array, as_labels, is_boolean, short
from autograder.utils.plots.picture import Picture, render

ROW_SUM_TOLERANCE = 1e-3
PLURAL = {"query": "queries", "key": "keys", "row": "rows", "column": "columns"}

Labels = Sequence[str] | None
Range = tuple[float, float] | None


def plot_attention(
    attn_weights: Any,
    key_labels: Labels = None,
    query_labels: Labels = None,
    *,
    caption: str,
    titles: Labels = None,
    value_range: Range = None,
) -> Picture:
    """Draw attention weights, [n_query, n_key] or [n_heads, n_query, n_key].

    All heads share one color scale, from 0 to the largest weight; `value_range=(0, 1)` makes maps
    in different figures comparable. NaN and inf are hatched, a row that does not sum to 1 gets a
    red note, and a row of zeros (a query that may attend to nothing) a gray one; the alt text says
    so too.
    Raises ValueError if the shape, the labels or the titles do not fit.
    """
    maps = attention_maps(attn_weights, key_labels, query_labels, titles, value_range)
    return maps_picture(maps, caption, attention_summary(maps))


def plot_matrix(
    values: Any,
    column_labels: Labels = None,
    row_labels: Labels = None,
    *,
    caption: str,
    alt: str | None = None,
    titles: Labels = None,
    value_range: Range = None,
    column_name: str = "key",
    row_name: str = "query",
    value_name: str = "",
) -> Picture:
    """Draw any matrix, [n_rows, n_columns], or several of one shape, [n, n_rows, n_columns].

    Use it for attention scores and masks: rows need not sum to 1. All matrices share one color
    scale, from the smallest value to the largest, with `value_name` beside it. Booleans are drawn
    as a mask, with ✓ and ×. NaN and inf are hatched, and the alt text mentions them, after `alt` if
    given.
    Raises ValueError if the shape, the labels or the titles do not fit.
    """
    names = {"column_name": column_name, "row_name": row_name, "value_name": value_name}
    maps = matrix_maps(values, column_labels, row_labels, titles, value_range, **names)
    return maps_picture(maps, caption, matrix_summary(maps) if alt is None else alt)


def maps_picture(maps: Maps, caption: str, alt: str) -> Picture:
    """Draw maps; the alt text also says what is marked in them."""
    return render(partial(draw_maps, maps), caption, " ".join([alt, *remarks(maps)]))


def attention_maps(
    attn_weights: Any,
    key_labels: Labels = None,
    query_labels: Labels = None,
    titles: Labels = None,
    value_range: Range = None,
) -> Maps:
    """Check attention weights, and add notes to the rows that need one."""
    stack, single = _stack(attn_weights, "attn_weights", ("query", "key"))
    sizes = dict(zip(("query", "key"), stack.shape[1:], strict=True))
    return Maps(
        values=stack,
        row_labels=_labels(query_labels, "query", sizes),
        column_labels=_labels(key_labels, "key", sizes),
        titles=_titles(titles, len(stack), "" if single else "head"),
        row_name="query",
        column_name="key",
        value_name="attention weight",
        value_range=value_range or _value_range(np.append(stack, 0)),
        colors=WEIGHTS,
        notes=[_row_notes(weights) for weights in stack],
    )


def matrix_maps(
    values: Any,
    column_labels: Labels = None,
    row_labels: Labels = None,
    titles: Labels = None,
    value_range: Range = None,
    column_name: str = "key",
    row_name: str = "query",
    value_name: str = "",
) -> Maps:
    """Check matrices, without adding notes."""
    stack, single = _stack(values, "values", ("row", "column"))
    is_mask = is_boolean(values)
    sizes = dict(zip(("row", "column"), stack.shape[1:], strict=True))
    pairs = (row_name, column_name) == ("query", "key")
    return Maps(
        values=stack,
        row_labels=_labels(row_labels, "row", sizes),
        column_labels=_labels(column_labels, "column", sizes),
        titles=_titles(titles, len(stack), "" if single else "matrix"),
        row_name=row_name,
        column_name=column_name,
        value_name=value_name or ("score" if pairs else "value"),
        value_range=value_range or ((0, 1) if is_mask else _value_range(stack)),
        colors=MASK if is_mask else WEIGHTS,
        notes=[{} for _ in stack],
    )


def _stack(values: Any, name: str, axes: tuple[str, str]) -> tuple[np.ndarray, bool]:
    """Return `values` as [n_maps, n_rows, n_columns], and whether it was a single map."""
    array = as_array(values, name)
    shape, wanted = list(array.shape), f"[n_{axes[0]}, n_{axes[1]}]"
    if array.ndim > 3:
        remedy = f"pick one sentence of the batch: {name}[0]"
    elif array.ndim < 2:
        remedy = f"a map is {wanted}; one row alone is {name}[None]"
    elif array.size == 0:
        remedy = f"it is empty; a map, {wanted}, needs at least one cell"
    else:
        return array.reshape(-1, *shape[-2:]), array.ndim == 2
    raise ValueError(f"{name} has {array.ndim} dimension(s), {shape}: {remedy}")


def _labels(labels: Labels, axis: str, sizes: dict[str, int]) -> list[str]:
    """Return the labels of one axis; numbers if there are none."""
    if labels is None:
        return [str(index) for index in range(sizes[axis])]
    name = f"{axis}_labels"
    labels = as_labels(labels, name)
    if len(labels) == sizes[axis]:
        return labels
    (other,) = sizes.keys() - {axis}
    remedy = f"give one label for each {axis}"
    if len(labels) == sizes[other]:
        remedy = f"there are {sizes[other]} {PLURAL[other]}: swapped {name} and {other}_labels?"
    raise ValueError(
        f"{name} has {len(labels)} label(s) for {sizes[axis]} {PLURAL[axis]}; {remedy}"
    )


def _titles(titles: Labels, n_maps: int, kind: str) -> list[str]:
    """Return one title for each map; "head 0" is attn_weights[0]."""
    if titles is None:
        return [f"{kind} {index}" if kind else "" for index in range(n_maps)]
    titles = as_labels(titles, "titles")
    if len(titles) != n_maps:
        raise ValueError(f"titles has {len(titles)} title(s) for {n_maps} map(s); give one each")
    return titles


def _value_range(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0, 1)
    # A color scale needs two different ends.
    return float(low), float(high if high > low else low + 1)


def _row_notes(weights: np.ndarray) -> dict[int, Note]:
    notes = {}
    for row, keys in enumerate(weights):
        if not keys.any():
            notes[row] = Note("nothing", GRAY, "are all zeros")
        elif np.isfinite(keys).all() and abs(keys.sum() - 1) > ROW_SUM_TOLERANCE:
            notes[row] = Note(f"Σ = {_sum(keys)}", RED, "do not sum to 1")
    return notes


def _sum(weights: np.ndarray) -> str:
    """Show three decimals, so that no wrong sum reads as 1.00."""
    total = weights.sum()
    return f"{total:.3f}" if abs(total) < 10 else short(total)
