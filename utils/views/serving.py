"""Views of fast attention: softmax tile by tile, and the memory of a cache."""

import math
from typing import Any

import numpy as np

from autograder.utils.plots.bars import plot_bars
from autograder.utils.plots.maps import plot_matrix
from autograder.utils.plots.numbers import as_array
from autograder.utils.views.live import View

DIGITS = 4  # decimals of the numbers that a script gets
# A model the size of Llama 2 7B: its layers, its heads and their width, two bytes for each number.
LAYERS, HEADS, WIDTH, BYTES = 32, (32, 8, 4, 2, 1), 128, 2
LATENT = 576  # numbers that DeepSeek-V2 keeps for each word
MODEL, CARD = 13.5, 24  # GB
N_WORDS = 8192  # for which the still picture shows the memory


def cache_gigabytes(n_words: int, numbers_per_word: int) -> float:
    """Compute the memory of a cache in GB (10⁹ bytes) from what each layer keeps of a word."""
    return BYTES * LAYERS * n_words * numbers_per_word / 1e9


def view_memory(*, caption: str) -> View:
    """Show how much memory a cache takes, given words, texts, and what it keeps of each word."""
    kept = {f"{n} key head{'s' * (n > 1)}": 2 * n * WIDTH for n in HEADS}
    kept |= {f"a latent of {LATENT}": LATENT}
    sizes = [cache_gigabytes(N_WORDS, numbers) for numbers in kept.values()]
    still = plot_bars({f"GB for {N_WORDS:,} words": sizes}, list(kept), caption=caption)
    shape = {"layers": LAYERS, "heads": list(HEADS), "width": WIDTH, "latent": LATENT}
    return View(still, "memory", {**shape, "card": CARD, "model": MODEL})


def view_tiles(attn_scores: Any, tile: int, *, caption: str) -> View:
    """Show softmax tile by tile: each query's largest score, its sum, and the shares so far.

    attn_scores: [n_query, n_key].
    tile: how many keys come at a time.
    Raises ValueError if the shape does not fit.
    """
    scores = as_array(attn_scores, "attn_scores")
    if scores.ndim != 2 or tile < 1:
        raise ValueError(
            f"attn_scores has the shape {list(scores.shape)}, with tiles of {tile}: give "
            "[n_query, n_key], and at least one key in a tile"
        )
    ends = [tile * (step + 1) for step in range(math.ceil(scores.shape[1] / tile))]
    shares = np.stack([_shares(scores, end) for end in ends])
    titles = [f"after tile {step}" for step in range(1, len(ends) + 1)]
    still = plot_matrix(shares, titles=titles, value_range=(0, 1), caption=caption)
    return View(still, "tiles", {"scores": np.round(scores, DIGITS).tolist(), "tile": tile})


def _shares(scores: np.ndarray, end: int) -> np.ndarray:
    """Compute the softmax over the first `end` keys; the others have no share yet."""
    exps = np.exp(scores - scores[:, :end].max(axis=1, keepdims=True))
    exps[:, end:] = 0
    return exps / exps.sum(axis=1, keepdims=True)
