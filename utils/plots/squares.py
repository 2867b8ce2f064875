"""Pictures of squares: drawn, predicted, and where a model looks while completing them."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.utils.palette import BLUE, GRAY, GRID, ORANGE, WEIGHT_STOPS
from autograder.utils.plots.alt_text import attention_summary, remarks
from autograder.utils.plots.look import panels_of
from autograder.utils.plots.maps import attention_maps, maps_picture
from autograder.utils.plots.numbers import as_array, check_finite, short
from autograder.utils.plots.picture import Picture, render

SIDE = 2.3  # of a panel, in inches
REACH = 1.75  # of the axes; corners are near ±1

# Which corners ask, and which are asked, in each kind of attention of an encoder-decoder.
# When the decoder reads corner 2, corner 3 asks: the one to be written.
GIVEN, READ, WRITTEN = (1, 2), (2, 3), (3, 4)
ASKING = {
    "encoder self": (GIVEN, GIVEN),
    "decoder self": (WRITTEN, READ),
    "cross": (WRITTEN, GIVEN),
}
FAINTEST = 0.02  # smaller weights are not drawn
WIDEST = 5.0  # width of the line for a weight of 1
LOOK = WEIGHT_STOPS[3]


def plot_squares(points: Any, *, caption: str) -> Picture:
    """Draw each square of `points`, [n, n_corners, 2], as a path from corner to corner.

    The two given corners are filled; the others, which are to be predicted, are hollow.
    Raises ValueError if the shape does not fit or a number is not finite.
    """
    points = _corners(points, "points")
    return render(partial(draw_squares, points), caption, _squares_summary(points))


def plot_predictions(source: Any, target: Any, prediction: Any, *, caption: str) -> Picture:
    """Draw the predicted corners and the true ones, each path with arrows.

    source: [n, n_source, 2]; target and prediction: [n, n_target, 2].
    Raises ValueError if a shape does not fit or a number is not finite.
    """
    source, target = _corners(source, "source"), _corners(target, "target")
    prediction = _corners(prediction, "prediction")
    if target.shape != prediction.shape or len(source) != len(target):
        raise ValueError(
            f"source {list(source.shape)}, target {list(target.shape)} and prediction "
            f"{list(prediction.shape)}: target and prediction should have one shape, and source "
            "as many squares"
        )
    alt = _predictions_summary(target, prediction)
    return render(partial(draw_predictions, source, target, prediction), caption, alt)


def plot_square_attention(kind: str, square: Any, attn_weights: Any, *, caption: str) -> Picture:
    """Draw where each head looks as arrows between the corners, thicker for more weight.

    kind: "encoder self", "decoder self" or "cross"; it determines which corners ask which.
    square: [4, 2]; attn_weights: [n_heads, 2, 2], a row for each corner that asks.
    Weights that need a note, such as a row that doesn't sum to 1, are drawn as maps.
    Raises ValueError for another kind or shape, or if a corner is not finite.
    """
    if kind not in ASKING:
        raise ValueError(f"kind is {kind!r}: give one of {', '.join(map(repr, ASKING))}")
    corners = as_array(square, "square")
    if corners.shape != (4, 2):
        raise ValueError(f"square has the shape {list(corners.shape)}: give [4, 2]")
    check_finite(corners, "square")
    queries, keys = ([f"corner {number}" for number in numbers] for numbers in ASKING[kind])
    maps = attention_maps(attn_weights, keys, queries, value_range=(0, 1))
    if remarks(maps):
        return maps_picture(maps, caption, attention_summary(maps))
    alt = _looks_summary(kind, maps.values)
    return render(partial(draw_square_attention, kind, corners, maps.values), caption, alt)


def draw_squares(points: np.ndarray) -> Figure:
    """Draw one panel per square."""
    figure, panels = _panels(_titles("square", points))
    for ax, corners in zip(panels, points, strict=True):
        _draw_way(ax, corners, GRAY)
        for number, corner in enumerate(corners, 1):
            _mark(ax, corner, number, BLUE, full=number in GIVEN)
    return figure


def draw_predictions(source: np.ndarray, target: np.ndarray, prediction: np.ndarray) -> Figure:
    """Draw one panel per square: the true path in blue, the predicted one in orange."""
    figure, panels = _panels(_titles("square", source))
    for ax, given, true, predicted in zip(panels, source, target, prediction, strict=True):
        start = len(given) + 1
        _draw_way(ax, given, GRAY)
        _draw_way(ax, np.vstack([given[-1:], true]), BLUE)
        _draw_way(ax, np.vstack([given[-1:], predicted]), ORANGE, "--")
        for number, corner in enumerate(given, 1):
            _mark(ax, corner, number, BLUE, full=True)
        for number, corner in enumerate(true, start):
            _mark(ax, corner, number, BLUE, full=False)
        ax.plot(*predicted.T, "X", color=ORANGE, mec="white", ms=9, zorder=4)
    return figure


def draw_square_attention(kind: str, corners: np.ndarray, attn_weights: np.ndarray) -> Figure:
    """Draw one panel per head: arrows between corners, and a ring where one asks itself."""
    figure, panels = _panels(_titles("head", attn_weights))
    for ax, head in zip(panels, attn_weights, strict=True):
        for query, row in zip(ASKING[kind][0], head, strict=True):
            for key, weight in zip(ASKING[kind][1], row, strict=True):
                if weight >= FAINTEST:
                    _draw_look(ax, corners[query - 1], corners[key - 1], weight)
        for number, corner in enumerate(corners, 1):
            _mark(ax, corner, number, BLUE, full=number in GIVEN)
    return figure


def _draw_look(ax: Axes, query: np.ndarray, key: np.ndarray, weight: float) -> None:
    """Draw how much one corner looks at another, or at itself."""
    if (query == key).all():
        ax.plot(*query, "o", ms=19, mfc="none", mec=LOOK, mew=WIDEST * weight)
        return
    look = {"arrowstyle": "-|>", "color": LOOK, "lw": WIDEST * weight, "mutation_scale": 14}
    bend = {"connectionstyle": "arc3,rad=0.15", "shrinkA": 7, "shrinkB": 9}
    ax.annotate("", tuple(key), tuple(query), arrowprops=look | bend, zorder=2)


def _panels(titles: list[str]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(len(titles) * SIDE, SIDE + 0.3), layout="constrained")
    panels = panels_of(figure, len(titles), sharex=True, sharey=True)
    for ax, title in zip(panels, titles, strict=True):
        ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal", title=title)
        ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        ax.grid(color=GRID, lw=0.6)
    return figure, panels


def _draw_way(ax: Axes, corners: np.ndarray, color: str, line: str = "-") -> None:
    """Draw arrows from corner to corner, stopping short of the corners themselves."""
    look = {"arrowstyle": "-|>", "color": color, "ls": line, "shrinkA": 7, "shrinkB": 7}
    for start, end in pairwise(corners):
        ax.annotate("", end, start, arrowprops=look, zorder=2)


def _mark(ax: Axes, corner: np.ndarray, number: int, color: str, full: bool) -> None:
    ax.plot(*corner, "o", ms=9, mec=color, mfc=color if full else "white", zorder=3)
    # Away from the center, so that no arrow crosses it.
    aside = tuple(np.where(corner < 0, -11, 11))
    text, place = str(number), tuple(corner)
    ax.annotate(text, place, aside, textcoords="offset points", ha="center", va="center")


def _corners(values: Any, name: str) -> np.ndarray:
    points = as_array(values, name)
    if points.ndim != 3 or points.shape[-1] != 2 or not points.size:
        raise ValueError(f"{name} has the shape {list(points.shape)}: give [n, n_corners, 2]")
    check_finite(points, name)
    return points


def _titles(kind: str, values: np.ndarray) -> list[str]:
    return [f"{kind} {number}" for number in range(len(values))]


def _squares_summary(points: np.ndarray) -> str:
    ways = [f"square {number}: {_way(square)}" for number, square in enumerate(points)]
    return f"Squares corner by corner, the first {len(GIVEN)} given. {'; '.join(ways)}."


def _looks_summary(kind: str, attn_weights: np.ndarray) -> str:
    queries, keys = ASKING[kind]
    said = ["Arrows on the square, from who asks to who gets asked."]
    for number, head in enumerate(attn_weights):
        looks = [_look(*one, keys) for one in zip(queries, head, strict=True)]
        said.append(f"Head {number}: {'; '.join(looks)}.")
    return " ".join(said)


def _look(query: int, weights: np.ndarray, keys: Sequence[int]) -> str:
    asked = [f"corner {key} ({short(w)})" for key, w in zip(keys, weights, strict=True)]
    return f"corner {query} asks {', '.join(asked)}"


def _predictions_summary(target: np.ndarray, prediction: np.ndarray) -> str:
    said = [
        f"square {number}: true {_way(true)}, predicted {_way(predicted)}"
        for number, (true, predicted) in enumerate(zip(target, prediction, strict=True))
    ]
    return f"True and predicted corners. {'; '.join(said)}."


def _way(corners: np.ndarray) -> str:
    return " → ".join(f"({short(x)}, {short(y)})" for x, y in corners)
