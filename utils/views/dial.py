"""A view of rotary positions: a pair of features of a query and a key turns with its place."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from autograder.utils.palette import BLUE, FRAME, ORANGE
from autograder.utils.plots.look import panels_of
from autograder.utils.plots.numbers import short
from autograder.utils.plots.picture import Picture, render
from autograder.utils.views.live import View

PLACES, DISTANCE = (0, 1, 2, 3), 1

FeaturePair = tuple[float, float]


def view_dial(query: FeaturePair, key: FeaturePair, *, caption: str) -> View:
    """Show one pair of features of a query and a key, turned by one radian per place.

    query and key: two features each, before they are turned.
    """
    still = plot_dials(query, key, caption=caption)
    return View(still, "dial", {"query": list(query), "key": list(key)})


def plot_dials(query: FeaturePair, key: FeaturePair, *, caption: str) -> Picture:
    """Draw the query at four places, and the key one place after it, each turned by its place.

    query and key: two features each, before they are turned. Raises ValueError if they aren't two.
    """
    for name, pair in {"query": query, "key": key}.items():
        if len(pair) != 2:
            raise ValueError(f"{name} has {len(pair)} features: give two")
    turned = [(_turned(query, place), _turned(key, place + DISTANCE)) for place in PLACES]
    return render(partial(draw_dials, turned), caption, _summary(turned))


def draw_dials(turned: Sequence[tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Draw a dial for each place, with the query and the key as turned there."""
    figure = Figure(figsize=(2.2 * len(turned), 2.5), layout="constrained")
    panels = panels_of(figure, len(turned))
    for ax, place, (query, key) in zip(panels, PLACES, turned, strict=True):
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"query at {place}, key at {place + DISTANCE}", fontsize=9)
        ax.set_frame_on(False)
        ax.add_patch(Circle((0, 0), 1, fill=False, color=FRAME))
        _arrow(ax, query, "query", BLUE)
        _arrow(ax, key, "key", ORANGE)
    return figure


def _arrow(ax: Axes, tip: np.ndarray, name: str, color: str) -> None:
    arrow = {"color": color, "lw": 2, "arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tuple(tip), (0, 0), arrowprops=arrow)
    ax.annotate(name, tuple(tip * 1.25), ha="center", va="center", fontsize=8)


def _turned(pair: FeaturePair, angle: float) -> np.ndarray:
    (a, b), cos, sin = pair, np.cos(angle), np.sin(angle)
    return np.array([a * cos - b * sin, a * sin + b * cos])


def _summary(turned: Sequence[tuple[np.ndarray, np.ndarray]]) -> str:
    products = [
        f"query at {place}, key at {place + DISTANCE}: {short(float(query @ key))}"
        for place, (query, key) in zip(PLACES, turned, strict=True)
    ]
    return f"Two arrows turn together. Their dot products: {'; '.join(products)}."
