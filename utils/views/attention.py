"""Views of weights: where words look, what a mask does, and what scaling the scores does."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.utils.plots.alt_text import attention_summary
from autograder.utils.plots.bars import plot_bars
from autograder.utils.plots.maps import attention_maps, maps_picture
from autograder.utils.plots.masking import plot_masking
from autograder.utils.plots.numbers import as_array, as_labels, softmax
from autograder.utils.views.live import View

DIGITS = 4  # decimals of the numbers that a script gets
LOW = -1e9  # e to the power of this is 0


def view_heads(
    attn_weights: Any,
    labels: Sequence[str],
    *,
    caption: str,
    titles: Sequence[str] | None = None,
    opens_on: int | str | None = None,
) -> View:
    """Show where each query looks, head by head; the still picture is that of `plot_attention`.

    attn_weights: [n, n] or [n_heads, n, n].
    opens_on: the query to begin with, by its place or its label; if None, the one that gives most
    to another word.
    Raises ValueError as `plot_attention` does.
    """
    maps = attention_maps(attn_weights, labels, labels, titles)
    if opens_on is None:
        opens_on = _most_telling(maps.values[0])
    elif isinstance(opens_on, str):
        opens_on = list(labels).index(opens_on)
    data = {
        "weights": _rounded(maps.values),
        "queries": maps.row_labels,
        "keys": maps.column_labels,
        "titles": maps.titles,
        "start": range(len(labels))[opens_on],
    }
    return View(maps_picture(maps, caption, attention_summary(maps)), "heads", data)


def view_mask(attn_scores: Any, keep: Any, labels: Sequence[str], *, caption: str) -> View:
    """Show a mask to click, and the weights that three ways of masking give.

    attn_scores and keep: [n, n], up to 8 by 8; keep is the mask to begin with.
    Raises ValueError as `plot_masking` does.
    """
    scores, kept = as_array(attn_scores, "attn_scores"), as_array(keep, "keep").astype(bool)
    weights = softmax(np.where(kept, scores, LOW)) * kept  # rows with nothing to see get zeros
    still = plot_masking(attn_scores, keep, {"weights": weights}, labels, caption=caption)
    data = {"scores": _rounded(scores), "labels": list(labels), "keep": kept.tolist()}
    return View(still, "mask", data)


def view_scale(products: Any, labels: Sequence[str], *, caption: str) -> View:
    """Show the softmax of scores as d_k grows, with and without the root.

    products: [n_key], dot products that spread by 1 per feature; d_k features spread them by √d_k.
    """
    values, names = as_array(products, "products"), as_labels(labels, "labels")
    panels = {f"d_k = {d_k}": softmax(values * d_k**0.5) for d_k in (1, 16, 256)}
    still = plot_bars(panels, names, caption=caption, share_y=True)
    return View(still, "scale", {"products": _rounded(values), "labels": names})


def _most_telling(weights: np.ndarray) -> int:
    """Return the query that gives the largest weight to another word than itself."""
    others = np.where(np.eye(len(weights), dtype=bool), 0.0, weights)
    return int(others.max(axis=1).argmax())


def _rounded(values: np.ndarray) -> list:
    return np.round(values.astype(float), DIGITS).tolist()
