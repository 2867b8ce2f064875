"""Attention, a tile of scores at a time: the context, and each query's logsumexp."""

from typing import Any

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Forbids, Trial

from .shared import SAME_SIZES, dims_of, move_scores
from .tiled_attention_variants import ALTERNATIVES, MISTAKES


def tiles(
    n_query: int,
    n_key: int,
    causal: bool = False,
    tile_query: int = 16,
    tile_key: int = 16,
    leading: str = "",
    scale: float = 1.0,
    shift: float = 0.0,
    stated: bool = True,
) -> Inputs:
    """Queries, keys and values; `shift` takes all scores far from 0.

    stated: whether the other arguments are given; they have defaults.
    """

    def case(draw: Draw) -> dict[str, Any]:
        rows, columns = draw.same or n_query, draw.same or n_key
        draw.label(f"tiles {tile_query} × {tile_key}" + (", causal" if causal else ""))
        queries, keys = dims_of(draw, rows, columns, leading)
        query, key = draw.normal(queries, scale), draw.normal(keys, scale)
        value = draw.normal(keys)
        move_scores(query, key, shift)
        sizes = {"causal": causal, "tile_query": tile_query, "tile_key": tile_key}
        return {"query": query, "key": key, "value": value} | (sizes if stated else {})

    return case


BOTH = ("context", "logsumexp")

EXERCISE = Exercise(
    "tiled_attention",
    returns="context logsumexp",
    parts=[Trial("in_little_memory"), Forbids("scaled_dot_product_attention")],
    builds_on=("online_step",),
    also=(*SIZES, Form.DOUBLE, *CALLS),
    seconds=30.0,
    aspects=[
        Aspect(
            "whole tiles",
            1,
            [
                tiles(8, 12, tile_query=4, tile_key=3, leading="batch"),
                tiles(32, 48),
                tiles(48, 32, stated=False),
                tiles(6, 9, tile_query=6, tile_key=9),
            ],
            outputs=BOTH,
        ),
        Aspect(
            "ragged last tiles",
            1,
            [
                tiles(7, 11, tile_query=3, tile_key=4, leading="batch n_heads"),
                tiles(5, 53),
                tiles(3, 4, tile_query=16, tile_key=16),
                tiles(5, 1, tile_query=3),
                tiles(3, 301),
            ],
            outputs=BOTH,
        ),
        Aspect(
            "causal",
            2,
            [
                tiles(8, 8, True, tile_query=4, tile_key=4),
                tiles(7, 7, True, tile_query=3, tile_key=2, leading="batch"),
                tiles(5, 53, True),
                tiles(1, 9, True, tile_key=4),
                tiles(6, 13, True, tile_query=4, tile_key=3),
                tiles(9, 12, True, 4, 5, leading="batch", shift=-30000.0, scale=1.5),
            ],
            outputs=BOTH,
        ),
        Aspect(
            "large scores",
            1,
            [
                tiles(9, 20, tile_query=4, tile_key=6, scale=40.0),
                tiles(9, 20, tile_query=4, tile_key=6, shift=-400.0),
                tiles(9, 20, tile_query=4, tile_key=6, shift=400.0),
            ],
            outputs=BOTH,
        ),
        Aspect(
            "never more than a tile",
            1,
            [
                tiles(150, 160, tile_query=12, tile_key=100),
                tiles(150, 150, tile_query=20, tile_key=20),
                tiles(150, 150, True, 100, 12),
            ],
            outputs=(*BOTH, "scores", "pairs", "small", "tiles"),
        ),
        connected(
            tiles(6, 9, tile_query=6, tile_key=9),
            tiles(7, 10, True, tile_query=3, tile_key=4),
            outputs=BOTH,
        ),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Two loops: over the queries in steps of `tile_query`, and inside it over the keys in "
        "steps of `tile_key`. A slice that goes too far just ends at the end.",
        "Before the inner loop, make a state for the tile of queries: −∞, 0 and 0, each of its "
        "shape. After it, the context is o / ℓ, and the logsumexp m + ln ℓ.",
        "For the mask, compare places: `torch.arange` over the keys of the tile, and over its "
        "queries plus n_key − n_query. Where a key's place is larger, the score is −∞.",
    ],
    excuses={
        "another fill: $X.masked_fill($M, -1e9)": "no score is that low",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "another argument: key → value": SAME_SIZES,
        "another argument: query →": "likewise",
        "condition fixed: if causal and start > place[-1]": "skipping only saves work",
        "another number: 0 →": "every feature has the same shape",
        "call dropped: torch.zeros_like": "at first, it is multiplied by 0",
    },
)
