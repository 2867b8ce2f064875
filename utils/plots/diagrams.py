"""Diagrams: what goes where, with shapes, in the colors of the figures."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from autograder.utils.palette import BLUE, GRAY, ORANGE, PURPLE, lighter
from autograder.utils.plots.look import WEIGHTS
from autograder.utils.plots.numbers import as_array, as_labels, softmax
from autograder.utils.plots.picture import Diagram
from autograder.utils.plots.sketch import CELL, Box, Sketch, column

PALE = 0.55  # share of white in cells that only stand for numbers
NUMBER = 34  # width of a cell with a number


def draw_attention(words: Any, labels: Sequence[str], query: int, *, caption: str) -> Diagram:
    """Draw how one word collects its context, with all numbers.

    words: [n, d].
    query: the row that asks.
    """
    rows, names = as_array(words, "words"), as_labels(labels, "labels")
    scores = rows @ rows[query]
    weights = softmax(scores)
    context = weights @ rows
    sketch = Sketch()
    shown = _numbers(sketch, (0, 0), "words", "[n, d]", rows, BLUE)
    for number, name in enumerate(names):
        sketch.words(-8, CELL * (number + 0.5), name, anchor="end", bold=number == query)
    sketch.frame(Box(0, CELL * query, shown.width, CELL), BLUE)
    asked = _numbers(sketch, (shown.right + 96, 0), "scores", "[n]", scores[:, None], PURPLE)
    shares = _numbers(sketch, (asked.right + 74, 0), "weights", "[n]", weights[:, None])
    at = shares.right + 116, shown.middle - CELL / 2
    made = _numbers(sketch, at, "context", "[d]", context[None], ORANGE)
    sketch.connect(shown, asked, f"· {names[query]}")
    sketch.connect(asked, shares, "softmax")
    sketch.connect(shares, made, "Σ weight · word")
    alt = (
        f"From left to right: {len(rows)} words of {rows.shape[1]} features; their dot products "
        f"with “{names[query]}”, the scores: {_listed(names, scores)}; after softmax the weights: "
        f"{_listed(names, weights)}; and the sum of weight times word, the context: "
        f"{', '.join(f'{value:.2f}' for value in context)}."
    )
    return Diagram(sketch.svg(), alt, caption)


def draw_keepdim(*, caption: str) -> Diagram:
    """Draw which sum each entry of a matrix is divided by, with `keepdim` and without."""
    colors = [BLUE, ORANGE, PURPLE]
    pale = [lighter(color, PALE) for color in colors]
    sums, size = ["Σ"] * len(colors), len(colors)
    sketch = Sketch()
    matrix = sketch.cells(0, 0, [[color] * size for color in pale])
    sketch.words(matrix.right + 16, matrix.middle, "÷", size=18)
    beside = sketch.cells(matrix.right + 32, 0, column(colors), column(sums))
    sketch.words(matrix.center + 26, -20, "sum(dim=-1, keepdim=True)", bold=True)
    sketch.words(matrix.center, matrix.bottom + 14, "[3, 3]", color=GRAY)
    sketch.words(beside.center, matrix.bottom + 14, "[3, 1]", color=GRAY)
    sketch.words(matrix.center + 26, matrix.bottom + 66, "each row by its own sum")
    left = beside.right + 200
    sketch.words(left + matrix.width / 2, -20, "sum(dim=-1)", bold=True)
    matrix = sketch.cells(left, 0, [pale] * size)
    sketch.words(matrix.center, matrix.bottom + 16, "÷", size=18)
    below = sketch.cells(left, matrix.bottom + 32, [colors], [sums])
    sketch.words(matrix.right + 8, matrix.middle, "[3, 3]", color=GRAY, anchor="start")
    sketch.words(below.right + 8, below.middle, "[3]", color=GRAY, anchor="start")
    sketch.words(below.center, matrix.bottom + 66, "each column by the sum of a row")
    alt = (
        "With keepdim, the three sums are a column of shape [3, 1] beside the matrix, and each row "
        "is divided by its own sum. Without it, they lie down as a row of shape [3], and each "
        "column is divided by the sum of a row."
    )
    return Diagram(sketch.svg(), alt, caption)


def draw_projections(*, caption: str) -> Diagram:
    """Draw how words become queries, keys and values, and these become contexts."""
    sketch, n = Sketch(), 4
    words = _cells(sketch, (0, 136), "words", "[n, d_in]", (n, 3), BLUE)
    queries, keys, values = (
        _projected(sketch, words, 136 * number, role, f"[n, {size}]", color)
        for number, (role, size, color) in enumerate(
            [("queries", "d_k", BLUE), ("keys", "d_k", PURPLE), ("values", "d_v", GRAY)]
        )
    )
    scores = _cells(sketch, (390, 68), "scores", "[n, n]", (n, n), PURPLE)
    weights = _cells(sketch, (560, 68), "weights", "[n, n]", (n, n), BLUE)
    contexts = _cells(sketch, (720, 168), "contexts", "[n, d_v]", (n, 3), ORANGE)
    sketch.connect(queries, scores, "q · k / √d_k")
    sketch.connect(keys, scores)
    sketch.connect(scores, weights, "softmax")
    sketch.connect(weights, contexts)
    sketch.connect(values, contexts)
    alt = (
        "Words [n, d_in] times three matrices give queries and keys [n, d_k] and values "
        "[n, d_v]. Queries and keys give scores [n, n], divided by the root of d_k; softmax makes "
        "weights of them; and weights times values are the contexts [n, d_v]."
    )
    return Diagram(sketch.svg(), alt, caption)


def _projected(sketch: Sketch, words: Box, y: float, role: str, shape: str, color: str) -> Box:
    size = int(words.height // CELL), 3 if role == "values" else 2
    made = _cells(sketch, (240, y), role, shape, size, color)
    name = f"W_{role[0].upper()}"
    matrix = sketch.block(Box(140, made.middle - 18, 48, 36), lighter(color, PALE), name)
    sketch.connect(words, matrix)
    sketch.connect(matrix, made)
    return made


def draw_split(*, caption: str) -> Diagram:
    """Draw three words split between two heads, and the wrong split by `view` alone."""
    sketch, x = Sketch(), np.arange(12).reshape(3, 4)
    words = _owned(sketch, (0, 62), x, "x [n, d_model]")
    for y, heads, code in [
        (0, x.reshape(3, 2, 2).swapaxes(0, 1), "view(n, n_heads, d_head).transpose(0, 1)"),
        (124, x.reshape(2, 3, 2), "view(n_heads, n, d_head)"),
    ]:
        first, _ = (
            _owned(sketch, (500 + 130 * number, y), head, f"head {number}")
            for number, head in enumerate(heads)
        )
        way = sketch.block(Box(150, first.middle - 14, 270, 28), "#ffffff", code, size=10)
        sketch.connect(words, way)
        sketch.connect(way, Box(first.x - 46, *first[1:]))  # where its words begin
    alt = (
        "Three words of four features, the numbers 0 to 11. Split by view and transpose, head 0 "
        "gets 0 1, 4 5 and 8 9, two numbers of each word, and head 1 the others. By view alone, "
        "head 0 gets 0 1, 2 3 and 4 5: all of word 0 and half of word 1."
    )
    return Diagram(sketch.svg(), alt, caption)


def _owned(sketch: Sketch, at: tuple[float, float], values: np.ndarray, title: str) -> Box:
    """Draw numbers of words, four to a word, in the colors of the heads that should own them."""
    colors = [lighter(color, PALE) for color in (BLUE, PURPLE)]
    fills = [[colors[number % 4 // 2] for number in row] for row in values]
    box = sketch.cells(*at, fills, [list(map(str, row)) for row in values], width=26)
    sketch.words(box.center, box.y - 14, title, bold=True)
    for number, first in enumerate(values[:, 0]):
        y = box.y + CELL * (number + 0.5)
        sketch.words(box.x - 8, y, f"word {first // 4}", anchor="end", size=10)
    return box


def draw_encoder_decoder(*, caption: str) -> Diagram:
    """Draw how an encoder-decoder completes a square, from two corners to the other two."""
    sketch, width = Sketch(), 130
    upper = [
        _block(sketch, (0, 0), "source:\ncorners 1, 2", BLUE, "[n_source, d_input]"),
        _block(sketch, (width, 0), "self-\nattention", GRAY),
        _block(sketch, (2 * width, 0), "feed-\nforward", GRAY),
        _block(sketch, (3 * width, 0), "memory", PURPLE, "[n_source, d_model]"),
    ]
    lower = [
        _block(sketch, (0, 120), "target so far:\ncorners 2, 3", BLUE, "[n_target, d_input]"),
        _block(sketch, (width, 120), "self-attention,\ncausal", GRAY),
        _block(sketch, (3 * width, 120), "cross-\nattention", GRAY),
        _block(sketch, (4 * width, 120), "feed-\nforward", GRAY),
        _block(sketch, (5 * width, 120), "output:\ncorners 3, 4", ORANGE, "[n_target, d_input]"),
    ]
    for one, other in [*pairwise(upper), *pairwise(lower)]:
        sketch.connect(one, other, "queries" if other == lower[2] else "")
    memory, cross = upper[-1], lower[2]
    sketch.arrow((memory.center, memory.bottom + 22), (cross.center, cross.y - 4))
    sketch.words(cross.center + 8, cross.y - 24, "keys, values", anchor="start", size=11)
    for name, row in [("encoder", upper), ("decoder", lower)]:
        sketch.words(-14, row[0].middle, name, anchor="end", bold=True)
    alt = (
        "The encoder: the source, corners 1 and 2, goes through self-attention and a feed-forward "
        "net and becomes the memory. The decoder: corners 2 and 3 go through causal self-attention "
        "and become queries; cross-attention takes keys and values from the memory; a feed-forward "
        "net makes corners 3 and 4 of what it found."
    )
    return Diagram(sketch.svg(), alt, caption)


def _block(sketch: Sketch, at: tuple[float, float], text: str, color: str, shape: str = "") -> Box:
    box = sketch.block(Box(*at, 104, 44), lighter(color, PALE), text)
    sketch.words(box.center, box.bottom + 12, shape, color=GRAY, size=11)
    return box


def _numbers(
    sketch: Sketch,
    at: tuple[float, float],
    title: str,
    shape: str,
    values: np.ndarray,
    color: str = "",
) -> Box:
    """Draw a matrix with its numbers, pale in one color, or as dark as its weights."""
    fills = [
        [lighter(color, PALE) if color else to_hex(WEIGHTS(float(value))) for value in row]
        for row in values
    ]
    texts = [[f"{value:.2f}" for value in row] for row in values]
    return _named(sketch, sketch.cells(*at, fills, texts, width=NUMBER), title, shape)


def _cells(
    sketch: Sketch,
    at: tuple[float, float],
    title: str,
    shape: str,
    size: tuple[int, int],
    color: str,
) -> Box:
    """Draw a matrix without its numbers."""
    rows, columns = size
    return _named(
        sketch, sketch.cells(*at, [[lighter(color, PALE)] * columns] * rows), title, shape
    )


def _named(sketch: Sketch, box: Box, title: str, shape: str) -> Box:
    sketch.words(box.center, box.y - 14, title, bold=True)
    sketch.words(box.center, box.bottom + 14, shape, color=GRAY)
    return box


def _listed(names: Sequence[str], values: np.ndarray) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in zip(names, values, strict=True))
