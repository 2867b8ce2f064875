"""Lines over a shared x axis: to compare measurements with one another, or with a rule.

`growth` is for costs, whose slope matters; this is for everything else.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.utils.palette import GRID
from autograder.utils.plots.look import LINE_LOOKS, label_measured, label_plainly
from autograder.utils.plots.numbers import as_array, check_finite, listed, short
from autograder.utils.plots.picture import Picture, render

MARKERS_UP_TO = 30  # points per line; more would hide it
BAND = 0.2  # how opaque
MOST_INSIDE = 3  # lines whose legend finds room among them


def plot_lines(
    x: Any,
    lines: Mapping[str, Any],
    *,
    x_name: str,
    y_name: str,
    caption: str,
    log_x: bool = False,
    log_y: bool = False,
    dashed: Collection[str] = (),
) -> Picture:
    """Draw each of `lines`, name → [n] or [n_runs, n], against `x`, [n].

    Several runs are drawn as their mean, with a band from the lowest to the highest.
    dashed: names of lines that are a rule, not a measurement; they have no markers.
    NaN and inf leave a gap, and the alt text mentions them.
    Raises ValueError if there is no line, a length does not fit, a name in `dashed` is not a line,
    x is not finite, or a logarithmic axis gets a number that is not positive.
    """
    x = _x_values(x, log_x)
    series = {name: _y_values(y, f"lines[{name!r}]", x, log_y) for name, y in lines.items()}
    _check_names(series, dashed)
    drawing = Lines(x, series, x_name, y_name, log_x, log_y, dashed)
    return render(drawing.draw, caption, drawing.alt)


@dataclass(frozen=True)
class Lines:
    """What is drawn: each of `series`, name → [n_runs, n], against `x`."""

    x: np.ndarray
    series: dict[str, np.ndarray]
    x_name: str
    y_name: str
    log_x: bool
    log_y: bool
    dashed: Collection[str]

    def draw(self) -> Figure:
        """Draw one panel, with a legend if there is more than one line: above it if many."""
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        ax = figure.subplots()
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        looks = cycle(LINE_LOOKS)
        for name, y in self.series.items():
            dashed = name in self.dashed
            look = _dashed_look() if dashed else _line_look(*next(looks), len(self.x))
            runs = np.where(np.isfinite(y), y, np.nan)
            ax.plot(self.x, runs.mean(0), label=name, **look)
            if len(runs) > 1:
                low, high = runs.min(0), runs.max(0)
                ax.fill_between(self.x, low, high, color=look["color"], alpha=BAND, lw=0)
        self._scale(ax)
        ax.grid(color=GRID, lw=0.6)
        if len(self.series) > MOST_INSIDE:
            figure.legend(loc="outside upper center", ncols=MOST_INSIDE)
        elif len(self.series) > 1:
            ax.legend()
        return figure

    def _scale(self, ax: Axes) -> None:
        if self.log_x:
            ax.set_xscale("log")
            label_measured(ax.xaxis, self.x)
        if self.log_y:
            ax.set_yscale("log")
            label_plainly(ax.yaxis, *ax.get_ylim())

    @property
    def alt(self) -> str:
        means = {name: y.mean(0) for name, y in self.series.items()}
        said = "; ".join(_course(self.x, name, y) for name, y in means.items())
        span = f"{short(self.x[0])} to {short(self.x[-1])}"
        text = f"Lines of {self.y_name} against {self.x_name}, {span}. {said}."
        return " ".join([text, *_gaps(self.x, means)])


def _line_look(color: str, marker: str, n_points: int) -> dict[str, Any]:
    return {"color": color, "marker": marker if n_points <= MARKERS_UP_TO else "", "ms": 5}


def _dashed_look() -> dict[str, Any]:
    # On top, so that it stays visible when a measurement follows it.
    return {"color": "black", "ls": "--", "lw": 1, "zorder": 2.5}


def _x_values(x: Any, log: bool) -> np.ndarray:
    values = as_array(x, "x")
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(
            f"x has the shape {list(values.shape)}: give two numbers or more, in a row"
        )
    check_finite(values, "x")
    _check_positive(values, "x", log)
    return values


def _y_values(y: Any, name: str, x: np.ndarray, log: bool) -> np.ndarray:
    values = as_array(y, name)
    if values.ndim not in (1, 2) or values.shape[-1:] != x.shape or not len(values):
        raise ValueError(
            f"{name} has the shape {list(values.shape)} for {len(x)} places on the x axis: give "
            f"one number for each, [{len(x)}], or several runs of them, [n_runs, {len(x)}]"
        )
    _check_positive(values, name, log)
    return values.reshape(-1, len(x))


def _check_positive(values: np.ndarray, name: str, log: bool) -> None:
    bad = values[values <= 0]
    if log and bad.size:
        raise ValueError(f"{name} holds {bad[0]:g}, which has no place on a logarithmic axis")


def _check_names(series: dict[str, np.ndarray], dashed: Collection[str]) -> None:
    if not series:
        raise ValueError("lines is empty: give at least one, such as {'loss': [...]}")
    strange = [name for name in dashed if name not in series]
    if isinstance(dashed, str) or strange:
        raise ValueError(f"dashed is {dashed!r}: give a list of names of lines, {list(series)}")


def _course(x: np.ndarray, name: str, y: np.ndarray) -> str:
    """Say where a line starts and ends, and its extremes if they lie in between."""
    finite = np.isfinite(y)
    if not finite.any():
        return f"{name}: no finite value"
    x, y = x[finite], y[finite]
    words = f"{name}: from {short(y[0])} to {short(y[-1])}"
    for kind, place in (("least", y.argmin()), ("greatest", y.argmax())):
        if short(y[place]) not in (short(y[0]), short(y[-1])):
            words += f", {kind} {short(y[place])} at {short(x[place])}"
    return words


def _gaps(x: np.ndarray, series: dict[str, np.ndarray]) -> list[str]:
    found = []
    for name, y in series.items():
        places = [short(place) for place in x[~np.isfinite(y)]]
        if places:
            found.append(f"{name} is not finite at {listed(places)}.")
    return found
