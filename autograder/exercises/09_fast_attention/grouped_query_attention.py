"""The contexts of all query heads, of which several share a key head and a value head."""

from typing import Any

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import SAME_SIZES


def grouped(
    n_kv_heads: int, group: int, keep: bool = False, nobody: bool = False, **sizes: int
) -> Inputs:
    """Some heads, perhaps with a mask. nobody: whether the second query may attend to nothing."""

    def case(draw: Draw) -> dict[str, Any]:
        kv_heads = draw.same if draw.same > 1 else n_kv_heads
        n_heads = kv_heads if draw.same > 1 else kv_heads * group
        draw.fix(n_heads=n_heads, **sizes)
        if group == 1:
            dims = "batch n_heads n_key d_head"
            return draw.arguments(key=draw.normal(dims), value=draw.normal(dims), keep=None)
        draw.fix(n_kv_heads=kv_heads)
        mask = draw.keep("n_query n_key") if keep else None
        if mask is not None and nobody:
            mask[1] = False
        return draw.arguments(keep=mask)

    return case


GROUPS = "groups = query.unflatten(1, (key.shape[1], -1))"
GROUPED = "attend(groups, key[:, :, None], value[:, :, None], keep)"


def by_copies(key: str, value: str) -> dict[str, str]:
    """The solution with copies of the key heads and the value heads."""
    return {
        GROUPS: "group = query.shape[1] // key.shape[1]",
        f"context = {GROUPED}\n": f"return attend(query, {key}, {value}, keep)\n",
        "    return context.flatten(1, 2)\n": "",
    }


def by_hand(masked: str = "scores", weights: str = "weights") -> str:
    """The solution without `attend`, with another way to mask the scores, or the weights."""
    return f"""
    group = query.shape[1] // key.shape[1]
    keys, values = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
    if keep is not None:
        scores = {masked}
    weights = scores.softmax(dim=-1)
    if keep is not None:
        weights = {weights}
    return weights @ values
    """


FILLS = ("-1e9", "torch.finfo(scores.dtype).min")

EXERCISE = Exercise(
    "grouped_query_attention",
    returns="context",
    aspects=[
        Aspect("several query heads share a key head", 2, [grouped(2, 3), grouped(3, 2)]),
        Aspect(
            "one key head, or one for each",
            1,
            [grouped(1, 4), grouped(1, 1), grouped(2, 11), grouped(5, 1)],
        ),
        connected(grouped(3, 2)),
        Aspect(
            "a mask",
            1,
            [
                grouped(2, 3, keep=True, nobody=True),
                grouped(3, 2, keep=True, n_query=1),
                grouped(2, 2, keep=True),
            ],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "tiled",
            "Your query heads take turns: 0, 1, 0, 1. Neighbors share a key head: 0, 0, 1, 1. "
            "`repeat` tiles; `repeat_interleave` copies each head in place.",
            by_copies("key.repeat(1, group, 1, 1)", "value.repeat(1, group, 1, 1)"),
            {
                GROUPS: "groups = query.unflatten(1, (-1, key.shape[1]))",
                GROUPED: "attend(groups, key[:, None], value[:, None], keep)",
            },
        ),
        Mistake(
            "keys tiled, values repeated",
            "Your keys take turns (0, 1, 0, 1), but your values don't (0, 0, 1, 1). Both are "
            "shared by neighbors.",
            by_copies("key.repeat(1, group, 1, 1)", "value.repeat_interleave(group, dim=1)"),
        ),
        Mistake(
            "values tiled, keys repeated",
            "Your values take turns (0, 1, 0, 1), but your keys don't (0, 0, 1, 1). Both are "
            "shared by neighbors.",
            by_copies("key.repeat_interleave(group, dim=1)", "value.repeat(1, group, 1, 1)"),
        ),
        Mistake(
            "copies of words",
            "You copied words. Copy heads: they are dimension 1.",
            by_copies(
                "key.repeat_interleave(group, dim=2)", "value.repeat_interleave(group, dim=2)"
            ),
        ),
        Mistake(
            "copies along the batch",
            "You copied along the batch. Copy heads: they are dimension 1.",
            by_copies(
                "key.repeat_interleave(group, dim=0)", "value.repeat_interleave(group, dim=0)"
            ),
        ),
        Mistake(
            "the first key head for all",
            "All your query heads use the first key head. Each group has its own.",
            by_copies("key[:, :1]", "value[:, :1]"),
        ),
        Mistake(
            "the mean of the key heads",
            "You averaged the key heads. Each group of query heads has its own.",
            by_copies("key.mean(dim=1, keepdim=True)", "value.mean(dim=1, keepdim=True)"),
        ),
        Mistake(
            "the mean of a group",
            "You averaged the query heads of a group. Each of them has its own context.",
            {"context.flatten(1, 2)": ("attend(groups.mean(2), key, value, keep)")},
        ),
        Mistake(
            "the contexts of a group averaged",
            "You averaged the contexts of a group. Each query head has its own.",
            {"context.flatten(1, 2)": "context.mean(dim=2)"},
        ),
        Mistake(
            "groups left apart",
            "The contexts are right, but still in groups. Join the two dimensions of heads: "
            "`flatten(1, 2)`.",
            {"context.flatten(1, 2)": "context"},
        ),
        Mistake(
            "one context in a group",
            "You returned one context for each key head. There is one for each query head.",
            {"context.flatten(1, 2)": "context[:, :, 0]"},
        ),
        Mistake(
            "mask forgotten",
            "You didn't use `keep`. Hand it to `attend`.",
            {", keep)": ")"},
        ),
        Mistake(
            "mask the wrong way around",
            "Your mask is the wrong way around: `keep` is True where a query may attend.",
            {", keep)": ", None if keep is None else ~keep)"},
        ),
        Mistake(
            "evenly where nothing may be seen",
            "A query that may attend to nothing attends to all keys evenly in your code. Its "
            "context is 0: `attend` sees to that.",
            *(by_hand(f"scores.masked_fill(~keep, {fill})") for fill in FILLS),
        ),
        Mistake(
            "NaN where nothing may be seen",
            "A query that may attend to nothing gets NaN in your code: all its scores are −∞, and "
            "softmax divides 0 by 0. Its context is 0: `attend` sees to that.",
            by_hand("scores.masked_fill(~keep, -torch.inf)"),
        ),
        Mistake(
            "masked after the softmax",
            "You masked after the softmax, so the weights that are left don't sum to 1. Mask the "
            "scores before it, or let `attend` do that.",
            by_hand(weights="weights * keep"),
        ),
        Mistake(
            "the mask's rows out of order",
            "With all queries of a group in a row, the mask comes once for each head: "
            "`keep.repeat(group, 1)`. `repeat_interleave` puts copies of a row next to each other.",
            """
            group = query.shape[1] // key.shape[1]
            queries = query.reshape(len(query), key.shape[1], -1, query.shape[-1])
            keep = None if keep is None else keep.repeat_interleave(group, dim=0)
            return attend(queries, key, value, keep).reshape(query.shape)
            """,
        ),
        Mistake(
            "not scaled",
            "Your scores aren't divided by √d_head. Do that, or let `attend` do it.",
            {GROUPED: GROUPED.replace("(groups,", "(groups * groups.shape[-1] ** 0.5,")},
            by_hand("scores.masked_fill(~keep, -torch.inf)").replace(
                " / query.shape[-1] ** 0.5", ""
            ),
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys: `attend(query, key, value, keep)`.",
            {GROUPED: "attend(key[:, :, None], groups, groups, None)"},
        ),
        Mistake(
            "the keys as values",
            "You added up the keys. Add up the values.",
            {"value[:, :, None]": "key[:, :, None]"},
        ),
    ],
    alternatives=[
        Alternative(
            "by copies",
            by_copies("key.repeat_interleave(group, dim=1)", "value.repeat_interleave(group, 1)"),
            excuses={"another argument: key → value in query.shape[1] //": SAME_SIZES},
        ),
        Alternative(
            "head by head",
            """
            group = query.shape[1] // key.shape[1]
            heads = [
                attend(query[:, h], key[:, h // group], value[:, h // group], keep)
                for h in range(query.shape[1])
            ]
            return torch.stack(heads, dim=1)
            """,
            excuses={"another argument: key → value in query.shape[1] //": SAME_SIZES},
        ),
    ],
    hints=[
        "Each key head serves n_heads / n_kv_heads query heads, which are neighbors.",
        "With copies: `key.repeat_interleave(group, dim=1)` puts copies of a head next to it. Then "
        "`attend` does the rest.",
        "Without: `query.unflatten(1, (n_kv_heads, -1))` splits the heads into groups, "
        "`key[:, :, None]` has a dimension of size 1 for it, and `flatten(1, 2)` joins the "
        "contexts.",
    ],
    excuses={"another argument: key → value in (key.shape[1], -1)": SAME_SIZES},
)
