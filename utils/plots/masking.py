"""Show what a mask does: scores, the mask, and weights without and with it, side by side.

Unlike those of `maps`, the panels show different kinds of numbers: scores have their own
color scale, and all weights share one. Every number is printed.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from autograder.utils.plots.heatmap import PRINTED_UP_TO, print_signs, print_values
from autograder.utils.plots.look import LETTER, MASK, WEIGHTS, frame_cells, label_columns, panels_of
from autograder.utils.plots.numbers import as_array, as_labels, short
from autograder.utils.plots.picture import Picture, render

CELL = 0.42  # inches


def plot_masking(
    attn_scores: Any,
    keep: Any,
    weights: Mapping[str, Any],
    labels: Sequence[str],
    *,
    caption: str,
) -> Picture:
    """Draw scores, mask and each of `weights`, title → [n_query, n_key], up to 8 by 8.

    Raises ValueError if a shape or the number of labels does not fit.
    """
    labels = as_labels(labels, "labels")
    form = len(labels), len(labels)
    panels = {"scores": attn_scores, "keep": keep, **weights}
    arrays = {title: _checked(values, title, form) for title, values in panels.items()}
    return render(partial(draw_masking, arrays, labels), caption, _summary(arrays, labels))


def _checked(values: Any, title: str, form: tuple[int, int]) -> np.ndarray:
    array = as_array(values, title)
    if array.shape != form:
        raise ValueError(
            f"{title} has the shape {list(array.shape)} for {form[0]} queries and {form[1]} keys: "
            f"give [n_query, n_key], {list(form)}"
        )
    if max(form) > PRINTED_UP_TO:
        raise ValueError(f"{form[0]} by {form[1]} is too large to be read: draw up to 8 by 8")
    return array


def draw_masking(panels: dict[str, np.ndarray], labels: list[str]) -> Figure:
    """Draw one panel for each of `panels`; the first is the scores, the second the mask."""
    scores, keep, *weights = panels.values()
    beside = 0.5 + LETTER * max(map(len, labels))
    size = len(panels) * (len(labels) * CELL + beside), len(labels) * CELL + 1.1
    figure = Figure(figsize=size, layout="compressed")
    axes = panels_of(figure, len(panels))
    for ax, title in zip(axes, panels, strict=True):
        _label_axes(ax, title, labels)
    _draw_values(axes[0], scores, Normalize(scores.min(), scores.max()))
    axes[1].imshow(keep, cmap=MASK, norm=Normalize(0, 1))
    print_signs(axes[1], keep)
    for ax, values in zip(axes[2:], weights, strict=True):
        _draw_values(ax, values, Normalize(0, 1))
    return figure


def _label_axes(ax: Axes, title: str, labels: list[str]) -> None:
    ax.set_title(title)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    frame_cells(ax, len(labels), len(labels))
    label_columns(ax, labels, CELL)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="key", ylabel="query")


def _draw_values(ax: Axes, values: np.ndarray, scale: Normalize) -> None:
    image = ax.imshow(values, cmap=WEIGHTS, norm=scale)
    print_values(ax, values, image.to_rgba(values))


def _summary(panels: dict[str, np.ndarray], labels: list[str]) -> str:
    """Give each panel of weights row by row, and how many keys the mask lets each query see."""
    _, keep, *_ = panels.values()
    seen = [f"{q} {int(row.sum())}" for q, row in zip(labels, keep, strict=True)]
    parts = [
        f"{len(panels)} panels, query by key: {', '.join(panels)}.",
        f"Keys that a query may see: {', '.join(seen)}.",
    ]
    for title, values in list(panels.items())[2:]:
        pairs = zip(labels, values, strict=True)
        rows = [f"{q} {' '.join(map(short, row))}" for q, row in pairs]
        parts.append(f"{title}: {'; '.join(rows)}.")
    return " ".join(parts)
