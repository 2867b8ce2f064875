"""Attention that saves no weights: `TiledAttention.apply(query, key, value, causal)`."""

from typing import Any

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import SAME_SIZES, backward


def applied(
    n_query: int, n_key: int, causal: bool = False, leading: str = "", stated: bool = True
) -> Inputs:
    """Queries, keys and values, and whether it is causal, if that is stated."""
    names = ("query", "key", "value", *(["causal"] if stated else []))

    def case(draw: Draw) -> dict[str, Any]:
        made = backward(n_query, n_key, causal, leading)(draw)
        return {name: made[name] for name in names}

    return case


TILE_ROWS = "range(0, n_query, 64)"
SEEN = "slice(n_key - n_query + last if ctx.causal else n_key)"

EXERCISE = Exercise(
    "TiledAttention",
    returns="context",
    parts=[Trial("apply_in_little_memory")],
    builds_on=("online_step", "tiled_attention", "attention_backward"),
    also=(*SIZES, Form.DOUBLE, *CALLS),
    seconds=30.0,
    aspects=[
        Aspect(
            "forward",
            1,
            [applied(5, 7, stated=False), applied(5, 7), applied(4, 6, True, "batch")],
            outputs=("context",),
        ),
        Aspect(
            "backward",
            2,
            [
                applied(5, 7),
                applied(4, 6, leading="batch n_heads"),
                applied(70, 75, leading="batch"),
                applied(6, 6, True),
                applied(130, 140, True),
                applied(270, 3),
            ],
            outputs=("context", "own", "alone", "given", "precise", "once"),
            gradients=True,
        ),
        Aspect(
            "few rows at a time",
            1,
            [applied(150, 150), applied(140, 150, True)],
            outputs=("context", "small", "saves", "tracked"),
        ),
    ],
    mistakes=[
        Mistake(
            "only the last tile",
            "d_key and d_value are those of the last tile of queries. Add up those of all tiles.",
            {"d_key[seen] +=": "d_key[seen] =", "d_value[seen] +=": "d_value[seen] ="},
        ),
        Mistake(
            "a gradient never filled in",
            "One of your three gradients is 0 everywhere, or missing. What `attention_backward` "
            "returns for each tile has to be written into it, or added to it.",
            {"d_query[rows] = parts[0]": "pass"},
            {"d_key[seen] += parts[1]": "pass"},
            {"d_value[seen] += parts[2]": "pass"},
        ),
        Mistake(
            "d_key of the last tile",
            "d_key is that of the last tile of queries. Add up those of all tiles.",
            {"d_key[seen] +=": "d_key[seen] ="},
        ),
        Mistake(
            "d_value of the last tile",
            "d_value is that of the last tile of queries. Add up those of all tiles.",
            {"d_value[seen] +=": "d_value[seen] ="},
        ),
        Mistake(
            "d_query of the last tile",
            "d_query is that of the last tile of queries alone. Write each tile's into its own "
            "rows, as in `d_query[..., first:last, :] = …`.",
            {"d_query[rows] = parts[0]": "d_query = parts[0]"},
            {
                "d_query[rows] = parts[0]": (
                    "d_query = torch.zeros_like(query)\n            d_query[rows] = parts[0]"
                )
            },
            {
                "d_query[rows] = parts[0]": "d_query, d_key, d_value = parts",
                "            d_key[seen] += parts[1]\n": "",
                "            d_value[seen] += parts[2]\n": "",
            },
        ),
        Mistake(
            "d_query added to all rows",
            "You added a tile's d_query to all rows. It belongs to the tile's own rows: "
            "`d_query[..., first:last, :] = …`.",
            {"d_query[rows] = parts[0]": "d_query += parts[0]"},
        ),
        Mistake(
            "all queries at once",
            "The numbers are right, but all the scores are there at once somewhere. `forward` "
            "calls `tiled_attention`, and `backward` takes 64 queries at a time.",
            {TILE_ROWS: "range(0, n_query, n_query)", "min(first + 64, n_query)": "n_query"},
            {
                "context, logsumexp = tiled_attention(query, key, value, causal, 64, 64)": (
                    "scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5\n"
                    "        if causal:\n"
                    "            n = scores.shape[-1] - scores.shape[-2]\n"
                    "            scores = scores.masked_fill(\n"
                    "                torch.ones_like(scores).triu(n + 1).bool(), -torch.inf\n"
                    "            )\n"
                    "        context, logsumexp = scores.softmax(-1) @ value, scores.logsumexp(-1)"
                )
            },
        ),
        Mistake(
            "all keys for every tile",
            "You gave `attention_backward` all keys, so it takes the tile's queries for the last "
            "words of the text. Give it only the keys up to the tile's last query.",
            {SEEN: "slice(n_key)"},
        ),
        Mistake(
            "keys cut though it isn't causal",
            "You cut the keys although it isn't causal. Without `causal`, every tile of queries "
            "needs all keys.",
            {SEEN: "slice(n_key - n_query + last)"},
        ),
        Mistake(
            "three gradients",
            "`backward` returns one thing for each argument of `forward`: dQ, dK, dV, and None for "
            "`causal`.",
            {"return d_query, d_key, d_value, None": "return d_query, d_key, d_value"},
        ),
        Mistake(
            "gradients in another order",
            "Your gradients are in another order than the arguments of `forward`. Return dQ, dK, "
            "dV, and None for `causal`.",
            {"return d_query, d_key, d_value, None": "return d_key, d_query, d_value, None"},
            {"return d_query, d_key, d_value, None": "return d_query, d_value, d_key, None"},
            {"return d_query, d_key, d_value, None": "return d_value, d_key, d_query, None"},
        ),
        Mistake(
            "the logsumexp returned, too",
            "`forward` returns the context alone. Keep the logsumexp with `save_for_backward`.",
            {"        return context\n": "        return context, logsumexp\n"},
        ),
        Mistake(
            "kept on the class",
            "You keep what `backward` needs in one place for all calls, so that of the last call "
            "is used for the others, too. Keep it in `ctx`.",
            {
                "ctx.causal = causal": "TiledAttention.causal = causal",
                "n_key - n_query + last if ctx.causal else": (
                    "n_key - n_query + last if TiledAttention.causal else"
                ),
                "d_context[rows], ctx.causal)": "d_context[rows], TiledAttention.causal)",
            },
            {
                "ctx.save_for_backward(query, key, value, context, logsumexp)": (
                    "TiledAttention.kept = query, key, value, context, logsumexp"
                ),
                "ctx.saved_tensors": "TiledAttention.kept",
            },
        ),
        Mistake(
            "float32 inside",
            "Your sums are float32, whatever the inputs are. `torch.zeros_like` takes over their "
            "dtype.",
            {
                "(torch.zeros_like(x) for x in (query, key, value))": (
                    "(torch.zeros(x.shape) for x in (query, key, value))"
                )
            },
        ),
        Mistake(
            "keys up to the tile's place among the queries",
            "You cut the keys as if query 0 were the first word. The queries are the last n_query "
            "of n_key words: the tile's last query sees n_key − n_query more.",
            {"n_key - n_query + last": "last"},
            {"n_key - n_query + last": "first + 64"},
        ),
        Mistake(
            "causal forgotten on the way back",
            "Your backward pass isn't causal. Keep `causal` in `ctx`, and pass it on.",
            {
                "d_context[rows], ctx.causal)": "d_context[rows], False)",
                SEEN: "slice(n_key)",
            },
        ),
        Mistake(
            "always causal on the way back",
            "Your backward pass is always causal. Keep `causal` in `ctx`, and pass it on.",
            {"ctx.causal = causal": "ctx.causal = True"},
        ),
        Mistake(
            "d_context ignored",
            "You didn't use `d_context`, the gradient that the context gets from what comes after "
            "it. Pass the tile's rows of it on to `attention_backward`.",
            {"d_context[rows], ctx": "torch.ones_like(d_context[rows]), ctx"},
        ),
        Mistake(
            "causal forgotten",
            "You didn't pass `causal` on to `tiled_attention`.",
            {"(query, key, value, causal, 64, 64)": "(query, key, value)"},
        ),
        Mistake(
            "the last queries dropped",
            "Your `backward` leaves out the last queries. Take 64 at a time until none is left; "
            "the last tile may have fewer.",
            {TILE_ROWS: "range(0, max(1, n_query - 63), 64)"},
            {TILE_ROWS: "[0]"},
            {TILE_ROWS: "range(0, n_query // 64 * 64, 64)"},
        ),
        Mistake(
            "the logsumexp not cut",
            "The logsumexp isn't that of the tile's queries.",
            {"logsumexp[..., first:last]": "logsumexp[..., : last - first]"},
        ),
        Mistake(
            "the context not cut",
            "The context isn't that of the tile's queries.",
            {"context[rows]\n": "context[..., : last - first, :]\n"},
        ),
    ],
    alternatives=[
        Alternative(
            "other tiles",
            {
                TILE_ROWS: "range(0, n_query, 32)",
                "min(first + 64, n_query)": "min(first + 32, n_query)",
            },
            excuses={
                "arguments swapped: min": "the order does not matter",
                "call dropped: min(first + 32, n_query)": "a slice ends at the end",
            },
        ),
        Alternative(
            "smaller tiles forward",
            {
                "            d_query[rows] = parts[0]\n": (
                    "            d_query[..., first:last, :].copy_(parts[0])\n"
                ),
                "causal, 64, 64)": "causal)",
            },
        ),
    ],
    hints=[
        "`forward`: call `tiled_attention`, save query, key, value, context and logsumexp, keep "
        "`causal`, and return the context alone.",
        "`backward`: start with zeros for d_key and d_value, go over the queries in steps of 64, "
        "and add what `attention_backward` returns for each tile.",
        "If it's causal, a tile that ends before query `last` sees the first n_key − n_query + "
        "last keys. Cut keys and values there, and add the gradients to that part of d_key and "
        "d_value.",
    ],
    excuses={
        "given line deleted: staticmethod": "taken from the class, a function is just that",
        "another argument": SAME_SIZES,
        "elements swapped: (query, key, value)": "likewise",
        "arguments swapped: min": "the order does not matter",
        "call dropped: min(first + 64, n_query)": "a slice ends at the end",
        "another number: 64 →": "a tile may be a little larger or smaller",
        "argument dropped: tiled_attention": "likewise",
    },
)
