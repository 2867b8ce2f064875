"""Draw words in the plane of their first two features, and the context vector among them."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from autograder.utils.palette import BLUE, FRAME, GRAY, ORANGE
from autograder.utils.plots.look import WEIGHTS
from autograder.utils.plots.numbers import as_array, as_labels, check_finite, short
from autograder.utils.plots.picture import Picture, render

# Possible places for a label, the best first: distance in points, direction, alignment.
DISTANCES = (10, 17, 27, 40)
DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
ALIGN_X = {1: "left", 0: "center", -1: "right"}
ALIGN_Y = {1: "bottom", 0: "center", -1: "top"}

Point = tuple[float, float] | np.ndarray


def plot_words(
    words: Any,
    labels: Sequence[str],
    *,
    weights: Any = None,
    context: Any = None,
    caption: str,
) -> Picture:
    """Draw `words`, [n_words, d], as arrows in the plane of their first two features.

    `weights`, [n_words], make a word's point larger and darker; `context`, [d], is a star. The
    area between the outermost words is gray: a weighted sum with nonnegative weights that sum to 1
    lies in it.
    Raises ValueError if a shape does not fit (d must be 2 or more) or a number is not finite.
    """
    labels = as_labels(labels, "labels")
    words, weights, context = _read(words, labels, weights, context)
    alt = _summary(words, labels, weights, context)
    return render(partial(draw_words, words, labels, weights, context), caption, alt)


def _read(
    words: Any, labels: list[str], weights: Any, context: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Check the arrays: return the first two features of words and context, and all weights."""
    words = as_array(words, "words")
    if words.ndim != 2 or words.shape[1] < 2 or not len(words):
        raise ValueError(
            f"words has the shape {list(words.shape)}: give [n_words, d] with d of 2 or more"
        )
    n_words, d = words.shape
    if len(labels) != n_words:
        raise ValueError(f"labels has {len(labels)} label(s) for {n_words} words; give one each")
    weights = _vector(weights, "weights", n_words, "n_words")
    context = _vector(context, "context", d, "d")
    check_finite(words, "words")
    return words[:, :2], weights, context if context is None else context[:2]


def _vector(values: Any, name: str, size: int, size_name: str) -> np.ndarray | None:
    if values is None:
        return None
    vector = as_array(values, name)
    if vector.shape != (size,):
        raise ValueError(f"{name} has the shape {list(vector.shape)}: give [{size_name}], [{size}]")
    check_finite(vector, name)
    return vector


def draw_words(
    words: np.ndarray,
    labels: list[str],
    weights: np.ndarray | None = None,
    context: np.ndarray | None = None,
) -> Figure:
    """Draw arrows, points, hull and star; words are [n_words, 2]."""
    figure = Figure(figsize=(5.4, 4.4))
    ax = figure.subplots()
    points = words if context is None else np.vstack([words, context])
    _frame(ax, points)
    ax.fill(*hull(words).T, color=FRAME, alpha=0.5, lw=0, zorder=0)
    for x, y in words:
        ax.annotate(
            "", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": GRAY, "alpha": 0.7}
        )
    _draw_points(figure, ax, words, weights)
    if context is not None:
        ax.plot(*context, marker="*", ms=17, color=ORANGE, mec="white", ls="none", zorder=4)
        labels = [*labels, "context"]
    _place_labels(ax, points, labels)
    return figure


def _frame(ax: Axes, points: np.ndarray) -> None:
    """Frame all points and the origin in a square, so that both features have one scale."""
    held = np.vstack([points, [0, 0]])
    low, high = held.min(axis=0), held.max(axis=0)
    half = 0.6 * max((high - low).max(), 1e-9)
    x, y = (low + high) / 2
    ax.set(xlim=(x - half, x + half), ylim=(y - half, y + half), aspect="equal")
    ax.set(xlabel="feature 0", ylabel="feature 1")
    ax.axhline(0, color=FRAME, lw=0.8, zorder=0)
    ax.axvline(0, color=FRAME, lw=0.8, zorder=0)


def _draw_points(figure: Figure, ax: Axes, words: np.ndarray, weights: np.ndarray | None) -> None:
    x, y = words.T
    if weights is None:
        ax.scatter(x, y, s=40, color=BLUE, zorder=3)
        return
    largest = max(weights.max(), 1e-12)
    sizes = 20 + 180 * np.clip(weights / largest, 0, None)
    scale = Normalize(min(0, weights.min()), largest)
    points = ax.scatter(
        x, y, sizes, weights, cmap=WEIGHTS, norm=scale, edgecolors="black", linewidths=0.6, zorder=3
    )
    figure.colorbar(points, label="attention weight").outline.set_visible(False)


def _place_labels(ax: Axes, points: np.ndarray, labels: list[str]) -> None:
    """Put each label next to its point, in the first free place."""
    ax.apply_aspect()  # places are compared in pixels, so the axes must have their final size
    taken = [Bbox.from_bounds(x - 10, y - 10, 20, 20) for x, y in ax.transData.transform(points)]
    for point, label in zip(points, labels, strict=True):
        text = ax.annotate(label, point, xytext=(0, 0), textcoords="offset points", zorder=5)
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])
        taken.append(_place_label(text, taken, ax.get_window_extent()))


def _place_label(text: Annotation, taken: list[Bbox], inside: Bbox) -> Bbox:
    for distance, (x, y) in product(DISTANCES, DIRECTIONS):
        text.set(position=(distance * x, distance * y), ha=ALIGN_X[x], va=ALIGN_Y[y])
        box = text.get_window_extent()
        within = inside.contains(*box.min) and inside.contains(*box.max)
        if within and not box.count_overlaps(taken):
            break
    return box


def hull(points: np.ndarray) -> np.ndarray:
    """Find the corners of the convex hull of `points`, [n, 2] → [n_corners, 2].

    This is Andrew's monotone chain (1979): left to right along the bottom, and back along the top.
    """
    ordered = sorted(set(map(tuple, points)))
    corners = _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]
    return np.array(corners or ordered)


def _chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the points on a path that only turns left."""
    chain: list[tuple[float, float]] = []
    for point in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(a: Point, b: Point, c: Point) -> float:
    """Return a number that is positive if the path from a via b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _summary(
    words: np.ndarray,
    labels: list[str],
    weights: np.ndarray | None,
    context: np.ndarray | None,
) -> str:
    shares = [""] * len(labels) if weights is None else [f", weight {short(w)}" for w in weights]
    places = [
        f"{label} at ({short(x)}, {short(y)}){share}"
        for label, (x, y), share in zip(labels, words, shares, strict=True)
    ]
    text = f"Words as arrows in the plane of their first two features: {'; '.join(places)}."
    return text if context is None else f"{text} {_where(words, context)}"


def _where(words: np.ndarray, context: np.ndarray) -> str:
    place = f"The context vector is at ({short(context[0])}, {short(context[1])})"
    corners = hull(words)
    if len(corners) < 3:
        return f"{place}."
    edges = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    inside = all(_turn(a, b, context) >= -1e-6 for a, b in edges)
    return f"{place}, {'inside' if inside else 'outside'} the area between the words."
