"""Bars over words: one series per panel, for comparing numbers word by word."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.utils.palette import BLUE, ORANGE, RED
from autograder.utils.plots.look import label_columns, panels_of
from autograder.utils.plots.numbers import as_array, as_labels, short
from autograder.utils.plots.picture import Picture, render

BAR = 0.48  # inches between bar centers


def plot_bars(
    panels: Mapping[str, Any],
    labels: Sequence[str],
    *,
    caption: str,
    share_y: bool = False,
) -> Picture:
    """Draw each series of `panels`, title → [n_words], as bars over the same words.

    Each panel has its own y axis unless `share_y`. Negative bars have a different color; NaN and
    inf are printed in red in place of a bar.
    Raises ValueError if there is no panel, or a series does not have one number for each label.
    """
    labels = as_labels(labels, "labels")
    series = _series(panels, labels)
    alt = _summary(series, labels)
    return render(partial(draw_bars, series, labels, share_y), caption, alt)


def draw_bars(series: dict[str, np.ndarray], labels: list[str], share_y: bool = False) -> Figure:
    """Draw one panel per series."""
    size = len(series) * (BAR * len(labels) + 0.7), 2.6
    figure = Figure(figsize=size, layout="constrained")
    panels = panels_of(figure, len(series), sharey=share_y)
    for ax, (title, values) in zip(panels, series.items(), strict=True):
        ax.set_title(title)
        _draw_panel(ax, values, labels)
    return figure


def _draw_panel(ax: Axes, values: np.ndarray, labels: list[str]) -> None:
    heights = np.where(np.isfinite(values), values, 0)
    ax.bar(range(len(values)), heights, 0.7, color=np.where(heights < 0, ORANGE, BLUE))
    for x, (value, height) in enumerate(zip(values, heights, strict=True)):
        below = height < 0
        ax.annotate(
            short(value),
            (x, height),
            (0, -2 if below else 2),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            fontsize=8,
            color="black" if np.isfinite(value) else RED,
        )
    ax.axhline(0, color="black", lw=0.8, clip_on=False)
    ax.spines["bottom"].set_visible(False)
    ax.margins(y=0.15)  # room for the printed values
    label_columns(ax, labels, BAR)
    ax.tick_params(axis="x", length=0)


def _series(panels: Mapping[str, Any], labels: list[str]) -> dict[str, np.ndarray]:
    if not panels or not labels:
        raise ValueError("nothing to draw: give at least one panel and one label")
    series = {title: as_array(values, f"panels[{title!r}]") for title, values in panels.items()}
    for title, values in series.items():
        if values.shape != (len(labels),):
            raise ValueError(
                f"panels[{title!r}] has the shape {list(values.shape)} for {len(labels)} label(s): "
                f"give one number for each label, [{len(labels)}]"
            )
    return series


def _summary(series: dict[str, np.ndarray], labels: list[str]) -> str:
    parts = []
    for title, values in series.items():
        pairs = zip(labels, values, strict=True)
        parts.append(f"{title}: {', '.join(f'{label} {short(value)}' for label, value in pairs)}")
    return f"Bar chart. {'. '.join(parts)}."
