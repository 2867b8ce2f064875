"""Lesson 9: attention with a cache, and in tiles."""

from typing import Any

import torch

from autograder.exercises.pieces import in_pieces
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    ONES,
    Aspect,
    Exercise,
    Inputs,
    ModuleCase,
)
from autograder.lessons.variants import Alternative, Mistake

SAME_SIZES = "both have the same size there"

# ---------------------------------------------------------------- KVCache


def appended(*pieces: int, window: int | None = None) -> Inputs:
    """Keys and values that come in pieces."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n=sum(pieces)).label(in_pieces(pieces, window))
        dims = "batch n_heads n d_head"
        pair = {"key": draw.normal(dims), "value": draw.normal(dims)}
        return pair | {"pieces": list(pieces), "window": window}

    return case


ALL_KEYS = "torch.cat([self.keys, key], dim=-2)"
ALL_VALUES = "torch.cat([self.values, value], dim=-2)"
COUNTED = "self.length += key.shape[-2]"
FIRST_KEPT = "max(0, key.shape[-2] - self.window + 1)"
STORED = "self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()"

JOINED = (
    "        if self.keys is not None:\n"
    f"            key = {ALL_KEYS}\n"
    f"            value = {ALL_VALUES}\n"
)

KV_CACHE = Exercise(
    "KVCache",
    returns="keys values",
    trial="append_in_pieces",
    also=(ONES, DOUBLE),
    aspects=[
        Aspect(
            "all keys and values",
            2,
            [appended(4), appended(2, 2), appended(3, 1, 2, 1)],
            outputs=("keys", "values"),
        ),
        Aspect(
            "the number of words",
            1,
            [appended(3, 1, 2), appended(5, 2, 2, window=3)],
            outputs=("length",),
        ),
        Aspect(
            "a window",
            1,
            [
                appended(1, 1, 1, 1, 1, window=3),
                appended(2, 3, 2, window=2),
                appended(6, window=3),
                appended(3, 2, window=1),
                appended(1, 2, 1, window=9),
            ],
            outputs=("keys", "values"),
        ),
        Aspect(
            "old words are forgotten",
            1,
            [appended(*[1] * 30, window=4), appended(40, window=3)],
        ),
    ],
    mistakes=[
        Mistake(
            "only the new words",
            "`append` returned the new words alone. They attend to the earlier ones, too: put "
            "those in front.",
            {ALL_KEYS: "key", ALL_VALUES: "value"},
        ),
        Mistake(
            "new words first",
            "You put the new words in front. They come last, after all the others.",
            {
                ALL_KEYS: "torch.cat([key, self.keys], dim=-2)",
                ALL_VALUES: "torch.cat([value, self.values], dim=-2)",
            },
        ),
        Mistake(
            "along another dimension",
            "You joined the pieces along the wrong dimension. Words are the second to last, "
            "`dim=-2`: [batch, n_heads, n, d_head].",
            {ALL_KEYS: ALL_KEYS.replace("-2", "1"), ALL_VALUES: ALL_VALUES.replace("-2", "1")},
            {ALL_KEYS: ALL_KEYS.replace("-2", "0"), ALL_VALUES: ALL_VALUES.replace("-2", "0")},
            {ALL_KEYS: ALL_KEYS.replace("-2", "-1"), ALL_VALUES: ALL_VALUES.replace("-2", "-1")},
        ),
        Mistake(
            "keys for values",
            "Your values are keys. Keep both, each with its own kind.",
            {ALL_VALUES: "key"},
            {"return key, value": "return key, key"},
        ),
        Mistake(
            "values first",
            "You returned the values first. The order is keys, values.",
            {"return key, value": "return value, key"},
        ),
        Mistake(
            "only the last piece is kept",
            "You keep only the last piece, and lose what came before it.",
            {
                "        if self.keys is not None:": (
                    "        new = key, value\n        if self.keys is not None:"
                ),
                STORED: "self.keys, self.values = (x[..., max(0, first - key.shape[-2] + "
                "x.shape[-2]) :, :] for x in new)",
            },
        ),
        Mistake(
            "the window is cut too early",
            "You cut to the window before the new words have seen it. The first of several new "
            "words still attends to the w − 1 words before *it*: return those, too.",
            {
                FIRST_KEPT: "max(0, key.shape[-2] - self.window)",
                "return key, value": "return self.keys, self.values",
            },
            {"return key, value": "return self.keys, self.values"},
        ),
        Mistake(
            "a view is kept",
            "The window is right, but a slice is only a view: it keeps the whole tensor in memory. "
            "`clone()` makes a copy of just the slice.",
            {STORED: STORED.replace(".clone()", "")},
        ),
        Mistake(
            "minus zero",
            "With a window of 1, your slice starts at −(w − 1), which is 0, and `x[0:]` is "
            "everything. Count the start from the front.",
            {FIRST_KEPT: "-(self.window - 1)"},
        ),
        Mistake(
            "a negative start",
            "If there are fewer words than the window, your start is negative, and a negative "
            "start counts from the end. Use `max(0, …)`.",
            {FIRST_KEPT: "key.shape[-2] - self.window + 1"},
        ),
        Mistake(
            "one word too many",
            "Your window is one word too long. A word sees itself and w − 1 others, so keep only "
            "w − 1 words for the next ones.",
            {FIRST_KEPT: "max(0, key.shape[-2] - self.window)"},
        ),
        Mistake(
            "one word too few",
            "Your window is one word too short: keep w − 1 words for the next ones.",
            {FIRST_KEPT: "max(0, key.shape[-2] - self.window + 2)"},
        ),
        Mistake(
            "window ignored",
            "You returned all words although there is a window.",
            {f"0 if self.window is None else {FIRST_KEPT}": "0"},
        ),
        Mistake(
            "the first words are kept",
            "With a window, you keep the oldest words. Keep the newest.",
            {
                STORED: (
                    "self.keys = key[..., : key.shape[-2] - first, :]\n"
                    "        self.values = value[..., : key.shape[-2] - first, :]"
                )
            },
        ),
        Mistake(
            "nothing is forgotten",
            "The window is right, but the cache still holds every word. Keep only those that will "
            "be asked for again, or the memory keeps growing.",
            {
                STORED: "self.keys, self.values = key, value",
                "return key, value": (
                    "if self.window is not None:\n"
                    "            first = max(0, self.length - new - self.window + 1)\n"
                    "            return key[..., first:, :], value[..., first:, :]\n"
                    "        return key, value"
                ),
                COUNTED: f"new = key.shape[-2]\n        {COUNTED}",
            },
        ),
        Mistake(
            "length of what is kept",
            "`length` should be the number of all words so far. Yours is the number of words that "
            "the cache holds, which a window keeps small.",
            {
                COUNTED: "pass",
                "return key, value": "self.length = key.shape[-2]\n        return key, value",
            },
        ),
        Mistake(
            "pieces counted",
            "`length` counts words, and yours counts the calls of `append`.",
            {COUNTED: "self.length += 1"},
        ),
        Mistake(
            "length stays 0",
            "`length` is still 0. Add the number of new words in each call.",
            {COUNTED: "pass"},
        ),
        Mistake(
            "only the last piece is counted",
            "`length` is the number of words in the last piece. Add it to those before.",
            {COUNTED: "self.length = key.shape[-2]"},
        ),
        Mistake(
            "words counted twice",
            "You counted the earlier words again with each piece. Add only the new ones.",
            {
                f"        {COUNTED}\n": "",
                f"        {STORED}": f"        {STORED}\n        {COUNTED}",
            },
        ),
        Mistake(
            "features counted",
            "`length` counts words: `shape[-2]`.",
            {COUNTED: "self.length += key.shape[-1]"},
            {COUNTED: "self.length += key.shape[1]"},
            {COUNTED: "self.length += len(key)"},
        ),
    ],
    alternatives=[
        Alternative(
            "a list of pieces",
            {
                "self.keys = self.values = None": "self.pieces = []",
                JOINED: (
                    "        self.pieces.append((key, value))\n"
                    "        both = zip(*self.pieces)\n"
                    "        key, value = (torch.cat(parts, dim=2) for parts in both)\n"
                ),
                f"        {STORED}\n": (
                    "        if first:\n"
                    "            kept = key[:, :, first:].clone(), value[:, :, first:].clone()\n"
                    "            self.pieces = [kept]\n"
                ),
            },
        ),
        Alternative(
            "empty tensors first",
            {
                "= self.values = None": "= self.values = torch.zeros(1, 1, 0, 1)",
                JOINED: (
                    "        sizes = len(key), key.shape[1], -1, key.shape[3]\n"
                    "        old = self.keys.expand(sizes), self.values.expand(sizes)\n"
                    "        key = torch.cat([old[0], key], dim=2)\n"
                    "        value = torch.cat([old[1], value], dim=2)\n"
                ),
            },
        ),
    ],
    hints=[
        "In `__init__`, set `length` to 0, and the keys and values to None. In `append`, join old "
        "and new with `torch.cat(…, dim=-2)`.",
        "Return what you joined. Keep the same for the next call, or with a window only its last "
        "w − 1 words.",
        "`keys[..., first:, :]` is everything from word `first` on. With n words and a window of "
        "w, the first to keep is n − (w − 1), or 0 if that is negative.",
    ],
    excuses={
        "another argument: key → value": SAME_SIZES,
        "another attribute: self.keys → self.values": "both are there, or neither is",
        "arguments swapped: max": "the order does not matter",
        "a list of pieces / condition fixed: if first": "from word 0 on is everything",
        "empty tensors first / another argument: key → value": SAME_SIZES,
        "empty tensors first / argument dropped: torch.zeros(1, 1, 0, 1)": "it is expanded",
    },
)

# ---------------------------------------------------------------- grouped_query_attention


def grouped(n_kv_heads: int, group: int, keep: bool = False, nobody: bool = False) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n_heads=n_kv_heads * group)
        draw.label(f"{n_kv_heads * group} query heads, {n_kv_heads} key heads")
        if group == 1:
            dims = "batch n_heads n_key d_head"
            return draw.arguments(key=draw.normal(dims), value=draw.normal(dims), keep=None)
        draw.fix(n_kv_heads=n_kv_heads)
        mask = draw.keep("n_query n_key") if keep else None
        if nobody:
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


grouped_query_attention = Exercise(
    "grouped_query_attention",
    returns="context",
    aspects=[
        Aspect("several query heads share a key head", 2, [grouped(2, 3), grouped(3, 2)]),
        Aspect("one key head, or one for each", 1, [grouped(1, 4), grouped(5, 1)]),
        Aspect("a mask", 1, [grouped(2, 2, keep=True), grouped(2, 3, keep=True, nobody=True)]),
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
    excuses={
        "another argument: key → value in (key.shape[1], -1)": SAME_SIZES,
        "by copies / another argument: key → value in query.shape[1] //": SAME_SIZES,
        "head by head / another argument: key → value in query.shape[1] //": SAME_SIZES,
    },
)

# ---------------------------------------------------------------- CachedSelfAttention


def reading(
    *pieces: int, n: int = 0, window: int | None = None, scale: float = 1.0, group: int = 1
) -> Inputs:
    """A text that comes in pieces; with n, in one go."""

    def case(draw: Draw) -> ModuleCase:
        draw.fix(n=n or sum(pieces)).label(in_pieces(pieces, window))
        n_kv_heads = draw.choose("n_heads", 2, 3).size("n_heads")
        draw.fix(n_heads=n_kv_heads * group)
        draw.fix(d_model=draw.size("n_heads") * draw.size("d_head"))
        build = draw.named("d_model n_heads")
        if group > 1:
            build["n_kv_heads"] = n_kv_heads
        x = draw.normal("batch n d_model", scale)
        return ModuleCase(build, {"x": x, "pieces": list(pieces), "window": window})

    return case


KEEP = "torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"
WINDOW = "keep.triu(n_key - n_query - cache.window + 1)"
APPEND = "key, value = cache.append(key, value)"
ATTENDED = "grouped_query_attention(query, key, value, keep)"

CACHED_SELF_ATTENTION = Exercise(
    "CachedSelfAttention",
    returns="result",
    trial="read_in_pieces",
    builds_on=("grouped_query_attention",),
    also=(ONES, DOUBLE, AGAIN),
    aspects=[
        Aspect("a text in one go", 2, [reading(n=7), reading(n=9)]),
        Aspect("several query heads share a key head", 1, [reading(n=7, group=2)]),
        Aspect("word by word", 1, [reading(1, 1, 1, 1), reading(4, 1, 1)]),
        Aspect("pieces of several words", 1, [reading(3, 4), reading(2, 3, 3, group=3)]),
        Aspect(
            "a window",
            1,
            [reading(2, 4, 1, 3, window=3), reading(*[1] * 7, window=2), reading(8, window=3)],
        ),
        Aspect(
            "gradients",
            1,
            [reading(n=5, group=2, scale=0.3), reading(2, 3, scale=0.3)],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "no mask",
            "Nothing is masked, so words attend to what comes after them.",
            {KEEP: "None", f"keep = {WINDOW}": "pass"},
        ),
        Mistake(
            "no mask with a cache",
            "With a cache, nothing is masked. New words that come together still have to be hidden "
            "from each other. (The diagonal is n_key − n_query; farther right, it hides nothing.)",
            {
                f"keep = {KEEP}": f"keep = {KEEP}\n"
                "        if cache is not None:\n"
                "            keep = torch.ones_like(keep)"
            },
            {".tril(n_key - n_query)": ".tril(cache.length if cache is not None else 0)"},
        ),
        Mistake(
            "the mask's corner at the top left",
            "Your mask starts at the top left, as if the first query were the first word. The "
            "queries are the last words: query 0 is at place n_key − n_query, so `tril(n_key - "
            "n_query)`.",
            {".tril(n_key - n_query)": ".tril()"},
        ),
        Mistake(
            "the mask one word too short",
            "Your words don't see themselves.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query - 1)"},
        ),
        Mistake(
            "the mask one word too long",
            "Each of your words sees one word that comes after it.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query + 1)"},
        ),
        Mistake(
            "the mask upside down",
            "Your mask lets words see only themselves and what comes after them. `triu` keeps the "
            "upper right; you need the lower left.",
            {".tril(n_key - n_query)": ".triu(n_key - n_query)"},
        ),
        Mistake(
            "only the new words",
            "You attend to the new words alone. Hand them to `cache.append`, and attend to what it "
            "returns.",
            {APPEND: "cache.append(key, value)"},
            {APPEND: "pass"},
        ),
        Mistake(
            "keys and values swapped",
            "You took the keys that the cache returns for values. It returns the keys first.",
            {APPEND: "value, key = cache.append(key, value)"},
        ),
        Mistake(
            "values by the key layer",
            "You made the values with the layer `key`. They have a layer of their own.",
            {"value = self.value(x)": "value = self.key(x)"},
        ),
        Mistake(
            "copies of heads in the cache",
            "You gave the cache a copy of each key head for every query head, so it is as large as "
            "without groups. Hand it n_kv_heads heads, and copy later, if at all.",
            {
                APPEND: "group = self.n_heads // self.n_kv_heads\n"
                "            key = key.repeat_interleave(group, dim=1)\n"
                "            value = value.repeat_interleave(group, dim=1)\n"
                f"            {APPEND}"
            },
        ),
        Mistake(
            "the length for the mask",
            "Your mask is moved by `cache.length`, which also counts the words that a window has "
            "dropped. Move it by n_key − n_query.",
            {
                APPEND: f"before = cache.length\n            {APPEND}",
                ".tril(n_key - n_query)": ".tril(before if cache is not None else 0)",
            },
        ),
        Mistake(
            "the window's corner at the top left",
            "Your window starts at the top left. Its corner is at the lower right, like the "
            "mask's: add n_key − n_query.",
            {WINDOW: "keep.triu(1 - cache.window)"},
        ),
        Mistake(
            "scaled twice",
            "You scaled twice: `attend` divides by √d_head already.",
            {ATTENDED: ATTENDED.replace("(query", "(query / query.shape[-1] ** 0.5")},
        ),
        Mistake(
            "window ignored",
            "You let words see everything, though the cache has a `window`. What it returns is for "
            "all new words; each of them still sees only the last `window` words.",
            {f"keep = {WINDOW}": "pass"},
        ),
        Mistake(
            "window one word too long",
            "Your window is one word too long: it counts the word itself.",
            {"cache.window + 1": "cache.window"},
        ),
        Mistake(
            "window one word too short",
            "Your window is one word too short: it counts the word itself.",
            {"cache.window + 1": "cache.window + 2"},
        ),
        Mistake(
            "as many key heads as query heads",
            "`key` and `value` are as wide as `query`. With n_kv_heads, they have n_kv_heads · "
            "d_head features.",
            {"d_kv = self.n_kv_heads *": "self.n_kv_heads = n_heads\n        d_kv = n_heads *"},
        ),
        Mistake(
            "heads by view",
            "Your split mixes words: `view` straight to [batch, n_heads, n, d_head] cuts the rows. "
            "Cut the features, then transpose.",
            {
                "self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": (
                    "self.query(x).reshape(len(x), self.n_heads, x.shape[1], -1)"
                )
            },
        ),
        Mistake(
            "heads not put back",
            "You flattened the heads without moving them back behind the words: `transpose(1, 2)` "
            "first.",
            {"context.transpose(1, 2).flatten(2)": "context.reshape(x.shape)"},
        ),
        Mistake(
            "no output projection",
            "You returned the heads side by side. The last step is missing: the output projection.",
            {
                "self.output(context.transpose(1, 2).flatten(2))": (
                    "context.transpose(1, 2).flatten(2)"
                )
            },
        ),
        Mistake(
            "without biases",
            "Your layers have no biases. Leave `bias` as `nn.Linear` has it.",
            {
                "nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)": (
                    "nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model)"
                )
            },
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys.",
            {
                "query = self.query(x)": "query = self.key(x)",
                "key = self.key(x)": "key = self.query(x)",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "by distances",
            {
                f"keep = {KEEP}": (
                    "place = torch.arange(n_key)\n"
                    "        distance = place[n_key - n_query :, None] - place\n"
                    "        keep = distance >= 0"
                ),
                f"keep = {WINDOW}": "keep = keep & (distance < cache.window)",
            },
        ),
        Alternative(
            "one mask for all",
            {
                "        if cache is not None and cache.window is not None:\n"
                f"            keep = {WINDOW}\n": (
                    "        window = getattr(cache, 'window', None) or n_key\n"
                    "        keep = keep.triu(n_key - n_query - window + 1)\n"
                )
            },
        ),
    ],
    hints=[
        "Project, split into heads, hand the new keys and values to the cache, attend to what it "
        "returns, put the heads back together, project.",
        "`torch.ones(n_query, n_key, dtype=torch.bool).tril(k)` keeps everything up to the k-th "
        "diagonal above the main one. Which k puts the corner at the lower right?",
        "With a window, cut off the lower left as well: `keep.triu(k)` keeps everything from the "
        "k-th diagonal on.",
    ],
    excuses={"by distances / operands swapped: keep &": "the order does not matter"},
)

# ---------------------------------------------------------------- online_step


def state_after(scores: torch.Tensor, value: torch.Tensor) -> dict[str, torch.Tensor]:
    """The state after some scores, [..., n_query, n], which may be none."""
    if not scores.shape[-1]:
        nothing = torch.zeros(scores.shape[:-1])
        return {"m": nothing - torch.inf, "l": nothing, "o": scores @ value}
    most = scores.amax(dim=-1)
    exps = (scores - most.masked_fill(most == -torch.inf, 0.0)[..., None]).exp()
    return {"m": most, "l": exps.sum(dim=-1), "o": exps @ value}


def tile_after(
    leading: str = "",
    n_before: int = 3,
    scale: float = 1.0,
    shift: float = 0.0,
    hidden: str = "",
    nothing_before: bool = False,
) -> Inputs:
    """A tile of scores after `n_before` others.

    shift: added to the new scores. hidden: "some" of the new scores, or all of a "row".
    nothing_before: whether the first query has seen nothing yet.
    """

    def case(draw: Draw) -> dict[str, Any]:
        batch = f"{leading} " if leading else ""
        old = draw.normal_of([*draw.shape(f"{batch}n_query"), n_before], scale)
        if nothing_before:
            old[..., 0, :] = -torch.inf
        state = state_after(old, draw.normal_of([*draw.shape(leading), n_before, draw.size("d_v")]))
        scores = draw.normal(f"{batch}n_query n_tile", scale) + shift
        if hidden == "row":
            scores[..., [0, -1], :] = -torch.inf
        if hidden == "some":
            scores[~draw.keep(f"{batch}n_query n_tile")] = -torch.inf
        return state | {"scores": scores, "value": draw.normal(f"{batch}n_tile d_v")}

    return case


NEW_MAXIMUM = "torch.maximum(maximum, scores.amax(dim=-1))"
OFFSET = "new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)"
SHRINK = "(maximum - offset).exp()"
NEW_OUTPUT = "shrink[..., None] * output + exps @ value"
NEW_TOTAL = "shrink * total + exps.sum(dim=-1)"

online_step = Exercise(
    "online_step",
    returns="m l o",
    trial="take_a_step",
    also=(ONES, DOUBLE, GRADIENTS, AGAIN),
    aspects=[
        Aspect(
            "one more tile",
            2,
            [
                tile_after(),
                tile_after("batch n_heads"),
                tile_after(shift=3.0),
                tile_after(shift=-3.0),
            ],
        ),
        Aspect(
            "the first tile", 1, [tile_after(n_before=0), tile_after(n_before=0, shift=-5000.0)]
        ),
        Aspect(
            "large scores",
            1,
            [
                tile_after(scale=100.0),
                tile_after(shift=-200.0, scale=30.0),
                tile_after(n_before=0, shift=-200.0, scale=30.0),
            ],
        ),
        Aspect(
            "masked scores",
            2,
            [
                tile_after(hidden="some"),
                tile_after("batch", hidden="row"),
                tile_after(hidden="row", nothing_before=True),
                tile_after(nothing_before=True),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "the tile's maximum only",
            "Your new maximum is that of this tile. An earlier score may be larger.",
            {NEW_MAXIMUM: "scores.amax(dim=-1)"},
        ),
        Mistake(
            "the old maximum stays",
            "Your maximum never changes, so a larger score makes `exp` overflow.",
            {NEW_MAXIMUM: "maximum"},
        ),
        Mistake(
            "never below 0",
            "Your maximum is never below 0, as if it had started there. If all scores are far "
            "below 0, every `exp` is 0.",
            {NEW_MAXIMUM: f"{NEW_MAXIMUM}.clamp(min=0.0)"},
        ),
        Mistake(
            "one maximum for all queries",
            "You took the largest score of all queries. Each query has its own.",
            {"scores.amax(dim=-1)": "scores.amax()"},
        ),
        Mistake(
            "the maximum along the queries",
            "You took the maximum over the queries. Take it over the keys, the last dimension.",
            {"scores.amax(dim=-1)": ("scores.amax(dim=-2)[..., :1].expand(maximum.shape)")},
        ),
        Mistake(
            "the old sum not rescaled",
            "You added to the old sum as it was. It was made with the old maximum: multiply it by "
            "exp(m − m′) first.",
            {NEW_TOTAL: "total + exps.sum(dim=-1)"},
        ),
        Mistake(
            "the old output not rescaled",
            "You added to the old output as it was. It was made with the old maximum: multiply it "
            "by exp(m − m′), as you do with the sum.",
            {NEW_OUTPUT: "output + exps @ value"},
        ),
        Mistake(
            "nothing rescaled",
            "You added to the old sum and the old output as they were. Both were made with the old "
            "maximum: multiply them by exp(m − m′) first.",
            {NEW_TOTAL: "total + exps.sum(dim=-1)", NEW_OUTPUT: "output + exps @ value"},
        ),
        Mistake(
            "rescaled the wrong way",
            "Your factor is upside down: it is exp(m − m′), which is at most 1.",
            {SHRINK: "(offset - maximum).exp()"},
        ),
        Mistake(
            "everything rescaled",
            "You rescaled the new sums as well. They already use the new maximum; only the old "
            "ones need the factor.",
            {
                NEW_TOTAL: "shrink * (total + exps.sum(dim=-1))",
                NEW_OUTPUT: "shrink[..., None] * (output + exps @ value)",
            },
        ),
        Mistake(
            "new scores from the old maximum",
            "You subtracted the old maximum from the new scores. Subtract the new one.",
            {"(scores - offset[..., None])": "(scores - maximum[..., None])"},
        ),
        Mistake(
            "NaN where everything is masked",
            "−∞ − (−∞) is NaN. Where a row has nothing to attend to so far, subtract 0 instead of "
            "the maximum.",
            {OFFSET: "new_maximum"},
        ),
        Mistake(
            "the tile's maximum subtracted",
            "You subtracted this tile's own maximum. Subtract m′, which may come from an earlier "
            "tile.",
            {
                "(scores - offset[..., None])": (
                    "(scores - scores.amax(dim=-1, keepdim=True).clamp(min=-1e30))"
                )
            },
        ),
        Mistake(
            "divided too early",
            "Your output is divided by the sum. Leave `o` as the sum of weights times values, and "
            "divide once, after the last tile.",
            {
                f"return new_maximum, new_total, {NEW_OUTPUT}": (
                    f"return new_maximum, new_total, ({NEW_OUTPUT}) / new_total[..., None]"
                )
            },
        ),
        Mistake(
            "the old state lost",
            "You returned the state of this tile alone. Add what came before it.",
            {NEW_TOTAL: "exps.sum(dim=-1)", NEW_OUTPUT: "exps @ value"},
        ),
        Mistake(
            "the mean, not the sum",
            "You took a mean where ℓ is a sum.",
            {"exps.sum(dim=-1)": "exps.mean(dim=-1)"},
        ),
        Mistake(
            "another order",
            "The numbers are right, but the order is m, ℓ, o.",
            {"return new_maximum, new_total,": "return new_total, new_maximum,"},
        ),
        Mistake(
            "no maximum at all",
            "You took `exp` of the scores as they are, which overflows. Subtract the largest "
            "score.",
            {OFFSET: "torch.zeros_like(new_maximum)", SHRINK: "maximum.exp() / maximum.exp()"},
        ),
    ],
    alternatives=[
        Alternative(
            "with where",
            {f"offset = {OFFSET}": ("offset = torch.where(new_maximum.isinf(), 0.0, new_maximum)")},
        ),
        Alternative(
            "with a finite minimum",
            {
                f"offset = {OFFSET}": (
                    "offset = new_maximum.clamp(min=torch.finfo(scores.dtype).min)"
                )
            },
        ),
        Alternative(
            "the state as one more score",
            """
            past = (maximum + total.log())[..., None]
            everything = torch.cat([past, scores], dim=-1)
            new_maximum = torch.maximum(maximum, scores.amax(dim=-1))
            offset = torch.where(new_maximum == -torch.inf, 0.0, new_maximum)[..., None]
            exps = (everything - offset).exp()
            mean = output / torch.where(total == 0, 1.0, total)[..., None]
            sums = exps[..., :1] * mean + exps[..., 1:] @ value
            return new_maximum, exps.sum(dim=-1), sums
            """,
        ),
    ],
    hints=[
        "First the new maximum: the larger of m and the tile's own, for each query. Then "
        "exp(score − m′) for the new scores.",
        "The old ℓ and o were made with m. Multiplied by exp(m − m′), they fit the new maximum; "
        "then add the tile's own sums. `exps @ value` is the sum for o.",
        "If the new maximum is −∞, subtract 0 instead: exp(−∞ − 0) is 0, as it should be. "
        "`masked_fill` or `torch.where` can do that.",
    ],
    excuses={
        "another fill": "whatever is subtracted from −∞, exp makes it 0",
        "another number: 0.0 →": "likewise",
        "with where / another number: 0.0 →": "likewise",
        "the state as one more score / another number": "a row with nothing has only zeros",
        "with a finite minimum / argument dropped: torch.finfo": "any low number will do",
        "with a finite minimum / another argument: scores → value": "likewise",
        "arguments swapped: torch.maximum": "the order does not matter",
        "input changed": "the first argument is a tuple, which this mutant leaves alone",
    },
)

# ---------------------------------------------------------------- tiled_attention


def dims_of(draw: Draw, n_query: int, n_key: int, leading: str) -> tuple[str, str]:
    """The dimensions of queries and of keys, which share a size if it is the same."""
    if n_query == n_key:
        draw.fix(n=n_query)
        return f"{leading} n d", f"{leading} n d"
    draw.fix(n_query=n_query, n_key=n_key)
    return f"{leading} n_query d", f"{leading} n_key d"


def move_scores(query: torch.Tensor, key: torch.Tensor, shift: float) -> None:
    """Move all scores far from 0, by `shift` / √d."""
    if shift:
        query[..., 0], key[..., 0] = abs(shift) ** 0.5, shift / abs(shift) ** 0.5


def tiles(
    n_query: int,
    n_key: int,
    causal: bool = False,
    tile_query: int = 16,
    tile_key: int = 16,
    leading: str = "",
    scale: float = 1.0,
    shift: float = 0.0,
) -> Inputs:
    """Queries, keys and values; `shift` moves all scores far from 0."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(
            f"{n_query} queries, {n_key} keys, tiles {tile_query} × {tile_key}"
            + (", causal" if causal else "")
        )
        queries, keys = dims_of(draw, n_query, n_key, leading)
        query, key = draw.normal(queries, scale), draw.normal(keys, scale)
        value = draw.normal(keys)
        move_scores(query, key, shift)
        sizes = {"causal": causal, "tile_query": tile_query, "tile_key": tile_key}
        return {"query": query, "key": key, "value": value} | sizes

    return case


BOTH = ("context", "logsumexp")
QUERY_TILE = "query[..., first : first + tile_query, :]"
KEY_TILE = "key[..., start : start + tile_key, :]"
VALUE_TILE = "value[..., start : start + tile_key, :]"
PLACE = "torch.arange(first, first + queries.shape[-2]) + n_key - n_query"
FUTURE = "torch.arange(start, start + scores.shape[-1]) > place[:, None]"
LOGSUMEXP = "largest + total.log()"
ALL_AT_ONCE = """
scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
if causal:
    n_query, n_key = scores.shape[-2:]
    keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    scores = scores.masked_fill(~keep, -torch.inf)
return scores.softmax(dim=-1) @ value, scores.logsumexp(dim=-1)
"""

tiled_attention = Exercise(
    "tiled_attention",
    returns="context logsumexp",
    trial="in_little_memory",
    forbidden=("scaled_dot_product_attention",),
    builds_on=("online_step",),
    also=(DOUBLE, GRADIENTS, AGAIN),
    seconds=10.0,
    aspects=[
        Aspect(
            "whole tiles",
            1,
            [
                tiles(8, 12, tile_query=4, tile_key=3, leading="batch"),
                tiles(32, 48),
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
            ],
            outputs=BOTH,
        ),
        Aspect(
            "large scores",
            1,
            [
                tiles(9, 20, tile_query=4, tile_key=6, scale=8.0),
                tiles(9, 20, tile_query=4, tile_key=6, shift=-400.0),
                tiles(9, 20, tile_query=4, tile_key=6, shift=400.0),
                tiles(9, 12, True, 4, 5, leading="batch", shift=-30000.0, scale=1.5),
            ],
            outputs=BOTH,
        ),
        Aspect(
            "never more than a tile",
            1,
            [tiles(150, 160, tile_query=4, tile_key=100), tiles(150, 150, True, 100, 4)],
            outputs=(*BOTH, "small"),
        ),
    ],
    mistakes=[
        Mistake(
            "not scaled",
            "Your scores aren't divided by √d.",
            {" / query.shape[-1] ** 0.5": ""},
        ),
        Mistake("divided by d", "You divided by d, not by √d.", {" ** 0.5": ""}),
        Mistake(
            "scaled by another size",
            "You divided by the root of the wrong size. d is the number of features.",
            {"query.shape[-1] ** 0.5": "n_key ** 0.5"},
            {"query.shape[-1] ** 0.5": "tile_key ** 0.5"},
        ),
        Mistake(
            "causal ignored",
            "You didn't mask anything for `causal=True`.",
            {
                "if causal:": "if False:",
                "            if causal and start > place[-1]:\n                break\n": "",
            },
        ),
        Mistake(
            "the mask's corner at the top left",
            "Your mask takes query 0 for the first word. The queries are the last n_query of n_key "
            "words: query 0 is at place n_key − n_query.",
            {PLACE: "torch.arange(first, first + queries.shape[-2])"},
        ),
        Mistake(
            "the word itself hidden",
            "Your queries don't see their own word. Only later ones are hidden.",
            {FUTURE: FUTURE.replace(">", ">="), "start > place[-1]": "start >= n_key"},
        ),
        Mistake(
            "the next word seen",
            "Each of your queries sees one word that comes after it.",
            {FUTURE: f"{FUTURE} + 1"},
            {PLACE: f"{PLACE} + 1"},
        ),
        Mistake(
            "masked with a number",
            "Your masked scores are a finite number, and real scores may be lower. Use −∞.",
            {"masked_fill(later, -torch.inf)": "masked_fill(later, -1e4)"},
            {"masked_fill(later, -torch.inf)": "masked_fill(later, -100.0)"},
        ),
        Mistake(
            "a tile across the diagonal",
            "You don't mask every tile that needs it. A tile that starts before a query's place "
            "may end after it.",
            {"if causal:\n    ": "if causal and start > place[0]:\n    "},
        ),
        Mistake(
            "a skip that counts from query 0",
            "You skip tiles as if query 0 were the first word: n_key − n_query is missing there.",
            {"start > place[-1]": "start > first + tile_query"},
        ),
        Mistake(
            "a tile skipped too early",
            "You skip a tile although the last query of the tile may see some of it. A tile is "
            "in the future only if its first key comes after the last query.",
            {"start > place[-1]": "start > place[0]"},
            {"start > place[-1]": "start + tile_key > place[-1] + 1"},
        ),
        Mistake(
            "places counted in the tile",
            "Your mask counts places from the start of each tile. Add where the tile begins.",
            {FUTURE: "torch.arange(scores.shape[-1]) > place[:, None]"},
            {PLACE: "torch.arange(queries.shape[-2]) + n_key - n_query"},
        ),
        Mistake(
            "the last keys dropped",
            "You drop the last keys if they don't fill a tile.",
            {"range(0, n_key, tile_key)": "range(0, n_key - tile_key + 1, tile_key)"},
        ),
        Mistake(
            "the last queries dropped",
            "You drop the last queries if they don't fill a tile.",
            {
                "range(0, n_query, tile_query)": (
                    "range(0, max(1, n_query - tile_query + 1), tile_query)"
                )
            },
        ),
        Mistake(
            "tile sizes exchanged",
            "You took the size of the query tiles for the keys, or the other way around.",
            {KEY_TILE: "key[..., start : start + tile_query, :]"},
            {"range(0, n_key, tile_key)": "range(0, n_key, tile_query)"},
        ),
        Mistake(
            "the values of another tile",
            "Your values aren't those of the tile. Cut them as you cut the keys.",
            {VALUE_TILE: "value[..., : scores.shape[-1], :]"},
        ),
        Mistake(
            "a state for everything",
            "All your tiles of queries share one state. Each starts with (−∞, 0, 0).",
            {
                "state = nothing - torch.inf, nothing, torch.zeros_like(queries)": (
                    "if first == 0 or state[0].shape != nothing.shape:\n"
                    "            state = nothing - torch.inf, nothing, torch.zeros_like(queries)"
                )
            },
        ),
        Mistake(
            "a maximum that starts at a number",
            "Your maximum starts at a finite number. It has to start at −∞: if all scores are far "
            "below that number, every `exp` is 0.",
            {"nothing - torch.inf, nothing,": "nothing, nothing,"},
            {"nothing - torch.inf, nothing,": "nothing - 100, nothing,"},
            {"nothing - torch.inf, nothing,": "nothing - 1e4, nothing,"},
        ),
        Mistake(
            "a state for each tile of keys",
            "You start a new state with each tile of keys, so only the last one counts. It goes on "
            "from tile to tile.",
            {
                "state = online_step(state, scores,": (
                    "state = online_step((nothing - torch.inf, nothing, "
                    "torch.zeros_like(queries)), scores,"
                )
            },
        ),
        Mistake(
            "a little added to the sum",
            "You added a small number to ℓ. It's never 0 here, and what you add makes the context "
            "a little too small.",
            {"output / total[..., None]": "output / (total[..., None] + 1e-6)"},
        ),
        Mistake(
            "not divided",
            "Your contexts aren't divided by ℓ.",
            {"output / total[..., None]": "output"},
        ),
        Mistake(
            "the maximum as logsumexp",
            "You returned the maximum for the logsumexp. It is m + ln ℓ.",
            {LOGSUMEXP: "largest"},
        ),
        Mistake(
            "the sum as logsumexp",
            "You returned ℓ, or its logarithm, for the logsumexp. It is m + ln ℓ.",
            {LOGSUMEXP: "total.log()"},
            {LOGSUMEXP: "total"},
        ),
        Mistake(
            "the sum without its logarithm",
            "The logsumexp is m + ln ℓ, and you left out the logarithm.",
            {LOGSUMEXP: "largest + total"},
        ),
        Mistake(
            "the exponential of the logsumexp",
            "You returned the sum of the exponentials, which overflows. Return its logarithm, "
            "m + ln ℓ.",
            {LOGSUMEXP: "largest.exp() * total"},
        ),
        Mistake(
            "all at once",
            "The values are right, but you made all the scores at once. Make them a tile at a "
            "time.",
            ALL_AT_ONCE,
        ),
        Mistake(
            "rows of scores",
            "The values are right, but you made whole rows of scores. Take the keys in tiles, too.",
            {
                "contexts, logsumexps = [], []\n": (
                    "contexts, logsumexps, tile_key = [], [], n_key\n"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "split into tiles",
            """
            root, n_key, done = query.shape[-1] ** 0.5, key.shape[-2], []
            place = torch.arange(query.shape[-2]) + n_key - query.shape[-2]
            for queries, rows in zip(query.split(tile_query, -2), place.split(tile_query)):
                most = torch.full_like(queries[..., 0], -torch.inf)
                state = most, torch.zeros_like(most), torch.zeros_like(queries)
                places = torch.arange(n_key).split(tile_key)
                for keys, values, columns in zip(
                    key.split(tile_key, -2), value.split(tile_key, -2), places
                ):
                    scores = torch.einsum("...qd,...kd->...qk", queries, keys) / root
                    if causal:
                        hidden = columns[None] > rows[:, None]
                        scores = torch.where(hidden, -torch.inf, scores)
                    state = online_step(state, scores, values)
                done.append((state[2] / state[1][..., None], state[0] + state[1].log()))
            contexts, logsumexps = zip(*done)
            return torch.cat(contexts, -2), torch.cat(logsumexps, -1)
            """,
        ),
        Alternative(
            "written into place",
            {
                "    contexts, logsumexps = [], []\n": (
                    "    contexts = torch.empty(*query.shape[:-1], value.shape[-1], "
                    "dtype=query.dtype)\n"
                    "    logsumexps = torch.empty(query.shape[:-1], dtype=query.dtype)\n"
                ),
                "contexts.append(output / total[..., None])": (
                    f"contexts{QUERY_TILE[5:]} = output / total.unsqueeze(-1)"
                ),
                f"logsumexps.append({LOGSUMEXP})": (
                    f"logsumexps[..., first : first + tile_query] = {LOGSUMEXP}"
                ),
                "torch.cat(contexts, dim=-2), torch.cat(logsumexps, dim=-1)": (
                    "contexts, logsumexps"
                ),
            },
        ),
    ],
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
        "another argument: query →": SAME_SIZES,
        "split into tiles / another argument": SAME_SIZES,
        "written into place / another argument": SAME_SIZES,
        "condition fixed: if causal and start > place[-1]": "skipping only saves work",
        "another number: 0 →": "every feature has the same shape",
        "split into tiles / another number": "likewise",
        "call dropped: torch.zeros_like": "at first, it is multiplied by 0",
        "split into tiles / call dropped: torch.zeros_like": "likewise",
    },
)

# ---------------------------------------------------------------- attention_backward


def backward(
    n_query: int, n_key: int, causal: bool = False, leading: str = "", last: float = 0.0
) -> Inputs:
    """A backward pass, with the context and the logsumexp that belong to it.

    last: added to the scores that the last key has with all queries but the last, times √d.
    """

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(f"{n_query} queries, {n_key} keys" + (", causal" if causal else ""))
        queries, keys = dims_of(draw, n_query, n_key, leading)
        query, key, value = draw.normal(queries), draw.normal(keys), draw.normal(keys)
        if last:
            query[..., :-1, 0], query[..., -1, 0], key[..., -1, 0] = 1.0, 0.0, last
        scores = query.double() @ key.double().transpose(-2, -1) / query.shape[-1] ** 0.5
        if causal:
            hidden = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)
            scores = scores.masked_fill(hidden, -torch.inf)
        return {
            "query": query,
            "key": key,
            "value": value,
            "context": (scores.softmax(dim=-1) @ value.double()).float(),
            "logsumexp": scores.logsumexp(dim=-1).float(),
            "d_context": draw.normal(queries),
            "causal": causal,
        }

    return case


CASES = [backward(5, 7), backward(1, 6), backward(4, 6, leading="batch n_heads")]
CAUSAL_CASES = [
    backward(6, 6, True),
    backward(3, 8, True, leading="batch"),
    backward(5, 5, True, last=300.0),
]
WEIGHTS = "(scores - logsumexp[..., None]).exp()"
D_SCORES = "attn_weights * (d_weights - mean)"
MEAN = "(d_context * context).sum(dim=-1, keepdim=True)"
D_QUERY = "d_scores @ key / root"
D_KEY = "d_scores.transpose(-2, -1) @ query / root"
D_VALUE = "attn_weights.transpose(-2, -1) @ d_context"

attention_backward = Exercise(
    "attention_backward",
    returns="d_query d_key d_value",
    also=(AGAIN,),  # with more digits, context and logsumexp would not belong to the rest
    aspects=[
        Aspect("the gradient for the values", 1, CASES, outputs=("d_value",)),
        Aspect("the gradient for the queries", 2, CASES, outputs=("d_query",)),
        Aspect("the gradient for the keys", 1, CASES, outputs=("d_key",)),
        Aspect("causal", 1, CAUSAL_CASES),
    ],
    mistakes=[
        Mistake(
            "no mean subtracted",
            "You left out D: dS is P · (dP − D). Each row of dS has to sum to 0.",
            {D_SCORES: "attn_weights * d_weights"},
        ),
        Mistake(
            "the mean added",
            "You added D. dS is P · (dP − D).",
            {D_SCORES: "attn_weights * (d_weights + mean)"},
        ),
        Mistake(
            "the sign of dS",
            "Your dS has the wrong sign. It is P · (dP − D).",
            {D_SCORES: "attn_weights * (mean - d_weights)"},
        ),
        Mistake(
            "not multiplied by the weights",
            "You left out the factor P: dS is P · (dP − D).",
            {D_SCORES: "d_weights - mean"},
        ),
        Mistake(
            "the mean outside of the weights",
            "You subtracted D after multiplying by P. It goes inside: P · (dP − D).",
            {D_SCORES: "attn_weights * d_weights - mean"},
        ),
        Mistake(
            "a mean over the keys",
            "Your D is the plain mean of dP. It is the mean by the weights: the sum of P · dP, "
            "which is the sum of dO · O over the features.",
            {MEAN: "d_weights.mean(dim=-1, keepdim=True)"},
            {MEAN: "(d_context * context).mean(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "D from another row",
            "Your D is summed over the queries. Each query has its own: sum dO · O over the "
            "features, the last dimension.",
            {MEAN: "(d_context * context).sum(dim=-2, keepdim=True).mean(-1, keepdim=True)"},
        ),
        Mistake(
            "D from the context alone",
            "D is the sum of dO · O. You left out one of the two.",
            {MEAN: "context.sum(dim=-1, keepdim=True)"},
            {MEAN: "d_context.sum(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "no √d on the way back",
            "The scores were divided by √d, so dQ and dK are, too.",
            {D_QUERY: "d_scores @ key", D_KEY: "d_scores.transpose(-2, -1) @ query"},
        ),
        Mistake(
            "no √d in the gradient for the queries",
            "Your dQ isn't divided by √d.",
            {D_QUERY: "d_scores @ key"},
        ),
        Mistake(
            "no √d in the gradient for the keys",
            "Your dK isn't divided by √d.",
            {D_KEY: "d_scores.transpose(-2, -1) @ query"},
        ),
        Mistake(
            "divided by d",
            "You divided dQ and dK by √d twice.",
            {D_QUERY: f"{D_QUERY} / root", D_KEY: f"{D_KEY} / root"},
            {D_QUERY: f"{D_QUERY} / root"},
            {D_KEY: f"{D_KEY} / root"},
        ),
        Mistake(
            "scores not scaled",
            "You forgot √d in the scores, so your weights aren't those of the forward pass.",
            {"transpose(-2, -1) / root": "transpose(-2, -1)"},
        ),
        Mistake(
            "√d from another size",
            "You took the root of the wrong size. d is the number of features.",
            {"query.shape[-1] ** 0.5": "key.shape[-2] ** 0.5"},
            {"query.shape[-1] ** 0.5": "query.shape[-2] ** 0.5"},
        ),
        Mistake(
            "logsumexp left out",
            "Your weights don't sum to 1. Subtract the logsumexp of each row before `exp`.",
            {WEIGHTS: "scores.exp()"},
        ),
        Mistake(
            "logsumexp of the wrong row",
            "You subtracted the logsumexp along the keys. It has one number for each query: "
            "`logsumexp[..., None]`.",
            {WEIGHTS: "(scores - logsumexp[..., None].mean(dim=-2, keepdim=True)).exp()"},
        ),
        Mistake(
            "causal ignored",
            "You didn't mask anything for `causal=True`, so your weights aren't those of the "
            "forward pass.",
            {"if causal:": "if False:"},
        ),
        Mistake(
            "the mask's corner at the top left",
            "Your mask takes query 0 for the first word. The queries are the last n_query of n_key "
            "words.",
            {".tril(n_key - n_query)": ".tril()"},
        ),
        Mistake(
            "masked after exp",
            "You masked the weights after `exp`. A later word's score may be so high that `exp` "
            "overflows, and ∞ · 0 is NaN. Mask the scores, with −∞.",
            {
                "        scores = scores.masked_fill(~keep, -torch.inf)\n": "",
                f"attn_weights = {WEIGHTS}": (
                    f"attn_weights = {WEIGHTS}\n"
                    "    if causal:\n"
                    "        attn_weights = attn_weights * keep"
                ),
            },
        ),
        Mistake(
            "the word itself hidden",
            "Your queries don't see their own word. Only later ones are hidden.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query - 1)"},
        ),
        Mistake(
            "the next word seen",
            "Each of your queries sees one word that comes after it.",
            {".tril(n_key - n_query)": ".tril(n_key - n_query + 1)"},
        ),
        Mistake(
            "queries and keys exchanged",
            "You swapped dQ and dK. The order is dQ, dK, dV.",
            {
                f"return {D_QUERY}, {D_KEY}, d_value": f"return {D_KEY}, {D_QUERY}, d_value",
            },
        ),
        Mistake(
            "dV, not transposed",
            "dV is Pᵀ dO: for each key, a sum over the queries.",
            {
                D_VALUE: (
                    "attn_weights.mean(-2, keepdim=True).transpose(-2, -1) "
                    "* d_context.sum(-2, keepdim=True)"
                )
            },
        ),
        Mistake(
            "dV from dS",
            "You used dS for dV. It is Pᵀ dO.",
            {
                f"    d_value = {D_VALUE}\n": "",
                "query / root, d_value": ("query / root, d_scores.transpose(-2, -1) @ d_context"),
            },
        ),
        Mistake(
            "queries for keys",
            "dQ is dS K / √d, and dK is dSᵀ Q / √d: each needs the other one.",
            {D_KEY: "d_scores.transpose(-2, -1) @ context / root"},
            {D_QUERY: "d_scores @ value / root"},
        ),
    ],
    alternatives=[
        Alternative(
            "with the sum over the keys",
            {MEAN: "(attn_weights * d_weights).sum(dim=-1, keepdim=True)"},
        ),
        Alternative(
            "by einsum, a tile of queries at a time",
            """
            n_query, n_key, d = query.shape[-2], key.shape[-2], query.shape[-1]
            d_key, d_value, d_queries = torch.zeros_like(key), torch.zeros_like(value), []
            for row in range(n_query):
                q, do = query[..., row, :], d_context[..., row, :]
                s = torch.einsum("...d,...kd->...k", q, key) / d**0.5
                if causal:
                    s = torch.where(torch.arange(n_key) > row + n_key - n_query, -torch.inf, s)
                p = torch.exp(s - logsumexp[..., row, None])
                dp = torch.einsum("...d,...kd->...k", do, value)
                ds = p * (dp - (do * context[..., row, :]).sum(-1, keepdim=True)) / d**0.5
                d_value = d_value + p[..., None] * do[..., None, :]
                d_key = d_key + ds[..., None] * q[..., None, :]
                d_queries.append(torch.einsum("...k,...kd->...d", ds, key))
            return torch.stack(d_queries, dim=-2), d_key, d_value
            """,
        ),
    ],
    hints=[
        "Make the weights again: the scores, masked if it's causal, minus the logsumexp, and "
        "`exp`. Then go through the formulas in order: dV, dP, D, dS, dQ, dK.",
        "D has one number for each query: `(d_context * context).sum(dim=-1, keepdim=True)`.",
        "`transpose(-2, -1)` swaps queries and keys: dV = Pᵀ dO, dK = dSᵀ Q / √d.",
    ],
    excuses={
        "another fill: $X.masked_fill($M, -1e4)": "no score is that low here",
        "another fill: $X.masked_fill($M, -100.0)": "likewise",
        "another fill: $X.masked_fill($M, -1e9)": "no score is that low",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "another argument: query →": SAME_SIZES,
        "another argument: key → value in": SAME_SIZES,
        "by einsum, a tile of queries at a time / another argument": SAME_SIZES,
        "by einsum, a tile of queries at a time / elements swapped: (torch": SAME_SIZES,
        "by einsum, a tile of queries at a time / elements swapped: (..., row": (
            "it takes one number for each text"
        ),
        "detached": "nobody differentiates a backward pass",
        "result detached": "likewise",
        "without gradients": "likewise",
        "result in float32": "float64 is asked for in TiledAttention",
        "result rounded to float32": "likewise",
        "float32 inside": "likewise",
        "result squeezed at the end": "there are three features at least",
    },
)

# ---------------------------------------------------------------- TiledAttention


def applied(n_query: int, n_key: int, causal: bool = False, leading: str = "") -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        made = backward(n_query, n_key, causal, leading)(draw)
        return {name: made[name] for name in ("query", "key", "value", "causal")}

    return case


TILE_ROWS = "range(0, n_query, 64)"
SEEN = "slice(n_key - n_query + last if ctx.causal else n_key)"

TILED_ATTENTION = Exercise(
    "TiledAttention",
    returns="context",
    trial="apply_in_little_memory",
    builds_on=("online_step", "tiled_attention", "attention_backward"),
    also=(DOUBLE,),
    seconds=10.0,
    aspects=[
        Aspect("forward", 1, [applied(5, 7), applied(4, 6, True, "batch")], outputs=("context",)),
        Aspect(
            "backward",
            2,
            [
                applied(5, 7),
                applied(4, 6, leading="batch n_heads"),
                applied(70, 75, leading="batch"),
                applied(6, 6, True),
                applied(130, 140, True),
            ],
            outputs=("context",),
            gradients=True,
        ),
        Aspect("few rows at a time", 1, [applied(300, 300), applied(290, 300, True)]),
    ],
    mistakes=[
        Mistake(
            "only the last tile",
            "d_key and d_value are those of the last tile of queries. Add up those of all tiles.",
            {"d_key[seen] +=": "d_key[seen] =", "d_value[seen] +=": "d_value[seen] ="},
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
            "of n_key words.",
            {"n_key - n_query + last": "last"},
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
            "causal forgotten",
            "You didn't pass `causal` on to `tiled_attention`.",
            {"(query, key, value, causal, 64, 64)": "(query, key, value)"},
        ),
        Mistake(
            "the last queries dropped",
            "You drop the last queries if they don't fill a tile of 64.",
            {TILE_ROWS: "range(0, max(1, n_query - 63), 64)"},
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
        "another argument": SAME_SIZES,
        "elements swapped: (query, key, value)": SAME_SIZES,
        "arguments swapped: min": "the order does not matter",
        "call dropped: min(first + 64, n_query)": "a slice ends at the end",
        "other tiles / arguments swapped: min": "the order does not matter",
        "other tiles / call dropped: min(first + 32, n_query)": "a slice ends at the end",
        "another number: 64 →": "a tile may be a little larger or smaller",
        "argument dropped: tiled_attention": "likewise",
    },
)

# ---------------------------------------------------------------- latent_attention


def latents(n_query: int, n_key: int) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n_query=n_query, n_key=n_key)
        draw.label(f"{n_query} queries, {n_key} latents")
        return draw.arguments()

    return case


ABSORBED = "query @ w_key @ latent.transpose(-2, -1)[:, None]"
MIXED = "scores.softmax(dim=-1) @ latent[:, None]"

latent_attention = Exercise(
    "latent_attention",
    returns="context",
    trial="without_keys",
    challenge=True,
    aspects=[
        Aspect("the context", 1, [latents(3, 8), latents(1, 5)], outputs=("context",)),
        Aspect("without keys and values", 1, [latents(1, 200)]),
    ],
    also=(DOUBLE, GRADIENTS, AGAIN),
    mistakes=[
        Mistake(
            "keys or values made",
            "The context is right, but you made a key or a value for every word. Take the query to "
            "the latents: multiply it by W_K. And mix the latents first, then make one value from "
            "the mix.",
            """
            keys = torch.einsum("hdl,bnl->bhnd", w_key, latent)
            values = torch.einsum("hdl,bnl->bhnd", w_value, latent)
            return attend(query, keys, values)
            """,
            {
                "return mixed @ w_value.transpose(-2, -1)": (
                    "values = latent[:, None] @ w_value.transpose(-2, -1)\n"
                    "    return scores.softmax(dim=-1) @ values"
                )
            },
            {ABSORBED: "query @ (latent[:, None] @ w_key.transpose(-2, -1)).transpose(-2, -1)"},
        ),
        Mistake(
            "scaled by the latents' size",
            "You divided by the root of the latents' size. The scores are those of query · key, so "
            "divide by √d_head.",
            {"query.shape[-1] ** 0.5": "latent.shape[-1] ** 0.5"},
        ),
        Mistake(
            "not scaled",
            "Your scores aren't divided by √d_head.",
            {" / query.shape[-1] ** 0.5": ""},
        ),
        Mistake(
            "the latents as values",
            "You returned the mix of the latents. Multiply it by W_V, head by head.",
            {"mixed @ w_value.transpose(-2, -1)": "mixed[..., : query.shape[-1]]"},
        ),
        Mistake(
            "W_K for the values",
            "You made the values with W_K.",
            {"mixed @ w_value": "mixed @ w_key"},
        ),
    ],
    alternatives=[
        Alternative(
            "by einsum",
            """
            taken = torch.einsum("bhqd,hdl->bhql", query, w_key)
            scores = torch.einsum("bhql,bkl->bhqk", taken, latent) / query.shape[-1] ** 0.5
            mixed = torch.einsum("bhqk,bkl->bhql", scores.softmax(dim=-1), latent)
            return torch.einsum("bhql,hdl->bhqd", mixed, w_value)
            """,
        ),
        Alternative(
            "all heads' queries as rows",
            """
            taken = query @ w_key / query.shape[-1] ** 0.5
            scores = taken.flatten(1, 2) @ latent.transpose(-2, -1)
            mixed = (scores.softmax(dim=-1) @ latent).unflatten(1, query.shape[1:3])
            return mixed @ w_value.transpose(-2, -1)
            """,
        ),
    ],
    hints=[
        "`query @ w_key` is [batch, n_heads, n_query, d_latent]: each query, ready to meet the "
        "latents.",
        "All heads share the latents. `latent[:, None]` has a dimension of size 1 for the heads.",
        "The weighted sum of the values is W_V times the weighted sum of the latents.",
    ],
    excuses={
        "other axes: $X.transpose(1, 2)": "there are three dimensions",
        "all heads' queries as rows / other axes: $X.transpose(1, 2)": "likewise",
        "result squeezed at the end": "there are three features at least",
    },
)

EXERCISES = [
    KV_CACHE,
    grouped_query_attention,
    CACHED_SELF_ATTENTION,
    online_step,
    tiled_attention,
    attention_backward,
    TILED_ATTENTION,
    latent_attention,
]

PREDICTIONS = [
    Prediction(
        "words_read",
        right=500500,
        because="1 + 2 + … + 1,000: for each word, it reads the prompt and all words before it.",
    ),
    Prediction(
        "size_of_the_cache",
        right="4 GB",
        choices={
            "4 MB": "That's about one layer's keys for 512 words.",
            "400 MB": "There are keys and values, in 32 layers, with 4,096 numbers each.",
            "4 GB": "2 · 32 · 4,096 numbers of two bytes, half a megabyte for each word.",
        },
    ),
    Prediction(
        "a_lost_mask",
        right="6 of 20",
        choices={
            "all 20": "Every model computes something else. But the likeliest word often stays.",
            "15 of 20": "Fewer. The likeliest word is a poor witness.",
            "6 of 20": "In 14 models, every one of the 12 words stays the same.",
        },
    ),
    Prediction(
        "is_causal_with_a_cache",
        right="1",
        choices={
            "6": "It should: it comes after all of them. But the corner is at the top left.",
            "1": "Query 0 sees key 0, wherever the query really is.",
            "none": "Query 0 always sees key 0.",
        },
    ),
    Prediction(
        "what_is_d",
        right="the dot product of dO and O",
        choices={
            "the dot product of dO and O": "The context already holds the sum over the keys.",
            "the logsumexp": "That one has no gradient in it.",
            "the sum of dO": "The values have to come in, and they are in O.",
        },
    ),
]
