"""Alt text for maps: what a reader who can't see the drawing needs to know."""

import numpy as np

from autograder.utils.plots.heatmap import Maps, Note
from autograder.utils.plots.numbers import listed, short

QUERY_BY_QUERY_UP_TO = 8
ALIKE = 1e-3  # weights that differ by less are called equal


def attention_summary(maps: Maps) -> str:
    """Say which key has the most weight: for each query of one small map, else for each map."""
    n_maps, n_query, n_key = maps.values.shape
    kind = "Attention map" if n_maps == 1 else f"{n_maps} attention maps on one color scale"
    if n_maps == 1 and n_query <= QUERY_BY_QUERY_UP_TO:
        rows = zip(maps.row_labels, maps.values[0], strict=True)
        found = [_favorites(query, keys, maps.column_labels) for query, keys in rows]
    elif n_query == 1:
        pairs = zip(maps.titles, maps.values, strict=True)
        query, keys = maps.row_labels[0], maps.column_labels
        found = [f"{title}: {_favorites(query, rows[0], keys)}" for title, rows in pairs]
    else:
        found = _largest(maps)
    return f"{kind}, query by key: {n_query} by {n_key}. Most weight: {'; '.join(found)}."


def matrix_summary(maps: Maps) -> str:
    """Give the size, the range of values, and the position of each matrix's largest value."""
    n_maps, n_rows, n_columns = maps.values.shape
    kind = "Matrix" if n_maps == 1 else f"{n_maps} matrices on one color scale"
    size = f"{kind}, {maps.row_name} by {maps.column_name}: {n_rows} by {n_columns}."
    finite = maps.values[np.isfinite(maps.values)]
    if not finite.size:
        return f"{size} No value is finite."
    if np.isin(maps.values, (0, 1)).all() and n_rows <= QUERY_BY_QUERY_UP_TO >= n_columns:
        return f"{size} Where the value is 1, not 0: {'. '.join(_ones(maps))}."
    span = f"Values from {short(finite.min())} to {short(finite.max())}"
    return f"{size} {span}; largest: {'; '.join(_largest(maps))}."


def remarks(maps: Maps) -> list[str]:
    """Say which cells are hatched, and what the notes beside rows mean."""
    found = []
    for values, title, notes in zip(maps.values, maps.titles, maps.notes, strict=True):
        sentences = _not_finite(values, maps.row_labels) + _noted(notes, maps.row_labels)
        found += [f"{title}: {sentence}" if title else sentence for sentence in sentences]
    return found


def _favorites(query: str, weights: np.ndarray, keys: list[str]) -> str:
    if not np.isfinite(weights).all():
        return f"{query} → not finite"
    if not weights.any():
        return f"{query} → nothing"
    best = [key for key, w in zip(keys, weights, strict=True) if w > weights.max() - ALIKE]
    names = " and ".join(best) if len(best) < 3 else f"{len(best)} keys alike"
    return f"{query} → {names} ({short(weights.max())})"


def _ones(maps: Maps) -> list[str]:
    """List the columns of the ones in each matrix of 0 and 1, row by row."""
    found = []
    for values, title in zip(maps.values, maps.titles, strict=True):
        rows = [
            f"{label} → {listed([c for c, v in zip(maps.column_labels, row, strict=True) if v])}"
            if row.any()
            else f"{label} → none"
            for label, row in zip(maps.row_labels, values, strict=True)
        ]
        found.append(f"{title}: {'; '.join(rows)}" if title else "; ".join(rows))
    return found


def _largest(maps: Maps) -> list[str]:
    found = []
    for values, title in zip(maps.values, maps.titles, strict=True):
        place = _place_of_largest(values, maps.row_labels, maps.column_labels)
        found.append(f"{title}: {place}" if title else place)
    return found


def _place_of_largest(values: np.ndarray, rows: list[str], columns: list[str]) -> str:
    if not values.any():
        return "all zeros"
    finite = np.where(np.isfinite(values), values, -np.inf)
    row, column = np.unravel_index(finite.argmax(), values.shape)
    if not np.isfinite(finite[row, column]):
        return "no finite value"
    return f"{rows[row]} → {columns[column]} ({short(values[row, column])})"


def _not_finite(values: np.ndarray, row_labels: list[str]) -> list[str]:
    """List the rows with NaN, inf and -inf, one sentence for each kind."""
    printed = np.vectorize(short, otypes=[object])(values)
    sentences = []
    for kind in dict.fromkeys(printed[~np.isfinite(values)]):
        rows = [row_labels[row] for row in np.flatnonzero((printed == kind).any(axis=1))]
        sentences.append(f"{kind} in {(printed == kind).sum()} cell(s), in rows {listed(rows)}.")
    return sentences


def _noted(notes: dict[int, Note], row_labels: list[str]) -> list[str]:
    sentences = []
    for meaning in dict.fromkeys(note.meaning for note in notes.values()):
        rows = [
            f"{row_labels[row]} ({note.text})"
            for row, note in notes.items()
            if note.meaning == meaning
        ]
        sentences.append(f"Rows that {meaning}: {listed(rows)}.")
    return sentences
