"""Lesson 2: query, key and value."""

import torch

from autograder.asking.arguments import StandIn
from autograder.exercises.slips import (
    CONTEXT,
    FROM_THE_LEFT,
    KEEPING,
    KEYS,
    RETURNED,
    SCALE,
    WEIGHTS,
    without,
)
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, Goal, Inputs, ModuleCase, drawn
from autograder.lessons.variants import Alternative, Mistake

# ---------------------------------------------------------------- project


project = Exercise(
    "project",
    returns="query key value",
    aspects=[
        Aspect("queries and keys", 1, outputs=("query", "key")),
        Aspect("values", 1, outputs=("value",)),
        Aspect("a batch of sentences", 1, [drawn("batch"), drawn("batch n_heads")]),
    ],
    mistakes=[
        Mistake(
            "key by the query's matrix",
            "Your keys are the queries again: you made them with `w_query`. Keys have their own "
            "matrix.",
            {"key = words @ w_key": "key = words @ w_query"},
        ),
        Mistake(
            "query by the key's matrix",
            "Your queries are the keys again: you made them with `w_key`. Queries have their own "
            "matrix.",
            {"query = words @ w_query": "query = words @ w_key"},
        ),
        Mistake(
            "query and key exchanged",
            "Queries and keys are right but swapped: the order is query, key, value.",
            {"return query, key, value": "return key, query, value"},
        ),
        Mistake(
            "value by the key's matrix",
            "Your values are the keys again. Values have their own matrix, `w_value`, and their "
            "own number of features.",
            {"words @ w_value": "words @ w_key"},
        ),
        Mistake(
            "words as values",
            "You returned the words themselves as values. Values are projected too.",
            {"value = words @ w_value": "value = words"},
        ),
        Mistake(
            "matrix transposed",
            "You multiplied by the transposed matrix (`F.linear` does that too). These "
            "matrices are [d_in, d_out] already: `x @ W`.",
            {
                "words @ w_query": "words @ w_query.T",
                "words @ w_key": "words @ w_key.T",
                "words @ w_value": "words @ w_value.T",
            },
        ),
        Mistake(
            "matrix on the left",
            "You put the matrix on the left. The words are rows, so they come first: `x @ W`.",
            {
                "words @ w_query": "w_query @ words",
                "words @ w_key": "w_key @ words",
                "words @ w_value": "w_value @ words",
            },
        ),
        Mistake(
            "words as columns",
            "The numbers are right, but your words have become columns. Each word should stay "
            "a row: [n, d_k].",
            "return w_query.T @ words.mT, w_key.T @ words.mT, w_value.T @ words.mT",
        ),
        Mistake(
            "elementwise product",
            "`*` multiplies element by element. A projection is a matrix product: `@`.",
            {"words @ w_query": "words * w_query"},
        ),
        Mistake(
            "one projection after the other",
            "You projected the query to get the key. Make all three from the words.",
            {"key = words @ w_key": "key = query @ w_key"},
        ),
        Mistake(
            "only one word",
            "You projected the first word only. The product projects all rows at once.",
            {"query = words": "words = words[..., 0, :]\n    query = words"},
        ),
        Mistake(
            "batch flattened",
            "The words of all sentences ended up in one long list. Leave the leading dimensions "
            "as they are: `@` can handle them.",
            {"query = words": "words = words.reshape(-1, w_key.shape[0])\n    query = words"},
        ),
        Mistake(
            "softmax already",
            "You applied softmax to the projections. Leave them as they are; softmax comes after "
            "the scores.",
            {"return query, key, value": "return query.softmax(-1), key.softmax(-1), value"},
        ),
        Mistake(
            "scaled already",
            "You divided the queries by √d_k. Scaling belongs to the scores, in the next exercise.",
            {"words @ w_query": "words @ w_query / w_query.shape[-1] ** 0.5"},
        ),
        Mistake(
            "query only",
            "You returned one tensor. Return all three: `return query, key, value`.",
            {"return query, key, value": "return query"},
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            query = torch.einsum("...i,ik->...k", words, w_query)
            key = torch.einsum("...i,ik->...k", words, w_key)
            value = torch.einsum("...i,iv->...v", words, w_value)
            return query, key, value
            """,
        ),
        Alternative(
            "one wide product, cut in three",
            """
            w_all = torch.cat([w_query, w_key, w_value], dim=1)
            sizes = [w.shape[1] for w in (w_query, w_key, w_value)]
            return (words @ w_all).split(sizes, dim=-1)
            """,
        ),
        Alternative(
            "F.linear and transposes",
            "return [F.linear(words, w.T) for w in (w_query, w_key, w_value)]",
        ),
        Alternative(
            "sums of products",
            """
            def times(w):
                return (words[..., None] * w).sum(dim=-2)

            return times(w_query), times(w_key), times(w_value)
            """,
        ),
    ],
    hints=[
        "One line for each of the three, and the words go into every one of them.",
        "Words are [n, d_in], the matrix is [d_in, d_k]. Which order puts the two d_in next to "
        "each other?",
        "Row i of the product of words and matrix is word i, projected. The same operator handles "
        "a batch: it leaves the leading dimensions alone.",
    ],
    excuses={
        "one wide product, cut in three / elements swapped: (w_query, w_key, w_value) → (w_key": (
            "both have d_k columns"
        ),
        "one wide product, cut in three / another argument: w_query → w_key in (w": ("likewise"),
        "one wide product, cut in three / another argument: w_key → w_query in (w": ("likewise"),
    },
)

# ---------------------------------------------------------------- scaled_scores


scaled_scores = Exercise(
    "scaled_scores",
    returns="attn_scores",
    aspects=[
        Aspect("every query with every key", 1),
        Aspect("a batch of sentences", 1, [drawn("batch")]),
        Aspect("two dimensions in front", 1, [drawn("batch n_heads")]),
    ],
    slips=[*SCALE, *KEYS, *FROM_THE_LEFT],
    mistakes=[
        Mistake(
            "divided by d_k",
            "Altogether you divided by d_k. Divide by its square root, once.",
            {"d_k**0.5": "d_k"},
            """
            d_k = key.shape[-1]
            return (query / d_k**0.5) @ (key / d_k**0.5).transpose(-2, -1)
            """,
        ),
        Mistake(
            "shape[1] of the query",
            "`shape[1]` is d_k for one sentence, but not in a batch, where another dimension comes "
            "second. `shape[-1]` is right for both.",
            {"key.shape[-1]": "query.shape[1]"},
        ),
        Mistake(
            "len(key)",
            "`len` of a tensor is its first dimension: the number of words, or of sentences. "
            "d_k is the last one.",
            {"key.shape[-1]": "len(query)"},
        ),
        Mistake(
            "sqrt of a Python number",
            "`torch.sqrt` takes a tensor, but d_k is a plain Python number. Use `d_k ** 0.5`.",
            {"d_k**0.5": "torch.sqrt(d_k)"},
        ),
        Mistake(
            "roles exchanged",
            "Your rows are keys and your columns are queries. Row i belongs to query i, so the "
            "query goes on the left.",
            {"query @ key.transpose": "key @ query.transpose"},
        ),
        Mistake(
            "elementwise product",
            "`*` pairs query 0 with key 0, query 1 with key 1. Here every query meets every key, "
            "which takes a matrix product.",
            {"query @ key.transpose(-2, -1)": "(query * key).sum(-1)"},
        ),
        Mistake(
            "sentences mixed",
            "You scored the words of all sentences against each other. Keep each sentence to "
            "itself.",
            {"query @ key.transpose(-2, -1)": "query.flatten(0, -2) @ key.flatten(0, -2).T"},
        ),
        Mistake(
            "cosine similarity",
            "You divided by the lengths of the vectors. That is cosine similarity; here, divide "
            "all scores by the same √d_k.",
            """
            unit_query = query / query.norm(dim=-1, keepdim=True)
            unit_key = key / key.norm(dim=-1, keepdim=True)
            return unit_query @ unit_key.transpose(-2, -1)
            """,
        ),
        Mistake(
            "softmax already",
            "You returned weights that sum to 1. This exercise wants the scores before softmax.",
            {"query @ key": "(query @ key", "d_k**0.5": "d_k**0.5).softmax(-1)"},
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            'return torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5',
        ),
        Alternative("query scaled first", "return (query * query.shape[-1] ** -0.5) @ key.mT"),
        Alternative(
            "fourth root on both sides",
            """
            root = query.shape[-1] ** 0.25
            return torch.matmul(query / root, (key / root).transpose(-1, -2))
            """,
        ),
        Alternative(
            "broadcast and add up",
            """
            pairs = query[..., :, None, :] * key[..., None, :, :]
            return pairs.sum(dim=-1) / torch.tensor(query.shape[-1]).sqrt()
            """,
        ),
        Alternative(
            "one sentence at a time",
            """
            if query.dim() > 2:
                pairs = zip(query, key, strict=True)
                return torch.stack([scaled_scores(q, k) for q, k in pairs])
            return query @ key.T / query.shape[1] ** 0.5
            """,
        ),
    ],
    hints=[
        "The rows of the result are queries and the columns are keys, so the keys have to become "
        "columns.",
        "`transpose` takes the two dimensions to swap. Negative numbers count from the right, so "
        "they mean the same with or without a batch.",
        "d_k is the size of the last dimension of query or key. For its square root, raise it to "
        "the power 0.5.",
    ],
    excuses={
        "another argument: key → query in d_k = key.shape[-1]": (
            "a query has as many features as a key"
        ),
        "einsum / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "query scaled first / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "fourth root on both sides / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "broadcast and add up / another argument: query → key in torch.tensor(query.shape[-1])": (
            "a query has as many features as a key"
        ),
        "one sentence at a time / another argument: query → key in query.dim()": (
            "both are batched or neither"
        ),
        "one sentence at a time / another argument: query → key in query.shape[1]": (
            "a query has as many features as a key"
        ),
    },
)

# ---------------------------------------------------------------- scaled_dot_product_attention


def large_scores(draw: Draw) -> dict:
    """All scores are large, and alike enough that softmax does not saturate."""
    large = {name: draw.normal(f"n_{name} d_k", 0.2) + 9 for name in ("query", "key")}
    return draw.arguments(**large)


KEY_BY_QUERY = (
    "Your weights meet the values as [n_key, n_query], and the shapes don't match. Rows are "
    "queries: put the query on the left in the scores, and use the weights as they are in the sum."
)
SOFTMAX = "torch.softmax(attn_scores, dim=-1)"

scaled_dot_product_attention = Exercise(
    "scaled_dot_product_attention",
    returns="context attn_weights",
    forbidden=("scaled_dot_product_attention",),
    aspects=[
        Aspect("the weights", 2, outputs=("attn_weights",)),
        Aspect("the context vectors", 1, outputs=("context",)),
        Aspect("a batch of sentences", 1, [drawn("batch"), drawn("batch n_heads")]),
        Aspect("scores above 100", 1, [large_scores, drawn(scale=12)]),
    ],
    slips=without(
        [*SCALE, *KEYS, *FROM_THE_LEFT, *WEIGHTS, *CONTEXT, *RETURNED],
        "weights transposed in the sum",
    ),
    mistakes=[
        Mistake(
            "scaled after softmax",
            "You divided after softmax, so each row of weights sums to 1/√d_k. Divide the scores "
            "instead.",
            {" / d_k**0.5": "", SOFTMAX: f"{SOFTMAX} / d_k**0.5"},
        ),
        Mistake(
            "hard attention",
            "Each query gave all its weight to one key. Softmax gives every key a share.",
            {SOFTMAX: "(attn_scores == attn_scores.amax(-1, keepdim=True)).to(query.dtype)"},
        ),
        Mistake(
            "query and key exchanged",
            KEY_BY_QUERY,
            {"query @ key.transpose": "key @ query.transpose"},
            {"attn_weights @ value": "attn_weights.transpose(-2, -1) @ value"},
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            attn_scores = torch.einsum("...qd,...kd->...qk", query, key) / key.shape[-1] ** 0.5
            attn_weights = attn_scores.softmax(-1)
            return torch.einsum("...qk,...kv->...qv", attn_weights, value), attn_weights
            """,
        ),
        Alternative(
            "a softmax of one's own",
            """
            attn_scores = (query / query.shape[-1] ** 0.5) @ key.mT
            exps = (attn_scores - attn_scores.amax(-1, keepdim=True)).exp()
            return exps @ value / exps.sum(-1, keepdim=True), exps / exps.sum(-1, keepdim=True)
            """,
        ),
        Alternative(
            "log-sum-exp and powers of two",
            """
            # 2 ** (x * log2(e)) is e ** x; as fast kernels do it
            bits = query @ key.mT * (1.4426950408889634 / query.shape[-1] ** 0.5)
            top = bits.amax(-1, keepdim=True)
            logs = top + (bits - top).exp2().sum(-1, keepdim=True).log2()
            attn_weights = (bits - logs).exp2()
            return attn_weights @ value, attn_weights
            """,
        ),
        Alternative(
            "one query at a time",
            """
            rows, contexts = [], []
            for i in range(query.shape[-2]):
                row = (query[..., i : i + 1, :] * key).sum(-1) / key.shape[-1] ** 0.5
                row = torch.softmax(row, dim=-1)
                rows.append(row)
                contexts.append((row[..., None] * value).sum(-2))
            return torch.stack(contexts, dim=-2), torch.stack(rows, dim=-2)
            """,
        ),
        Alternative(
            "F.softmax and matmul",
            """
            scale = torch.tensor(query.size(-1), dtype=query.dtype).rsqrt()
            attn_weights = F.softmax(torch.matmul(query, key.mT) * scale, dim=-1)
            return torch.matmul(attn_weights, value), attn_weights
            """,
        ),
    ],
    hints=[
        "Three steps: scaled scores, softmax, weighted sum. Only the last one needs the values.",
        "Which dimension of the scores holds the keys? Count from the right.",
        "Weights are [n_query, n_key] and values [n_key, d_v]: one matrix product adds the values "
        "up for every query.",
    ],
    excuses={
        "another argument: key → query in d_k = key.shape[-1]": (
            "a query has as many features as a key"
        ),
        "einsum / another argument: key → query in key.shape[-1]": (
            "a query has as many features as a key"
        ),
        "a softmax of one's own / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "log-sum-exp and powers of two / another argument: query → key in query.shape[-1]": (
            "a query has as many features as a key"
        ),
        "one query at a time / another argument: key → query in key.shape[-1]": (
            "a query has as many features as a key"
        ),
        "F.softmax and matmul / keyword dropped: torch.tensor(query.size(-1), dtype=": (
            "the root of a whole number is nearly the same in float32"
        ),
        "F.softmax and matmul / another argument: query → key in query.size(-1)": (
            "a query has as many features as a key"
        ),
        "F.softmax and matmul / another argument: query → key in dtype=": (
            "all three have one dtype"
        ),
        "F.softmax and matmul / another argument: query → value in dtype=": (
            "all three have one dtype"
        ),
    },
)

# ---------------------------------------------------------------- SelfAttention


def self_attention(
    dims: str, own_parameters: bool = False, scale: float = 1.0, **sizes: int
) -> Inputs:
    """A case: the module built with sizes that all differ, called on words of shape `dims`."""

    def case(draw: Draw) -> ModuleCase:
        build = draw.fix(**sizes).named("d_in d_k d_v")
        # Parameters from 0 to 1 would saturate on larger words, and hide a wrong scale.
        size = 0.4 if own_parameters else scale
        return ModuleCase(build, {"words": draw.normal(dims, size)}, own_parameters)

    return case


KEYS_ADDED_UP = (
    "The weights are right, but you added up the keys. Values come from a projection of their own."
)
# Mistakes that both modules can hold: in what comes after the projections.
EINSUM = Alternative(
    "einsum",
    {
        "query @ key.transpose(-2, -1)": 'torch.einsum("...qd,...kd->...qk", query, key)',
        "return attn_weights @ value": (
            'return torch.einsum("...qk,...kv->...qv", attn_weights, value)'
        ),
    },
)
IN_A_MODULE = without([*SCALE, *KEYS, *FROM_THE_LEFT, *WEIGHTS, *CONTEXT, *KEEPING], "not stable")
AFTER_THE_PROJECTIONS = [
    Mistake(
        "query and key exchanged",
        "Your scores are transposed: row i should belong to query i. Put the query on the left.",
        {"query @ key.transpose": "key @ query.transpose"},
    ),
    Mistake("key as value", KEYS_ADDED_UP, {"attn_weights @ value": "attn_weights @ key"}),
    Mistake(
        "detached too early",
        "You detached the weights before making the context, so no gradient reaches queries and "
        "keys. Detach only the copy you keep.",
        {SOFTMAX: f"{SOFTMAX}.detach()", "= attn_weights.detach()": "= attn_weights"},
    ),
    Mistake(
        "no gradients at all",
        "The context is cut off from the parameters, by `no_grad` or a `detach`, so nothing can be "
        "learned. Detach only the weights you keep.",
        {"    def forward": "    @torch.no_grad()\n    def forward"},
    ),
    Mistake(
        "context and weights returned",
        "`forward` returned two things. Return only the context, and keep the weights as an "
        "attribute.",
        {"return attn_weights @ value": "return attn_weights @ value, attn_weights"},
    ),
]

NEW_QUERY = "self.w_query = nn.Parameter(torch.rand(d_in, d_k))"
NEW_KEY = "self.w_key = nn.Parameter(torch.rand(d_in, d_k))"
NEW_VALUE = "self.w_value = nn.Parameter(torch.rand(d_in, d_v))"

SelfAttention = Exercise(
    "SelfAttention",
    returns="context",
    keeps="attn_weights",
    keeps_detached=True,
    aspects=[
        Aspect("the context vectors", 1, [self_attention("n d_in")], outputs=("context",)),
        Aspect("the weights it keeps", 1, [self_attention("n d_in")], outputs=("attn_weights",)),
        Aspect(
            "a batch of sentences",
            1,
            [
                self_attention("batch n d_in"),
                self_attention("batch n d_in", scale=12),
                self_attention("batch n_heads n d_in"),
                self_attention("n_sentences n d_in", n_sentences=1),
            ],
        ),
        Aspect(
            "random numbers in the stated order", 1, [self_attention("n d_in", own_parameters=True)]
        ),
        Aspect("gradients", 1, [self_attention("n d_in")], gradients=True),
    ],
    slips=IN_A_MODULE,
    mistakes=[
        *AFTER_THE_PROJECTIONS,
        Mistake(
            "plain tensors",
            "The module has no parameters: a plain tensor is not learned. Wrap each one in "
            "`nn.Parameter`.",
            {
                NEW_QUERY: "self.w_query = torch.rand(d_in, d_k)",
                NEW_KEY: "self.w_key = torch.rand(d_in, d_k)",
                NEW_VALUE: "self.w_value = torch.rand(d_in, d_v)",
            },
        ),
        Mistake(
            "parameters without self",
            "The module has no `w_query`. Make each parameter an attribute: `self.w_query = "
            "nn.Parameter(…)`.",
            {
                NEW_QUERY: NEW_QUERY.removeprefix("self."),
                NEW_KEY: NEW_KEY.removeprefix("self."),
                NEW_VALUE: NEW_VALUE.removeprefix("self."),
            },
        ),
        Mistake(
            "nn.Linear already",
            "You used `nn.Linear`, which comes in the next exercise. Here the parameters are "
            "plain matrices, `nn.Parameter(torch.rand(…))`.",
            {
                NEW_QUERY: "self.w_query = nn.Linear(d_in, d_k, bias=False)",
                NEW_KEY: "self.w_key = nn.Linear(d_in, d_k, bias=False)",
                NEW_VALUE: "self.w_value = nn.Linear(d_in, d_v, bias=False)",
                "words @ self.w_query": "self.w_query(words)",
                "words @ self.w_key": "self.w_key(words)",
                "words @ self.w_value": "self.w_value(words)",
            },
        ),
        Mistake(
            "matrices the other way round",
            "Your matrices are [d_out, d_in]. This exercise uses `x @ W`, so make them [d_in, "
            "d_out].",
            {
                NEW_QUERY: "self.w_query = nn.Parameter(torch.rand(d_k, d_in))",
                NEW_KEY: "self.w_key = nn.Parameter(torch.rand(d_k, d_in))",
                NEW_VALUE: "self.w_value = nn.Parameter(torch.rand(d_v, d_in))",
                "words @ self.w_query": "words @ self.w_query.T",
                "words @ self.w_key": "words @ self.w_key.T",
                "words @ self.w_value": "words @ self.w_value.T",
            },
        ),
        Mistake(
            "d_k features for values",
            "Your `w_value` makes d_k features. Values have their own number of features, d_v.",
            {NEW_VALUE: "self.w_value = nn.Parameter(torch.rand(d_in, d_k))"},
        ),
        Mistake(
            "one matrix for query and key",
            "Query and key share one matrix, so each word looks for words like itself, as in "
            "lesson 1. Give each its own parameter.",
            {NEW_KEY: "self.w_key = self.w_query"},
        ),
        Mistake(
            "drawn in another order",
            "You drew the parameters in an order other than query, key, value, so the same seed "
            "gives different numbers.",
            {f"{NEW_QUERY}\n        {NEW_KEY}": f"{NEW_KEY}\n        {NEW_QUERY}"},
            {f"{NEW_KEY}\n        {NEW_VALUE}": f"{NEW_VALUE}\n        {NEW_KEY}"},
            {
                f"{NEW_QUERY}\n        {NEW_KEY}\n        {NEW_VALUE}": (
                    f"{NEW_VALUE}\n        {NEW_KEY}\n        {NEW_QUERY}"
                )
            },
        ),
        Mistake(
            "torch.randn",
            "You drew the parameters with `torch.randn`. This exercise wants `torch.rand`: "
            "numbers from 0 to 1.",
            {
                NEW_QUERY: "self.w_query = nn.Parameter(torch.randn(d_in, d_k))",
                NEW_KEY: "self.w_key = nn.Parameter(torch.randn(d_in, d_k))",
                NEW_VALUE: "self.w_value = nn.Parameter(torch.randn(d_in, d_v))",
            },
        ),
        Mistake(
            "parameters of zeros",
            "The parameters start as zeros, so all words are alike. Draw them with `torch.rand`.",
            {
                NEW_QUERY: "self.w_query = nn.Parameter(torch.zeros(d_in, d_k))",
                NEW_KEY: "self.w_key = nn.Parameter(torch.zeros(d_in, d_k))",
                NEW_VALUE: "self.w_value = nn.Parameter(torch.zeros(d_in, d_v))",
            },
        ),
        Mistake(
            "seed set inside",
            "`__init__` sets a seed of its own, so two modules always start alike. Leave the "
            "seed to the caller.",
            {NEW_QUERY: f"torch.manual_seed(123)\n        {NEW_QUERY}"},
        ),
        Mistake(
            "not to be learned",
            "A parameter has `requires_grad=False`, so it is never learned.",
            {NEW_KEY: NEW_KEY[:-1] + ", requires_grad=False)"},
        ),
        Mistake(
            ".data",
            "`.data` hides a parameter from the gradient, so it is never learned. Use the "
            "parameter itself.",
            {"words @ self.w_key": "words @ self.w_key.data"},
        ),
        Mistake(
            "key by the query's matrix",
            "You made the keys with `w_query` instead of `w_key`.",
            {"words @ self.w_key": "words @ self.w_query"},
        ),
        Mistake(
            "value by the key's matrix",
            KEYS_ADDED_UP,
            {"words @ self.w_value": "words @ self.w_key"},
        ),
    ],
    alternatives=[
        EINSUM,
        Alternative(
            "torch's own attention, weights by a softmax",
            {
                "return attn_weights @ value": (
                    "return F.scaled_dot_product_attention(query, key, value)"
                )
            },
        ),
        Alternative(
            "query scaled first, d_k remembered",
            {
                NEW_QUERY: f"self.scale = d_k**-0.5\n        {NEW_QUERY}",
                "query = words @ self.w_query": "query = words @ self.w_query * self.scale",
                "query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5": "query @ key.mT",
                SOFTMAX: "(attn_scores - attn_scores.logsumexp(-1, keepdim=True)).exp()",
            },
        ),
    ],
    hints=[
        "`__init__` only makes the three parameters; everything that uses `words` belongs in "
        "`forward(self, words)`, as in `Stretch` above.",
        "The shapes: two matrices of [d_in, d_k] and one of [d_in, d_v]. Then `forward` is "
        "`project` and `scaled_dot_product_attention` in one, with `self.` before the matrices.",
        "Keep a detached copy as `self.attn_weights`, and use the weights themselves for the "
        "context: otherwise no gradient reaches queries and keys.",
    ],
)

# ---------------------------------------------------------------- LinearSelfAttention

QUERY_LAYER = "self.query = nn.Linear(d_in, d_k, bias=False)"
KEY_LAYER = "self.key = nn.Linear(d_in, d_k, bias=False)"
VALUE_LAYER = "self.value = nn.Linear(d_in, d_v, bias=False)"
NO_LAYERS = (
    "The module has no parameters. PyTorch doesn't find layers in a plain list or dict, or layers "
    "made in `forward`: make each one an attribute in `__init__`, `self.query = …`."
)
PROJECTED = "query, key, value = self.query(words), self.key(words), self.value(words)"

LinearSelfAttention = Exercise(
    "LinearSelfAttention",
    returns="context",
    keeps="attn_weights",
    keeps_detached=True,
    aspects=[
        Aspect("the context vectors", 1, [self_attention("n d_in")], outputs=("context",)),
        Aspect("the weights it keeps", 1, [self_attention("n d_in")], outputs=("attn_weights",)),
        Aspect(
            "a batch of sentences",
            1,
            [
                self_attention("batch n d_in"),
                self_attention("batch n d_in", scale=12),
                self_attention("batch n_heads n d_in"),
                self_attention("n_sentences n d_in", n_sentences=1),
            ],
        ),
        Aspect("gradients", 1, [self_attention("n d_in")], gradients=True),
    ],
    slips=IN_A_MODULE,
    mistakes=[
        *AFTER_THE_PROJECTIONS,
        Mistake(
            "biases",
            "Your layers have a bias. Switch it off with `bias=False`, so that they do the "
            "same as `x @ W`.",
            {
                QUERY_LAYER: "self.query = nn.Linear(d_in, d_k)",
                KEY_LAYER: "self.key = nn.Linear(d_in, d_k)",
                VALUE_LAYER: "self.value = nn.Linear(d_in, d_v)",
            },
        ),
        Mistake(
            "sizes exchanged",
            "The sizes of your layers are swapped. `nn.Linear` takes what goes in first, then "
            "what comes out; only its weight is stored the other way around.",
            {
                QUERY_LAYER: "self.query = nn.Linear(d_k, d_in, bias=False)",
                KEY_LAYER: "self.key = nn.Linear(d_k, d_in, bias=False)",
                VALUE_LAYER: "self.value = nn.Linear(d_v, d_in, bias=False)",
            },
        ),
        Mistake(
            "d_k features for values",
            "Your `value` makes d_k features. Values have their own number of features, d_v.",
            {VALUE_LAYER: "self.value = nn.Linear(d_in, d_k, bias=False)"},
        ),
        Mistake(
            "other names",
            "Your layers still have the names of the earlier parameters, `w_query` and so on. "
            "Call them `query`, `key` and `value`.",
            {
                "self.query = nn": "self.w_query = nn",
                "self.key = nn": "self.w_key = nn",
                "self.value = nn": "self.w_value = nn",
                PROJECTED: "query, key, value = "
                "self.w_query(words), self.w_key(words), self.w_value(words)",
            },
        ),
        Mistake(
            "layers in a dict",
            NO_LAYERS,
            {
                QUERY_LAYER: 'self.layers = {"query": nn.Linear(d_in, d_k, bias=False)}',
                KEY_LAYER: 'self.layers["key"] = nn.Linear(d_in, d_k, bias=False)',
                VALUE_LAYER: 'self.layers["value"] = nn.Linear(d_in, d_v, bias=False)',
                PROJECTED: "query, key, value = [layer(words) for layer in self.layers.values()]",
            },
            {
                QUERY_LAYER: "self.d_k, self.d_v = d_k, d_v",
                KEY_LAYER: "self.d_in = d_in",
                VALUE_LAYER: "pass",
                PROJECTED: "query = nn.Linear(self.d_in, self.d_k, bias=False)(words)\n"
                "        key = nn.Linear(self.d_in, self.d_k, bias=False)(words)\n"
                "        value = nn.Linear(self.d_in, self.d_v, bias=False)(words)",
            },
        ),
        Mistake(
            "one layer for query and key",
            "Query and key share one layer, so each word looks for words like itself, as in "
            "lesson 1. Give each its own layer.",
            {KEY_LAYER: "self.key = self.query"},
        ),
        Mistake(
            "weight without transpose",
            "The shapes in `words @ self.query.weight` don't match: `nn.Linear` keeps its weight "
            "as [d_out, d_in]. Call the layer, `self.query(words)`, and it transposes for you.",
            {
                PROJECTED: "query = words @ self.query.weight\n"
                "        key = words @ self.key.weight\n"
                "        value = words @ self.value.weight"
            },
        ),
        Mistake(
            "one projection after the other",
            "You projected the query to get the key. Make all three from the words.",
            {PROJECTED: "query = self.query(words); key = self.key(query); value = words"},
        ),
        Mistake(
            "key by the query's layer",
            "Your keys are your queries. Make the keys with the layer `key`, and compare the "
            "queries with those.",
            {"self.key(words)": "self.query(words)"},
        ),
        Mistake(
            "value by the key's layer", KEYS_ADDED_UP, {"self.value(words)": "self.key(words)"}
        ),
    ],
    alternatives=[
        EINSUM,
        Alternative(
            "weights taken out and transposed",
            {
                PROJECTED: "query = words @ self.query.weight.T\n"
                "        key = F.linear(words, self.key.weight)\n"
                "        value = words @ self.value.weight.mT"
            },
        ),
        Alternative(
            "layers in another order",
            {f"{QUERY_LAYER}\n        {KEY_LAYER}": f"{KEY_LAYER}\n        {QUERY_LAYER}"},
        ),
        Alternative(
            "a softmax of one's own",
            {
                SOFTMAX: "(attn_scores - attn_scores.amax(-1, keepdim=True)).exp()\n"
                "        attn_weights = attn_weights / attn_weights.sum(-1, keepdim=True)"
            },
        ),
    ],
    hints=[
        "Only the projections differ from `SelfAttention`: make three layers in `__init__`, and "
        "call each one on the words in `forward`.",
        "`nn.Linear(a, b)` takes the number of features that go in, then the number that come out. "
        "It has a bias unless you say no.",
        "Call a layer like a function, on the words. It works on the last dimension, so a batch "
        "needs nothing special.",
    ],
)

# ---------------------------------------------------------------- copy_projections


def two_modules(draw: Draw) -> dict:
    sizes = draw.named("d_in d_k d_v").items()
    draw.label("modules of " + ", ".join(f"{name} = {size}" for name, size in sizes))
    return {
        "source": StandIn(
            {
                "w_query": draw.normal("d_in d_k"),
                "w_key": draw.normal("d_in d_k"),
                "w_value": draw.normal("d_in d_v"),
            }
        ),
        "target": StandIn(
            {
                "query.weight": draw.normal("d_k d_in"),
                "key.weight": draw.normal("d_k d_in"),
                "value.weight": draw.normal("d_v d_in"),
            }
        ),
    }


SOURCE = ("source.w_query", "source.w_key", "source.w_value")

copy_projections = Exercise(
    "copy_projections",
    returns="",
    reads="target source",
    also=(),
    aspects=[
        Aspect(
            "queries and keys",
            1,
            [two_modules],
            outputs=("target.query.weight", "target.key.weight", *SOURCE),
        ),
        Aspect("values", 1, [two_modules], outputs=("target.value.weight", *SOURCE)),
    ],
    mistakes=[
        Mistake(
            "no transpose",
            "The shapes don't match: `source` keeps [d_in, d_out], `nn.Linear` keeps [d_out, "
            "d_in]. Transpose.",
            {
                "source.w_query.T": "source.w_query",
                "source.w_key.T": "source.w_key",
                "source.w_value.T": "source.w_value",
            },
        ),
        Mistake(
            "reshaped instead of transposed",
            "The shape is right, but the numbers are scrambled: `reshape` (or `view`) keeps them "
            "in reading order; it doesn't turn rows into columns. Use `.T`.",
            {
                "source.w_query.T": "source.w_query.reshape(target.query.weight.shape)",
                "source.w_key.T": "source.w_key.reshape(target.key.weight.shape)",
                "source.w_value.T": "source.w_value.reshape(target.value.weight.shape)",
            },
        ),
        Mistake(
            "untransposed parameter assigned",
            "You gave `nn.Linear` a weight of [d_in, d_out]. It keeps [d_out, d_in]: transpose.",
            """
            target.query.weight = nn.Parameter(source.w_query.clone())
            target.key.weight = nn.Parameter(source.w_key.clone())
            target.value.weight = nn.Parameter(source.w_value.clone())
            """,
        ),
        Mistake(
            "wrong direction",
            "You copied from target to source. Go the other way: the numbers of `source` are the "
            "ones to keep.",
            """
            with torch.no_grad():
                source.w_query.copy_(target.query.weight.T)
                source.w_key.copy_(target.key.weight.T)
                source.w_value.copy_(target.value.weight.T)
            """,
        ),
        Mistake(
            "gradients recorded",
            "You can't change a parameter in place while gradients are recorded. Copy inside "
            "`with torch.no_grad():`.",
            """
            target.query.weight.copy_(source.w_query.T)
            target.key.weight.copy_(source.w_key.T)
            target.value.weight.copy_(source.w_value.T)
            """,
        ),
        Mistake(
            "a plain tensor assigned",
            "`weight = …` takes an `nn.Parameter`, not a plain tensor. Write into the existing "
            "parameter: `weight.copy_(…)`.",
            """
            target.query.weight = source.w_query.T
            target.key.weight = source.w_key.T
            target.value.weight = source.w_value.T
            """,
        ),
        Mistake(
            "memory shared",
            "Both modules now share the same numbers in memory, so training one changes the other: "
            "neither `.T` nor `nn.Parameter(…)` copies any. Use `copy_`.",
            """
            target.query.weight = nn.Parameter(source.w_query.T)
            target.key.weight = nn.Parameter(source.w_key.T)
            target.value.weight = nn.Parameter(source.w_value.T)
            """,
        ),
        Mistake(
            ".weight forgotten",
            "`target.query` is a layer; its matrix is `target.query.weight`.",
            {
                "target.query.weight": "target.query",
                "target.key.weight": "target.key",
                "target.value.weight": "target.value",
            },
        ),
        Mistake(
            "the layer replaced",
            "You replaced the layer with a tensor. Write into the layer's `weight` instead.",
            """
            target.query = source.w_query.T
            target.key = source.w_key.T
            target.value = source.w_value.T
            """,
        ),
        Mistake(
            "nothing arrives",
            "`target` hasn't changed. `name = …` only gives a tensor another name; to write into "
            "one, use `copy_`. And `strict=False` skips every name that doesn't match.",
            """
            query, key, value = target.query.weight, target.key.weight, target.value.weight
            query = source.w_query.T
            key = source.w_key.T
            value = source.w_value.T
            """,
        ),
        Mistake(
            "query and key exchanged",
            "Query and key are swapped: `w_query` goes into `query`.",
            {
                "target.query.weight": "target.key_.weight",
                "target.key.weight": "target.query.weight",
                "target.key_.weight": "target.key.weight",
            },
        ),
        Mistake(
            "query copied into key as well",
            "`w_query` went into both `query` and `key`. `key` should get `w_key`.",
            {"source.w_key.T": "source.w_query.T"},
        ),
        Mistake(
            "key forgotten",
            "You copied `query` and `value`, but not `key`.",
            {"        target.key.weight.copy_(source.w_key.T)\n": ""},
        ),
        Mistake(
            "value forgotten",
            "You copied `query` and `key`, but not `value`.",
            {"        target.value.weight.copy_(source.w_value.T)\n": ""},
        ),
        Mistake(
            "only the query",
            "You copied only `query`, not `key` and `value`.",
            """
            with torch.no_grad():
                target.query.weight.copy_(source.w_query.T)
            """,
        ),
        Mistake(
            "added instead of copied",
            "You added to the old numbers. Overwrite them with `copy_`.",
            """
            with torch.no_grad():
                target.query.weight += source.w_query.T
                target.key.weight += source.w_key.T
                target.value.weight += source.w_value.T
            """,
        ),
        Mistake(
            "load_state_dict as it is",
            "The two modules name and orient their parameters differently, so you can't load "
            "one's state into the other as it is. Copy the three matrices, transposed.",
            "target.load_state_dict(source.state_dict())",
        ),
    ],
    alternatives=[
        Alternative(
            "through .data",
            """
            for name in ("query", "key", "value"):
                getattr(target, name).weight.data.copy_(getattr(source, f"w_{name}").data.T)
            """,
        ),
        Alternative(
            "new parameters",
            """
            target.query.weight = nn.Parameter(source.w_query.T.clone().detach())
            target.key.weight = nn.Parameter(source.w_key.T.clone().detach())
            target.value.weight = nn.Parameter(source.w_value.T.clone().detach())
            """,
        ),
        Alternative(
            "a translated state",
            """
            state = {f"{name[2:]}.weight": w.T for name, w in source.state_dict().items()}
            target.load_state_dict(state)
            """,
        ),
        Alternative(
            "slice by slice",
            """
            with torch.no_grad():
                target.query.weight[:] = source.w_query.permute(1, 0)
                target.key.weight[...] = source.w_key.transpose(0, 1)
                for i in range(source.w_value.shape[1]):
                    target.value.weight[i] = source.w_value[:, i]
            """,
        ),
    ],
    hints=[
        "Three matrices, three copies: `w_query` into the weight of the layer `query`, and so on.",
        "The source's matrices are [d_in, d_out]. What shape is the weight of an `nn.Linear`?",
        "Write into a weight with its `copy_`, with gradients switched off, as we did with "
        "`stretch.factor` above.",
    ],
    excuses={
        "through .data / elements swapped: ('query', 'key', 'value') →": (
            "each is copied, in any order"
        ),
        "new parameters / call dropped: source.w_": "`nn.Parameter` takes the values only",
        "new parameters / detached: $X": "likewise",
    },
)

# ---------------------------------------------------------------- find_the_ball


WORDS = {"noun": 0, "verb": 1, "pronoun": 2}
LOOKS_FOR = {"pronoun": "noun", "verb": "pronoun"}
MOST_MISSING = 0.05  # of the weight that a word should give to the one it looks for


def sentence(*kinds: str) -> Inputs:
    """Make a sentence of words of these kinds, and the weights that are wanted."""

    def case(draw: Draw) -> Goal:
        draw.label(", ".join(kinds))
        words, weights = torch.zeros(len(kinds), 4), torch.full((len(kinds),) * 2, 1 / len(kinds))
        words[:, 3] = (draw.normal_of((len(kinds),)) > 0).float()
        for place, kind in enumerate(kinds):
            if kind in WORDS:
                words[place, WORDS[kind]] = 1.0
            if kind in LOOKS_FOR:
                weights[place] = torch.eye(len(kinds))[kinds.index(LOOKS_FOR[kind])]
        looking = sum(kind in LOOKS_FOR for kind in kinds)
        most_error = looking * 2 * MOST_MISSING**2 / weights.numel()  # all of it on one other word
        return Goal({"words": words}, {"attn_weights": weights}, most_error)

    return case


find_the_ball = Exercise(
    "find_the_ball",
    challenge=True,
    returns="attn_weights",
    also=(),
    aspects=[
        Aspect("“The ball rolled until it stopped”", 1, [sentence("noun", "verb", "pronoun")]),
        Aspect(
            "other sentences",
            1,
            [
                sentence("verb", "pronoun", "noun"),
                sentence("other", "noun", "other", "pronoun", "verb"),
                sentence("verb", "noun", "pronoun", "verb", "other", "other"),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "too quiet",
            "Your words look the right way, but the lead is too small: softmax leaves the other "
            "words more than 0.05, and even more in longer sentences. Make one projection larger.",
            {"loud = 8.0": "loud = 1.0"},
            {"loud = 8.0": "loud = 2.0"},
            {"loud = 8.0": "loud = 4.0"},
            {"loud = 8.0": "loud = 5.0"},
            {"loud = 8.0": "loud = 6.0"},
        ),
        Mistake(
            "query and key exchanged",
            "The noun finds the pronoun instead of being found. The query says what a word looks "
            "for; the key says what it can be found by.",
            {"(words @ w_query) @ (words @ w_key).T": "(words @ w_key) @ (words @ w_query).T"},
        ),
        Mistake(
            "the verb finds the noun",
            "Your verb looks at the noun. It should look at the pronoun: give the pronoun a "
            "feature of its own.",
            {"[0.0, loud]": "[loud, 0.0]"},
        ),
        Mistake(
            "the noun looks too",
            "Your noun looks for something. Its row of the query projection should be all zeros.",
            {"[[0.0, 0.0], [0.0, loud]": "[[loud, loud], [0.0, loud]"},
            {"[[0.0, 0.0], [0.0, loud]": "[[loud, 0.0], [0.0, loud]"},
            {"[[0.0, 0.0], [0.0, loud]": "[[0.0, loud], [0.0, loud]"},
        ),
        Mistake(
            "round things are found",
            "Your words look for what is round. A noun doesn't have to be: keep the fourth row at "
            "zero.",
            {"[0.0, 1.0], [0.0, 0.0]]": "[0.0, 1.0], [1.0, 0.0]]"},
            {
                "w_key = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])": (
                    "w_key = torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])"
                )
            },
        ),
        Mistake(
            "by place",
            "This works on “ball, rolled, it”, but not when the words come in another order. Make "
            "the weights from `words`: words → queries and keys → scores.",
            "return torch.eye(len(words))[[0, 2, 0, *range(3, len(words))]]",
        ),
        Mistake(
            "columns instead of rows",
            "Your columns sum to 1. Each query shares out its attention over the keys: softmax "
            "along the last dimension.",
            {"dim=-1": "dim=0"},
        ),
    ],
    alternatives=[
        Alternative(
            "louder keys",
            """
            w_query, w_key = words.new_zeros(4, 2), words.new_zeros(4, 2)
            w_query[2, 0] = w_query[1, 1] = 1.0
            w_key[0, 0] = w_key[2, 1] = 12.0
            return torch.softmax(words @ w_query @ w_key.T @ words.T / 2**0.5, dim=-1)
            """,
        ),
        Alternative(
            "the other way to number the features",
            """
            noun, verb, pronoun, _ = words.T
            query = torch.stack([9 * verb, 9 * pronoun], dim=1)
            key = torch.stack([pronoun, noun], dim=1)
            return (query @ key.T / 2**0.5).softmax(-1)
            """,
        ),
        Alternative(
            "opposites push away",
            """
            noun, verb, pronoun, _ = words.T
            query = torch.stack([verb + pronoun, pronoun - verb], dim=1)
            key = torch.stack([noun + pronoun, noun - pronoun], dim=1)
            return torch.softmax(7 * query @ key.T / 2**0.5, dim=-1)
            """,
        ),
    ],
    hints=[
        "Let the first feature be about nouns: a noun's key has a 1 there, and whoever looks for "
        "a noun has something there too. The second feature is about pronouns.",
        "Row 2 of the query projection is what a pronoun looks for, row 1 what a verb looks for. "
        "The rows of the key projection say who offers it: row 0 a noun, row 2 a pronoun.",
        "With a 1 in each place, the lead is too small. How loud must a query be for e^(score/√2) "
        "to be 19 times the sum of the others?",
    ],
)

EXERCISES = (
    project,
    scaled_scores,
    scaled_dot_product_attention,
    SelfAttention,
    LinearSelfAttention,
    copy_projections,
    find_the_ball,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "it_looks_at",
        right="itself",
        choices={
            "“ball”": (
                "You know that “it” is the ball. A dot product only knows shared features, and "
                "there are none."
            ),
            "“rolled”": "The two words share no feature, so their score is 0.",
            "itself": "No other word shares a feature with it.",
        },
    ),
    Prediction(
        "deviation",
        right="√d_k",
        choices={
            "1, like that of each product": (
                "That's how far each product spreads. A sum of many spreads further."
            ),
            "√d_k": "Variances add up to d_k, and the deviation is the root of the variance.",
            "d_k": "That is the variance. The standard deviation is its root.",
        },
    ),
    Prediction(
        "best_of_six",
        right="nearly all",
        choices={
            "about ⅙": "That would be so if the scores were alike. They spread by 32.",
            "about ½": "For that, the best two scores would have to be nearly equal: a rare case.",
            "nearly all": "Scores spread by 32, and a lead of 8 alone is a factor of 2981.",
        },
    ),
    Prediction(
        "journey_reversed",
        right="second to last, and the same",
        choices={
            "second, and the same": (
                "The output has a row for each word, in the same place as the word."
            ),
            "second to last, and the same": "It meets the same words, in whatever order.",
            "second to last, but different": (
                "Its neighbors have changed places. But a sum over all words has no order."
            ),
        },
    ),
]
