"""Plot losses as curves, and the errors of many runs, together with baselines."""

from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.utils.palette import BLUE, GRAY, ORANGE
from autograder.utils.plots.look import label_plainly, panels_of
from autograder.utils.plots.numbers import as_array, short
from autograder.utils.plots.picture import Picture, render

WORDS_UP_TO = 11  # letters in a line below a column
LOWEST = 1e-5  # smaller losses, even 0, are drawn here


def plot_losses(
    runs: Mapping[str, Any],
    *,
    baselines: Mapping[str, float] | None = None,
    every: int = 1,
    caption: str,
) -> Picture:
    """Draw losses against epochs, one panel per run, all on one logarithmic scale.

    runs: title → (train, test), or anything with these two attributes, each [n_epochs].
    baselines: name → loss, drawn as dashed lines.
    every: epochs from one loss to the next.
    Raises ValueError if there is no run, or its two losses differ in length.
    """
    curves = {title: _curves(run, title) for title, run in runs.items()}
    if not curves:
        raise ValueError("runs is empty: give at least one, such as {'plain': history}")
    alt = _losses_summary(curves, baselines or {}, every)
    return render(partial(draw_losses, curves, baselines or {}, every), caption, alt)


def plot_errors(
    errors: Mapping[str, Sequence[float]],
    *,
    baselines: Mapping[str, float] | None = None,
    caption: str,
    alt: str | None = None,
) -> Picture:
    """Draw the errors of several runs of each kind as points, on a logarithmic scale.

    errors: name → one number for each run.
    baselines: name → error, drawn as dashed lines.
    Raises ValueError if there is nothing to draw, or an error is not a positive number.
    """
    points = {name: _positive(values, f"errors[{name!r}]") for name, values in errors.items()}
    if not points:
        raise ValueError("errors is empty: give at least one series, such as {'plain': [...]}")
    alt = _errors_summary(points, baselines or {}) if alt is None else alt
    return render(partial(draw_errors, points, baselines or {}), caption, alt)


def draw_losses(
    curves: dict[str, np.ndarray], baselines: Mapping[str, float], every: int = 1
) -> Figure:
    """Draw one panel per run; curves are [2, n_epochs], train and test."""
    size = (5.2 if len(curves) == 1 else 3.6 * len(curves), 3.2)
    figure = Figure(figsize=size, layout="constrained")
    panels = panels_of(figure, len(curves), sharex=True, sharey=True)
    for ax, (title, (train, test)) in zip(panels, curves.items(), strict=True):
        epochs = np.arange(1, len(train) + 1) * every
        ax.plot(epochs, _drawable(test), color=ORANGE, lw=1.6, label="test")
        # On top of the test line, and thin, so that both show where they coincide.
        ax.plot(epochs, _drawable(train), color=BLUE, lw=1.1, label="training")
        ax.set_title(title)
        _draw_baselines(ax, baselines, named=ax is panels[-1])
    for ax in panels:
        _scale(ax, "epoch")
    panels[0].legend(fontsize=8)
    return figure


def draw_errors(points: dict[str, np.ndarray], baselines: Mapping[str, float]) -> Figure:
    """Draw one column of points per kind."""
    figure = Figure(figsize=(1.8 + 0.8 * len(points), 3.2), layout="constrained")
    ax = figure.subplots()
    for column, values in enumerate(points.values()):
        aside = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else [0]
        ax.plot(column + np.asarray(aside), values, "o", color=BLUE, mec="white", ms=7)
    ax.set_xticks(range(len(points)), [fill(name, WORDS_UP_TO) for name in points])
    ax.set_xlim(-0.5, len(points) - 0.5)
    _draw_baselines(ax, baselines)
    _scale(ax, "")
    return figure


def _scale(ax: Axes, x_name: str) -> None:
    ax.set_yscale("log")
    ax.set(xlabel=x_name, ylabel="mean squared error")
    label_plainly(ax.yaxis, *ax.get_ylim())


def _draw_baselines(ax: Axes, baselines: Mapping[str, float], named: bool = True) -> None:
    """Draw dashed lines, with their names next to the axes, where no curve crosses them."""
    for name, value in baselines.items():
        ax.axhline(value, color=GRAY, ls="--", lw=0.9, zorder=1)
        if named:
            text, beside = f"{name}\n{short(value)}", ax.get_yaxis_transform()
            place = (1.01, value)
            ax.annotate(
                text, place, xycoords=beside, ha="left", va="center", fontsize=8, color=GRAY
            )


def _drawable(losses: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(losses), np.maximum(losses, LOWEST), np.nan)


def _curves(run: Any, title: str) -> np.ndarray:
    train, test = (run.train, run.test) if hasattr(run, "train") else run
    train, test = as_array(train, f"{title}, train"), as_array(test, f"{title}, test")
    if train.ndim != 1 or train.shape != test.shape or not train.size:
        raise ValueError(
            f"{title}: losses of shapes {list(train.shape)} for training and {list(test.shape)} "
            "for test; give one number for each epoch in both"
        )
    return np.stack([train, test])


def _positive(values: Any, name: str) -> np.ndarray:
    array = as_array(values, name)
    if array.ndim != 1 or not array.size or not (array > 0).all() or not np.isfinite(array).all():
        raise ValueError(f"{name} should be positive numbers, one for each run; it is {values}")
    return array


def _losses_summary(
    curves: dict[str, np.ndarray], baselines: Mapping[str, float], every: int
) -> str:
    said = [
        f"{title}: training from {short(train[0])} to {short(train[-1])}, "
        f"test from {short(test[0])} to {short(test[-1])}"
        for title, (train, test) in curves.items()
    ]
    epochs = len(next(iter(curves.values()))[0]) * every
    return f"Losses over {epochs} epochs. {'; '.join(said)}. {_lines(baselines)}".strip()


def _errors_summary(points: dict[str, np.ndarray], baselines: Mapping[str, float]) -> str:
    said = [f"{name}: {', '.join(map(short, values))}" for name, values in points.items()]
    return f"Errors run by run. {'; '.join(said)}. {_lines(baselines)}".strip()


def _lines(baselines: Mapping[str, float]) -> str:
    said = ", ".join(f"{name} at {short(value)}" for name, value in baselines.items())
    return f"Dashed: {said}." if said else ""
