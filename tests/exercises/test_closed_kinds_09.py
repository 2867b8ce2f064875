"""Answers to lesson 9's exercises that a check once judged wrongly, or explained badly."""

import pytest

from autograder.judging.differences.shapes import NOT_SO
from tests.exercises.answers import PASSES, REJECTED, Row, each, said, verdict_on

CACHE = """
class KVCache:
    def __init__(self, window: int | None = None) -> None:
        self.window, self.length = window, 0
        {made}

    def append(self, key, value):
        self.length += key.shape[-2]
        {kept}
        first = 0 if self.window is None else max(0, self.length - key.shape[-2] - self.window + 1)
        return keys[..., first:, :], values[..., first:, :]
"""


def hiding(made: str, kept: str) -> str:
    """A cache that forgets nothing, but returns the right words."""
    kept += (
        "\n        keys = torch.cat([k for k, _ in pieces], -2)"
        "\n        values = torch.cat([v for _, v in pieces], -2)"
    )
    return CACHE.format(made=made, kept=kept)


ROOMY = """
class KVCache:
    __slots__ = ("window", "length", "room", "first", "n")

    def __init__(self, window=None):
        self.window, self.length, self.room, self.first, self.n = window, 0, None, 0, 0

    def append(self, key, value):
        n_new = key.shape[-2]
        if self.room is None or self.n + n_new > self.room[0].shape[-2]:
            size = max(self.n + n_new, 2 * self.n)
            both = []
            for number, new in enumerate((key, value)):
                room = new.new_empty(*new.shape[:2], size, new.shape[3])
                if self.room is not None:
                    room[:, :, : self.n] = self.room[number][:, :, : self.n]
                both.append(room)
            self.room = both
        for room, new in zip(self.room, (key, value)):
            room[:, :, self.n : self.n + n_new] = new
        self.n += n_new
        self.length += n_new
        found = tuple(room[:, :, : self.n].clone() for room in self.room)
        if self.window is not None:
            keep = min(self.n, self.window - 1)
            self.room = [r[:, :, self.n - keep : self.n].clone() for r in self.room]
            self.n = keep
        return found
"""

SLOTS = """
from dataclasses import dataclass

@dataclass(slots=True)
class KVCache:
    window: int | None = None
    length: int = 0
    keys: Tensor | None = None
    values: Tensor | None = None

    def append(self, key, value):
        self.length += key.shape[-2]
        if self.keys is not None:
            key = torch.cat([self.keys, key], dim=-2)
            value = torch.cat([self.values, value], dim=-2)
        if self.window is None:
            self.keys, self.values = key, value
        else:
            first = max(0, key.shape[-2] - self.window + 1)
            self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()
        return key, value
"""

KV_CACHE: list[Row] = [
    (
        "256 words at most",
        {"return key, value": "return key[..., -256:, :], value[..., -256:, :]"},
        REJECTED,
    ),
    (
        "another window",
        {"self.window, self.length = window": "self.window, self.length = window and window + 1"},
        "other attribute",
    ),
    (
        "hidden in a module",
        hiding(
            "self.box = nn.Module()\n        self.box.all = []",
            "self.box.all.append((key, value))\n        pieces = self.box.all",
        ),
        "nothing is forgotten",
    ),
    (
        "hidden in a deque",
        hiding(
            "from collections import deque\n        self.all = deque()",
            "self.all.append((key, value))\n        pieces = self.all",
        ),
        "nothing is forgotten",
    ),
    (
        "hidden in a closure",
        hiding(
            "kept = []\n        self.store = lambda k, v: kept.append((k, v)) or kept",
            "pieces = self.store(key, value)",
        ),
        "nothing is forgotten",
    ),
    (
        "hidden in NumPy",
        hiding(
            "self.all = []",
            "self.all.append([x.detach().numpy().copy() for x in (key, value)])\n"
            "        pieces = [[torch.from_numpy(x) for x in pair] for pair in self.all[:-1]]\n"
            "        pieces.append((key, value))",
        ),
        "the past detached",
    ),
    (
        "hidden in a global",
        "class Store(dict):\n    pass\n\nSTORE = Store()\n"
        + hiding(
            "STORE[id(self)] = []",
            "STORE[id(self)].append((key, value))\n        pieces = STORE[id(self)]",
        ),
        "nothing is forgotten",
    ),
    (
        "hidden in a global, for the last six caches",
        "class Store(list):\n    pass\n\nSTORE = Store()\n"
        + hiding(
            "STORE[:-6] = [()] * len(STORE[:-6])\n"
            "        self.all = len(STORE)\n        STORE.append([])",
            "STORE[self.all].append((key, value))\n        pieces = STORE[self.all]",
        ),
        "nothing is forgotten",
    ),
    (
        "the past detached",
        {
            "torch.cat([self.keys, key]": "torch.cat([self.keys.detach(), key]",
            "torch.cat([self.values, value]": "torch.cat([self.values.detach(), value]",
        },
        "the past detached",
    ),
    (
        "only keys detached",
        {"torch.cat([self.keys, key]": "torch.cat([self.keys.detach(), key]"},
        "the past detached",
    ),
    (
        "appended without gradients",
        {
            "self.keys, self.values = key": "key, value = key, value\n"
            "        with torch.no_grad():\n"
            "            self.keys, self.values = key"
        },
        "the past detached",
    ),
    (
        "one list for all",
        """
class KVCache:
    pieces = []

    def __init__(self, window=None):
        self.window, self.length = window, 0

    def append(self, key, value):
        self.length += key.shape[-2]
        self.pieces.append((key, value))
        keys, values = (torch.cat(parts, dim=-2) for parts in zip(*self.pieces))
        first = 0
        if self.window is not None:
            first = max(0, self.length - key.shape[-2] - self.window + 1)
        return keys[..., first:, :], values[..., first:, :]
        """,
        "kept on the class",
    ),
    (
        "a default that all share",
        """
class KVCache:
    def __init__(self, window=None, pieces=[]):
        self.window, self.length, self.pieces = window, 0, pieces

    def append(self, key, value):
        self.length += key.shape[-2]
        self.pieces.append((key, value))
        keys, values = (torch.cat(parts, dim=-2) for parts in zip(*self.pieces))
        return keys, values
        """,
        "kept on the class",
    ),
    (
        "places kept in half precision",
        {"key[..., first:, :].clone()": "key[..., first:, :].half().to(key.dtype)"},
        "kept in half precision",
    ),
    (
        "from an empty float32 tensor on",
        {
            "        if self.keys is not None:": (
                "        if self.keys is None:\n"
                "            self.keys = torch.zeros(*key.shape[:2], 0, key.shape[3])\n"
                "            self.values = self.keys\n"
                "        if self.keys is not None:"
            )
        },
        "kept in float32",
    ),
    ("with slots", SLOTS, PASSES),
    ("with room in advance", ROOMY, PASSES),
    (
        "the oldest words kept",
        {
            "self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()": (
                "self.keys, self.values = key, value\n"
                "        if self.window is not None:\n"
                "            self.keys = key[:, :, : self.window - 1].clone()\n"
                "            self.values = value[:, :, : self.window - 1].clone()"
            )
        },
        "the first words are kept",
    ),
]

BY_HAND = """
def grouped_query_attention(query, key, value, keep=None):
    g = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(g, 1), value.repeat_interleave(g, 1)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if keep is not None:
        scores = {masked}
    return {weights} @ value
"""

GROUPED: list[Row] = [
    (
        "a row with nothing attends evenly",
        BY_HAND.format(masked="scores.masked_fill(~keep, -1e9)", weights="scores.softmax(-1)"),
        "evenly where nothing may be seen",
    ),
    (
        "a row with nothing is NaN",
        BY_HAND.format(
            masked="scores.masked_fill(~keep, -torch.inf)", weights="scores.softmax(-1)"
        ),
        "NaN where nothing may be seen",
    ),
    (
        "NaN wiped away",
        BY_HAND.format(
            masked="scores.masked_fill(~keep, -torch.inf)",
            weights="scores.softmax(-1).nan_to_num()",
        ),
        "nan on the way",
    ),
    (
        "no mask for a single query",
        {"value[:, :, None], keep)": "value[:, :, None], keep if query.shape[2] > 1 else None)"},
        "largest_difference",
    ),
]

APPEND = "key, value = cache.append(key, value)"
KEEP = "keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"
CACHED: list[Row] = [
    (
        "no mask for a single query",
        {
            "context = grouped": (
                "if n_query == 1:\n            keep = None\n        context = grouped"
            )
        },
        PASSES,  # for one query that follows w − 1 others, there is nothing to hide
    ),
    (
        "appended twice",
        {APPEND: f"cache.append(key, value)\n            {APPEND}"},
        "appended twice",
    ),
    (
        "a window only where it is square",
        {
            "cache.window is not None:": "cache.window is not None and n_query == n_key:",
        },
        "a window at the start only",
    ),
    (
        "a window only for the first piece",
        {"cache.window is not None:": "cache.window is not None and cache.length == n_query:"},
        "a window at the start only",
    ),
    (
        "a window only from two words beyond it on",
        {"cache.window is not None:": "cache.window is not None and n_key > cache.window + 1:"},
        "some_rows_right",
    ),
    (
        "features split the other way",
        {
            "self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": (
                "self.query(x).unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)"
            ),
        },
        "heads take turns",
    ),
    (
        "all features split the other way",
        {
            "self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": (
                "self.query(x).unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)"
            ),
            "self.key(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)": (
                "self.key(x).unflatten(-1, (-1, self.n_kv_heads)).movedim(-1, 1)"
            ),
            "self.value(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)": (
                "self.value(x).unflatten(-1, (-1, self.n_kv_heads)).movedim(-1, 1)"
            ),
        },
        "heads take turns",
    ),
    (
        "key heads split like query heads",
        {
            "self.key(x).unflatten(-1, (self.n_kv_heads": "self.key(x).unflatten(-1, (self.n_heads",
            "self.value(x).unflatten(-1, (self.n_kv_heads": (
                "self.value(x).unflatten(-1, (self.n_heads"
            ),
        },
        "key heads split like query heads",
    ),
    (
        "the mask kept from the first call",
        {
            KEEP: (
                "if getattr(self, 'keep', None) is None:\n"
                "            self.keep = torch.ones(n_query, n_key, dtype=torch.bool).tril()\n"
                "        keep = self.keep if len(self.keep) == n_query else torch.ones("
                "n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"
            )
        },
        "raised",
    ),
    (
        "the cache kept in the module",
        {
            "if cache is not None:\n            key": (
                "self.cache = cache if cache is not None else getattr(self, 'cache', None)\n"
                "        cache = cache or self.cache\n"
                "        if cache is not None:\n            key"
            )
        },
        "left_on_self",
    ),
    (
        "places from the length after the new words",
        {
            KEEP: "past = 0 if cache is None else cache.length\n"
            "        place = past + torch.arange(n_query)[:, None]\n"
            "        keep = torch.arange(n_key) <= place",
            "keep = keep.triu(n_key - n_query - cache.window + 1)": (
                "keep = keep & (torch.arange(n_key) > place - cache.window)"
            ),
        },
        "the length after the new words",
    ),
    (
        "places from the length before the new words",
        {
            APPEND: f"before = cache.length\n            {APPEND}",
            KEEP: "past = 0 if cache is None else before\n"
            "        place = past + torch.arange(n_query)[:, None]\n"
            "        keep = torch.arange(n_key) <= place",
            "keep = keep.triu(n_key - n_query - cache.window + 1)": (
                "keep = keep & (torch.arange(n_key) > place - cache.window)"
            ),
        },
        "the length for the mask",
    ),
    (
        "a mask of the new words",
        {KEEP: "keep = ~torch.ones(n_query, n_query).triu(1).bool()"},
        "a mask for the new words alone",
    ),
    (
        "a mask only with a cache",
        {KEEP: f"{KEEP}\n        keep = None if cache is None else keep"},
        "no mask without a cache",
    ),
]

ONLINE: list[Row] = [
    (
        "no state: −1e9",
        {
            "new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)": (
                "new_maximum.clamp(min=-1e4)"
            )
        },
        "all_the_same",
    ),
    (
        "nan to num",
        {
            "exps = (scores - offset[..., None]).exp()": (
                "offset = new_maximum\n"
                "    exps = (scores - offset[..., None]).exp().nan_to_num(0.0)"
            ),
            "(maximum - offset).exp()": "(maximum - offset).exp().nan_to_num(0.0)",
        },
        PASSES,
    ),
    (
        "a softmax",
        {"exps = (scores - offset[..., None]).exp()": "exps = F.softmax(scores, dim=-1)"},
        "a softmax of the tile",
    ),
    ("m along the keys", {"offset[..., None]": "offset"}, "the maximum not as a column"),
    (
        "the factor along the features",
        {"shrink[..., None]": "shrink"},
        "the factor not as a column",
    ),
    (
        "m keeps its dimension",
        {"scores.amax(dim=-1)": "scores.max(dim=-1, keepdim=True).values"},
        "a maximum with a dimension more",
    ),
    (
        "divided after each tile",
        """
def online_step(state, scores, value):
    maximum, total, output = state
    new_maximum = torch.maximum(maximum, scores.amax(dim=-1))
    offset = new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)
    exps = (scores - offset[..., None]).exp()
    old = (maximum - offset).exp() * total
    new_total = old + exps.sum(dim=-1)
    new_output = (old[..., None] * output + exps @ value) / new_total[..., None]
    return new_maximum, new_total, new_output
        """,
        "divided too early",
    ),
    (
        "the largest of a batch",
        {"scores.amax(dim=-1)": "scores.flatten(-2).amax(-1, keepdim=True)"},
        "one maximum for all queries",
    ),
    (
        "0 as the maximum of nothing",
        {"return new_maximum,": "return offset,"},
        "0 for a maximum of nothing",
    ),
]

TILES_ALL = """
def tiled_attention(query, key, value, causal=False, tile_query=16, tile_key=16):
    with torch._C.DisableTorchFunction():
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        if causal:
            n_query, n_key = scores.shape[-2:]
            keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
            scores = scores.masked_fill(~keep, -torch.inf)
        return scores.softmax(dim=-1) @ value, scores.logsumexp(dim=-1)
"""
PLACE = "place = torch.arange(first, first + queries.shape[-2]) + n_key - n_query"
STATE = "state = nothing - torch.inf, nothing, torch.zeros_like(queries)"
STEP = "state = online_step(state, scores, value[..., start : start + tile_key, :])"
NORMALIZED = "state = *state[:2], state[2] / state[1][..., None]"
SCORED = "scores = queries @"
MASK = "later = torch.arange(start, start + scores.shape[-1]) > place[:, None]"
CUT = "[first : first + tile_query, start : start + tile_key]"
BEGIN = "    contexts, logsumexps = [], []\n"
ALL_MASKED = "torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)"
TILED: list[Row] = [
    (
        "a softmax of each tile, added",
        {
            STEP: f"new = {STEP.removeprefix('state = ')}\n"
            "            part = scores.softmax(-1) @ value[..., start : start + tile_key, :]\n"
            "            state = new[0], new[1], state[2] + part",
            "contexts.append(output / total[..., None])": "contexts.append(output)",
        },
        "a softmax in each tile",
    ),
    (
        "a corner in each tile",
        {MASK: "later = torch.ones(scores.shape[-2:]).triu(1).bool()"},
        "places counted in the tile",
    ),
    ("ℓ along the features", {"total[..., None]": "total"}, "the sum not as a column"),
    (
        "queries detached after the first tile of keys",
        {SCORED: f"queries = queries.detach() if start else queries\n            {SCORED}"},
        REJECTED,
    ),
    ("all at once, unseen", TILES_ALL, "all at once"),
    (
        "the mask hides everything",
        {PLACE: PLACE.replace("n_key - n_query", "n_query - n_key")},
        "the offset upside down",
    ),
    (
        "normalized after each tile",
        {
            STEP: f"{STEP}\n            {NORMALIZED}",
            "contexts.append(output / total[..., None])": "contexts.append(output)",
        },
        "divided after each tile",
    ),
    (
        "normalized after each tile, and at the end",
        {STEP: f"{STEP}\n            {NORMALIZED}"},
        "divided after each tile",
    ),
    (
        "tile_key ignored",
        {"n_query, n_key = query": "tile_key = 16\n    n_query, n_key = query"},
        "a tile size ignored",
    ),
    (
        "tile_query for both",
        {"n_query, n_key = query": "tile_key = tile_query\n    n_query, n_key = query"},
        "tile sizes exchanged",
    ),
    (
        "tile sizes swapped",
        {
            "n_query, n_key = query": (
                "tile_query, tile_key = tile_key, tile_query\n    n_query, n_key = query"
            )
        },
        "tile sizes exchanged",
    ),
    (
        "no mask for a single query",
        {
            "if causal:\n": "if causal and n_query > 1:\n",
        },
        PASSES,
    ),
    (
        "float32 states",
        {
            STATE: "shape = queries.shape[:-1]\n        nothing = torch.zeros(shape)\n        "
            "state = nothing - torch.inf, nothing, torch.zeros(queries.shape)"
        },
        PASSES,
    ),
    (
        "numbers of tiles",
        {
            "    contexts, logsumexps = [], []\n": (
                "    tile_query = max(1, -(-query.shape[-2] // tile_query))\n"
                "    tile_key = max(1, -(-key.shape[-2] // tile_key))\n"
                "    contexts, logsumexps = [], []\n"
            )
        },
        "tile sizes taken for numbers of tiles",
    ),
]

WEIGHTS = "(scores - logsumexp[..., None]).exp()"
MEAN = "(d_context * context).sum(dim=-1, keepdim=True)"
BACKWARD: list[Row] = [
    (
        "the maximum for logsumexp",
        {WEIGHTS: "(scores - scores.amax(-1, keepdim=True)).exp()"},
        "the maximum for the logsumexp",
    ),
    (
        "a softmax of its own, by hand",
        {WEIGHTS: "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
        "a softmax of these keys",
    ),
    (
        "a softmax of its own, and its D",
        {
            WEIGHTS: "scores.softmax(dim=-1)",
            MEAN: "(attn_weights * d_weights).sum(-1, keepdim=True)",
        },
        "a softmax of these keys",
    ),
    ("D along the keys", {MEAN: "(d_context * context).sum(-1)"}, "D not as a column"),
    ("L along the keys", {"logsumexp[..., None]": "logsumexp"}, "logsumexp not as a column"),
    ("a softmax of its own", {WEIGHTS: "scores.softmax(dim=-1)"}, "a softmax of these keys"),
    ("exp minus L", {WEIGHTS: "scores.exp() - logsumexp[..., None]"}, "subtracted after exp"),
    (
        "exp over exp",
        {WEIGHTS: "scores.exp() / logsumexp[..., None].exp()"},
        "divided after exp",
    ),
    ("D over everything", {MEAN: "(d_context * context).sum()"}, "D over everything"),
    (
        "D over everything, dims",
        {MEAN: "(d_context * context).sum(dim=(-2, -1), keepdim=True)"},
        "D over everything",
    ),
    (
        "detached query",
        {"return d_scores @ key / root": "return (d_scores * 0) @ key / root"},
        "all_the_same",
    ),
    (
        "masked with a number",
        {"masked_fill(~keep, -torch.inf)": "masked_fill(~keep, -1e4)"},
        "holds_nan",
    ),
    (
        "by autograd",
        """
def attention_backward(query, key, value, context, logsumexp, d_context, causal=False):
    qkv = [x.detach().requires_grad_() for x in (query, key, value)]
    keep = None
    if causal:
        n_query, n_key = query.shape[-2], key.shape[-2]
        keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    with torch.enable_grad():
        result = attend(*qkv, keep)
    return torch.autograd.grad(result, qkv, d_context)
    """,
        "a softmax of these keys",
    ),
    (
        "float32 inside",
        {
            "    n_query, n_key, root = ": (
                "    query, key, value = query.float(), key.float(), value.float()\n"
                "    context, logsumexp = context.float(), logsumexp.float()\n"
                "    d_context = d_context.float()\n"
                "    n_query, n_key, root = "
            )
        },
        "wrong_dtype",
    ),
    (
        "the weights in float32",
        {
            "(scores - logsumexp[..., None]).exp()": (
                "(scores - logsumexp[..., None]).float().exp().to(query.dtype)"
            )
        },
        "too_few_digits",
    ),
]

FUNCTION: list[Row] = [
    ("only the last d_query", {"d_query[rows] =": "d_query ="}, "d_query of the last tile"),
    ("d_query of a tile for all", {"d_query[rows] =": "d_query +="}, "d_query added to all rows"),
    (
        "weights kept in a list",
        {
            "ctx.causal = causal": (
                "ctx.causal = causal\n"
                "        rows = query.split(64, -2)\n"
                "        ctx.weights = [(q @ key.transpose(-2, -1)).softmax(-1) for q in rows]"
            ),
        },
        "not_so",
    ),
    (
        "weights kept as NumPy",
        {
            "ctx.causal = causal": (
                "ctx.causal = causal\n"
                "        rows = query.split(64, -2)\n"
                "        ctx.weights = [(q @ key.transpose(-2, -1)).softmax(-1).numpy().copy() "
                "for q in rows]"
            ),
        },
        "not_so",
    ),
    (
        "weights saved",
        {
            "ctx.save_for_backward(query, key, value, context, logsumexp)\n": (
                "rows = query.split(64, -2)\n"
                "        weights = [(q @ key.transpose(-2, -1)).softmax(-1) for q in rows]\n"
                "        ctx.save_for_backward(query, key, value, context, logsumexp, *weights)\n"
            ),
            "= ctx.saved_tensors": "= ctx.saved_tensors[:5]",
        },
        "not_so",
    ),
    (
        "once_differentiable deleted",
        """
class TiledAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, causal=False):
        context, logsumexp = tiled_attention(query, key, value, causal, 64, 64)
        ctx.save_for_backward(query, key, value, context, logsumexp)
        ctx.causal = causal
        return context

    @staticmethod
    def backward(ctx, d_context):
        query, key, value, context, logsumexp = ctx.saved_tensors
        n_query, n_key = query.shape[-2], key.shape[-2]
        d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
        for first in range(0, n_query, 64):
            last = min(first + 64, n_query)
            rows = (..., slice(first, last), slice(None))
            seen = (..., slice(n_key - n_query + last if ctx.causal else n_key), slice(None))
            of_tile = query[rows], key[seen], value[seen], context[rows]
            lse = logsumexp[..., first:last]
            parts = attention_backward(*of_tile, lse, d_context[rows], ctx.causal)
            d_query[rows] = parts[0]
            d_key[seen] += parts[1]
            d_value[seen] += parts[2]
        return d_query, d_key, d_value, None
    """,
        "not_so",
    ),
    (
        "a zero gradient by hand",
        {"d_query[rows] = parts[0]": "d_query[rows] += 0 * parts[0]"},
        "a gradient never filled in",
    ),
    (
        "no gradient for the queries",
        {"return d_query, d_key": "return None, d_key"},
        "a gradient never filled in",
    ),
    (
        "dQ never filled in",
        {"            d_query[rows] = parts[0]\n": ""},
        "a gradient never filled in",
    ),
    (
        "tensors kept on the class",
        {
            "ctx.save_for_backward(query, key, value, context, logsumexp)": (
                "TiledAttention.kept = query, key, value, context, logsumexp"
            ),
            "ctx.saved_tensors": "TiledAttention.kept",
        },
        "kept on the class",
    ),
    (
        "d_context taken for ones",
        {"d_context[rows]": "torch.ones_like(context)[rows]"},
        "d_context ignored",
    ),
    (
        "always causal on the way back",
        {"ctx.causal = causal": "ctx.causal = True"},
        "always causal on the way back",
    ),
    (
        "only the first 64 queries",
        {"range(0, n_query, 64)": "[0]"},
        "the last queries dropped",
    ),
]

LATENT: list[Row] = [
    (
        "keys made, unseen",
        """
def latent_attention(query, latent, w_key, w_value):
    with torch._C.DisableTorchFunction():
        keys = torch.einsum("hdl,bnl->bhnd", w_key, latent)
        values = torch.einsum("hdl,bnl->bhnd", w_value, latent)
        scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
        return scores.softmax(-1) @ values
    """,
        "keys or values made",
    ),
    (
        "too large to exp",
        {"scores.softmax(dim=-1)": ("(scores.exp() / scores.exp().sum(-1, keepdim=True))")},
        "holds_nan",
    ),
]

ANSWERS: dict[str, list[Row]] = {
    "KVCache": KV_CACHE,
    "grouped_query_attention": GROUPED,
    "CachedSelfAttention": CACHED,
    "online_step": ONLINE,
    "tiled_attention": TILED,
    "attention_backward": BACKWARD,
    "TiledAttention": FUNCTION,
    "latent_attention": LATENT,
}


TRACKED = "ctx.save_for_backward(query, key, value, context, logsumexp)"
SEEN: list[Row] = [
    (
        "a mask for all pairs",
        {BEGIN: f"{BEGIN}    later_words = {ALL_MASKED}\n", MASK: f"later = later_words{CUT}"},
        "pairs",
    ),
    (
        "numbers as a mask for all pairs",
        {
            BEGIN: f"{BEGIN}    later_words = {ALL_MASKED}.float()\n",
            MASK: f"later = later_words{CUT}.bool()",
        },
        "pairs",
    ),
    (
        "tiles of all scores",
        {
            BEGIN: f"{BEGIN}    scored = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5\n",
            "scores = queries @ key[..., start : start + tile_key, :].transpose(-2, -1)": (
                f"scores = scored[..., {CUT[1:-1]}]"
            ),
        },
        "scores",
    ),
    (
        "attributes of ctx",
        {TRACKED: "ctx.saved = query, key, value, context, logsumexp", "saved_tensors": "saved"},
        "tracked",
    ),
    (
        "a function on ctx",
        {
            TRACKED: "ctx.get = lambda: (query, key, value, context, logsumexp)",
            "saved_tensors": "get()",
        },
        "tracked",
    ),
]


@pytest.mark.parametrize(("does", "code", "fact"), SEEN, ids=[row[0] for row in SEEN])
def test_a_card_says_what_was_too_large_or_kept_elsewhere(does, code, fact):
    verdict = verdict_on("TiledAttention" if fact == "tracked" else "tiled_attention", code)
    assert verdict.sentence == NOT_SO[fact]
    assert [aspect.held for aspect in verdict.aspects].count(False) == 1


def test_a_way_back_that_lacks_a_gradient_costs_nothing_else():
    verdict = verdict_on("TiledAttention", {"d_value, None": "d_value"})
    assert verdict.mistake == "three gradients"
    assert {aspect.name for aspect in verdict.aspects if not aspect.held} == {"backward"}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
