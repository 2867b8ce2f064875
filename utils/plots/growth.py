"""Show how a cost grows with size: a line on log-log axes, and its slope."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle
from math import ceil

import numpy as np
from matplotlib.figure import Figure

from autograder.utils.palette import GRID
from autograder.utils.plots.look import LINE_LOOKS, label_measured, label_plainly
from autograder.utils.plots.numbers import as_array
from autograder.utils.plots.picture import Picture, render


def plot_growth(
    sizes: Sequence[float],
    seconds: Mapping[str, Sequence[float]],
    *,
    caption: str,
    x_name: str = "n_words",
    y_name: str = "seconds",
) -> Picture:
    """Draw each series of `seconds`, name → [n_sizes], against `sizes` on log-log axes.

    The legend gives each line's `growth_slope`. Raises ValueError as `growth_slope` does.
    """
    if not seconds:
        raise ValueError("seconds is empty: give at least one series, such as {'loop': [...]}")
    series = {name: _points(sizes, y, f"seconds[{name!r}]") for name, y in seconds.items()}
    alt = _summary(series, x_name, y_name)
    return render(partial(draw_growth, series, x_name, y_name), caption, alt)


def growth_slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Compute the slope of log `seconds` against log `sizes`: 2.0 if twice the size costs 4 times.

    This is a least-squares fit to the larger half of the sizes, at least three points if there are
    three: small sizes measure fixed costs rather than growth.
    Raises ValueError if lengths differ, a number is not positive, or sizes are not all different.
    """
    return _slope(_points(sizes, seconds, "seconds"))


def _slope(points: np.ndarray) -> float:
    last = max(3, ceil(points.shape[1] / 2))
    sizes, seconds = np.log(points[:, -last:])
    return float(np.polyfit(sizes, seconds, 1)[0])


def _points(sizes: Sequence[float], seconds: Sequence[float], name: str) -> np.ndarray:
    """Check both series and sort them by size: [2, n_sizes]."""
    x, y = as_array(sizes, "sizes"), as_array(seconds, name)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(
            f"sizes has the shape {list(x.shape)}, {name} {list(y.shape)}: give one number of each"
        )
    if len(np.unique(x)) < max(2, len(x)):
        raise ValueError(f"sizes is {x.tolist()}: give at least two, all different")
    _check_positive(x, "sizes")
    _check_positive(y, name)
    return np.stack([x, y])[:, np.argsort(x)]


def _check_positive(values: np.ndarray, name: str) -> None:
    bad = values[~((values > 0) & np.isfinite(values))]
    if bad.size:
        raise ValueError(
            f"{name} holds {bad[0]:g}, which has no place on a logarithmic axis: give finite "
            f"numbers above 0 (too quick to measure? repeat it and divide)"
        )


def draw_growth(series: dict[str, np.ndarray], x_name: str, y_name: str) -> Figure:
    """Draw one line per series, name → [2, n_sizes], with its slope in the legend."""
    figure = Figure(figsize=(5.2, 3.4), layout="constrained")
    ax = figure.subplots()
    ax.set(xscale="log", yscale="log", xlabel=x_name, ylabel=y_name)
    for (name, points), (color, marker) in zip(series.items(), cycle(LINE_LOOKS), strict=False):
        label = f"{name} (slope {_slope(points):z.1f})"
        ax.plot(*points, color=color, marker=marker, ms=5, label=label)
    label_measured(ax.xaxis, points[0])
    label_plainly(ax.yaxis, *ax.get_ylim())
    ax.grid(color=GRID, lw=0.6)
    ax.legend()
    return figure


def _summary(series: dict[str, np.ndarray], x_name: str, y_name: str) -> str:
    slopes = [f"{name} has slope {_slope(points):z.1f}" for name, points in series.items()]
    x = next(iter(series.values()))[0]
    span = f"{x[0]:g} to {x[-1]:g}"
    return f"Lines of {y_name} against {x_name}, {span}, on logarithmic axes: {', '.join(slopes)}."
