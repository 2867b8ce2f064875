"""Make leaks visible: change one word, and color the outputs that moved.

This is the classic test of a causal model: later words must not affect earlier outputs. It changes
only one word here, so that the result can be drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from autograder.utils.palette import BLUE, GRAY, ORANGE, RED
from autograder.utils.plots.look import LETTER, panels_of
from autograder.utils.plots.numbers import as_array, as_labels, listed
from autograder.utils.plots.picture import Picture, render

MOVED = 1e-5  # a smaller change in an output is only rounding
LOOKS = {  # an output's fill and ink
    "moved": (BLUE, "white"),
    "leaked": (RED, "white"),
    "still": ("white", GRAY),
}


def plot_leak(
    attentions: Mapping[str, Callable],
    words: Any,
    labels: Sequence[str],
    *,
    changed: int,
    caption: str,
) -> Picture:
    """Change the sign of one word, and color the outputs that moved for each of `attentions`.

    attentions: name → function of a tensor [1, n, d] that returns outputs [1, n, anything].
    words: a tensor, [n, d].
    changed: index of the word to change.
    Blue outputs moved and may; red ones moved although they come before the changed word.
    Raises ValueError if labels or outputs do not fit, or the changed word is all zeros.
    """
    labels = as_labels(labels, "labels")
    _check(words, labels, changed)
    panels = {
        name: outputs_moved(attention, words, changed, name)
        for name, attention in attentions.items()
    }
    alt = _summary(panels, labels, changed)
    return render(partial(draw_leak, panels, labels, changed), caption, alt)


def outputs_moved(attention: Callable, words: Any, changed: int, name: str = "") -> np.ndarray:
    """Find the outputs that move when one word changes its sign: booleans, [n]."""
    other = words.clone()
    other[changed] = -other[changed]
    before, after = (as_array(attention(x[None]), name) for x in (words, other))
    if before.ndim != 3 or before.shape[:2] != (1, len(words)):
        raise ValueError(
            f"{name!r} gave outputs of the shape {list(before.shape)} for words of the shape "
            f"{[1, *words.shape]}: give an output for each word"
        )
    return ~np.isclose(before, after, rtol=0, atol=MOVED, equal_nan=True).all(axis=-1)[0]


def draw_leak(panels: dict[str, np.ndarray], labels: list[str], changed: int) -> Figure:
    """Draw one panel for each of `panels`, name → [n] booleans."""
    box = max(0.55, LETTER * max(map(len, labels)) + 0.14)
    width = len(labels) * (box + 0.08)
    figure = Figure(figsize=(len(panels) * (width + 0.9), 1.75), layout="constrained")
    axes = panels_of(figure, len(panels))
    for ax, (name, moved) in zip(axes, panels.items(), strict=True):
        ax.set_title(name)
        _draw_panel(ax, moved, labels, changed, box / (box + 0.08))
    return figure


def _draw_panel(ax: Axes, moved: np.ndarray, labels: list[str], changed: int, width: float) -> None:
    for place, label in enumerate(labels):
        state = _state(place, moved[place], changed)
        _draw_box(ax, place, 1, label, *LOOKS[state], width)
        is_changed = place == changed
        _draw_box(ax, place, 0, label, ORANGE if is_changed else "white", "black", width)
        if state != "still":
            _draw_arrow(ax, changed, place, LOOKS[state][0])
    ax.set(xlim=(-0.6, len(labels) - 0.4), ylim=(-0.3, 1.3), xticks=[])
    ax.set_yticks([0, 1], ["words", "outputs"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _state(place: int, moved: bool, changed: int) -> str:
    if not moved:
        return "still"
    return "moved" if place >= changed else "leaked"


def _draw_box(ax: Axes, x: float, y: float, text: str, fill: str, ink: str, width: float) -> None:
    corner = (x - width / 2, y - 0.17)
    style = "round,pad=0,rounding_size=0.06"
    box = FancyBboxPatch(corner, width, 0.34, style, fc=fill, ec=GRAY, lw=0.8, zorder=2)
    ax.add_patch(box)
    ax.text(x, y, text, ha="center", va="center", color=ink, zorder=3)


def _draw_arrow(ax: Axes, start: int, end: int, color: str) -> None:
    # Dashes identify a leak for readers who can't tell the colors apart.
    line = "--" if color == RED else "-"
    arrow = FancyArrowPatch(
        (start, 0.18),
        (end, 0.82),
        arrowstyle="-|>",
        mutation_scale=9,
        shrinkA=0,
        shrinkB=0,
        color=color,
        ls=line,
        zorder=1,
    )
    ax.add_patch(arrow)


def _check(words: Any, labels: list[str], changed: int) -> None:
    if getattr(words, "ndim", 0) != 2 or len(words) != len(labels):
        raise ValueError(
            f"words has the shape {list(getattr(words, 'shape', []))} for {len(labels)} label(s): "
            f"give one sentence, [n, d], and a label for each word"
        )
    if not 0 <= changed < len(labels):
        raise ValueError(f"changed is {changed}: give the index of a word, 0 to {len(labels) - 1}")
    if not words[changed].any():
        raise ValueError(f"{labels[changed]!r} is all zeros, and so has no sign: change another")


def _summary(panels: dict[str, np.ndarray], labels: list[str], changed: int) -> str:
    parts = []
    for name, moved in panels.items():
        groups: dict[str, list[str]] = {"moved": [], "leaked": []}
        for place in np.flatnonzero(moved).tolist():
            groups[_state(place, True, changed)].append(labels[place])
        leaked = f"; moved and must not: {listed(groups['leaked'])}" if groups["leaked"] else ""
        parts.append(f"{name}: moved and may: {listed(groups['moved']) or 'none'}{leaked}")
    return f"“{labels[changed]}” is changed. Outputs that moved. {'. '.join(parts)}."
