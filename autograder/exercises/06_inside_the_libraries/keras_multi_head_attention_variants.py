"""The known mistakes of `KerasMultiHeadAttention`, and other right solutions."""

import textwrap

from autograder.lessons.variants import Alternative, Mistake

DIVIDED = " / query.shape[-1] ** 0.5"
MASK = "ops.where(keep, attn_scores, low)"
ZEROS = "attn_weights = ops.where(keep, attn_weights, 0.0)"
MASKED = f"attn_weights = ops.softmax({MASK}, axis=-1)"
SPLIT = "ops.reshape(x, (*x.shape[:2], self.heads, -1))"
MERGE = "ops.swapaxes(ops.matmul(attn_weights, value), 1, 2)"
JOIN = "ops.reshape(context, (*context.shape[:2], -1))"
NO_MASK = "attn_weights = ops.softmax(attn_scores, axis=-1)"
AXIS = "keep = keep if len(keep.shape) == 2 else keep[:, None]"

D_K, D_V = "n_heads * d_k", "n_heads * d_v"


def layers(key_size: str, value_size: str, options: str = "") -> dict[str, str]:
    """The edits that give queries and keys, and values, another size or other options."""
    sizes = {"query": (D_K, key_size), "key": (D_K, key_size), "value": (D_V, value_size)}
    return {
        f"self.{name} = keras.layers.Dense({old})": (
            f"self.{name} = keras.layers.Dense({new}{options})"
        )
        for name, (old, new) in sizes.items()
    }


def output_layer(options: str) -> dict[str, str]:
    return {"Dense(d_model)": f"Dense(d_model{options})"}


UNFLATTEN = {SPLIT: "x.unflatten(-1, (self.heads, -1))"}
ONE_HEAD = (
    "Your `query` makes d_k features for all heads together. Here d_k and d_v are the sizes of "
    "one head, so make n_heads times as many."
)
NOT_D_MODEL = (
    "Your layers make d_model features. Here the sizes of a head are given: queries and keys are "
    "n_heads · d_k wide, values n_heads · d_v, and only the output makes d_model."
)
LINEAR = (
    "Your `Dense` layers have an activation. A projection is linear, nothing but a product and a "
    "bias: leave `activation` out."
)


def instead(call: str) -> dict[str, str]:
    """The edit that puts lines that return at the start of `call`."""
    first = "query = self.heads_first(self.query(query))"
    return {first: textwrap.indent(textwrap.dedent(call), " " * 8).strip() + f"\n        {first}"}


MISTAKES = [
    Mistake(
        "renormalized after softmax",
        "Softmax runs over the hidden keys too, and you divide by the sum of what is left. "
        "When a hidden key has by far the largest score, nothing is left. Hide the scores "
        "first.",
        instead(
            """
                q, k, v = (
                    ops.reshape(x, (x.shape[0], x.shape[1], self.heads, -1))
                    for x in (self.query(query), self.key(key), self.value(value))
                )
                attn_scores = ops.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
                attn_weights = ops.softmax(attn_scores)
                if keep is not None:
                    seen = keep if keep.dim() == 2 else keep[:, None]
                    attn_weights = attn_weights * ops.cast(seen, attn_weights.dtype)
                    total = ops.sum(attn_weights, axis=-1, keepdims=True)
                    attn_weights = attn_weights / ops.maximum(total, 1e-20)
                context = ops.einsum("bhij,bjhd->bihd", attn_weights, v)
                return self.output_dense(ops.reshape(context, (*query.shape[:2], -1)))
                """
        ),
    ),
    Mistake(
        "scaled by the whole d_k",
        "Your scores are divided by the square root of the size of all heads together, so "
        "every head is too soft by √n_heads. A dot product here sums over the features of one "
        "head.",
        {DIVIDED: " / (self.heads * query.shape[-1]) ** 0.5"},
    ),
    Mistake(
        "scaled by d_model",
        "Your scores are divided by √d_model. A dot product here sums over the d_k "
        "features of one head.",
        {
            "self.heads = n_heads": "self.heads, self.d_model = n_heads, d_model",
            DIVIDED: " / self.d_model ** 0.5",
        },
    ),
    Mistake(
        "scaled by the width of the words",
        "You divided by the square root of the words' width: `query` holds the words that came in. "
        "A dot product sums over the d_k features of one head, so ask the projected queries.",
        {
            "query = self.heads_first(self.query(query))": (
                "width, query = query.shape[-1], self.heads_first(self.query(query))"
            ),
            DIVIDED: " / width ** 0.5",
        },
    ),
    Mistake(
        "scaled by the number of keys",
        "Your scores are divided by the square root of the number of words. The features of a "
        "head are the last dimension: `shape[-1]`.",
        {DIVIDED: " / key.shape[-2] ** 0.5"},
        {DIVIDED: " / query.shape[-2] ** 0.5"},
    ),
    Mistake(
        "scaled by n_heads",
        "Your scores are divided by √n_heads. In [batch, n_heads, n, d_k] the features of "
        "a head are the last dimension: `shape[-1]`.",
        {DIVIDED: " / query.shape[1] ** 0.5"},
    ),
    Mistake(
        "scaled by a fixed size",
        "You divided by √64, or by 8: the size in an example. Heads have d_k features here; "
        "ask the queries, with `shape[-1]`.",
        {DIVIDED: " / 64 ** 0.5"},
    ),
    Mistake(
        "keys ask",
        "Your scores have a row for each key. Queries do the asking, so they come first in the "
        "product.",
        {
            "ops.matmul(query, ops.swapaxes(key, -2, -1))": (
                "ops.matmul(key, ops.swapaxes(query, -2, -1))"
            )
        },
    ),
    Mistake(
        "heads not split",
        "Queries and keys are never cut into heads: all of their features make one score. Cut "
        "them into `n_heads` heads, each with scores of its own.",
        {
            "self.heads_first(self.query(query))": "self.query(query)[:, None]",
            "self.heads_first(self.key(key))": "self.key(key)[:, None]",
        },
        {SPLIT: "ops.reshape(x, (*x.shape[:2], 1, -1))"},
    ),
    Mistake(
        "heads by reshape alone",
        "Your heads hold pieces of several words: a reshape straight to [batch, n_heads, n, "
        "d_head] leaves all numbers in their order. Cut the last dimension, then swap heads "
        "and words.",
        {
            SPLIT: "ops.reshape(x, (x.shape[0], self.heads, x.shape[1], -1))",
            "return ops.swapaxes(heads, 1, 2)": "return heads",
        },
    ),
    Mistake(
        "heads attend to heads",
        "The heads stayed behind the words, so within each word heads attend to heads. Move "
        "heads in front of words before the product.",
        {
            "return ops.swapaxes(heads, 1, 2)": "return heads",
            MERGE: "ops.matmul(attn_weights, value)",
        },
    ),
    Mistake(
        "merged by reshape alone",
        "You joined the heads' contexts without a transpose, so your rows hold one head of "
        "several words. Swap heads and words first.",
        {
            MERGE: "ops.matmul(attn_weights, value)",
            JOIN: "ops.reshape(context, (context.shape[0], context.shape[2], -1))",
        },
    ),
    Mistake(
        "merged feature by feature",
        "You merged the first feature of every head, then the second: the features are in "
        "front of the heads. Keep the features of a head next to each other.",
        {MERGE: "ops.transpose(ops.matmul(attn_weights, value), (0, 2, 3, 1))"},
    ),
    Mistake(
        "interleaved heads",
        "Your heads take turns, each with every n_heads-th feature. A head's features belong "
        "next to each other, or you can't exchange kernels with the library.",
        {
            SPLIT: "ops.reshape(x, (*x.shape[:2], -1, self.heads))",
            "return ops.swapaxes(heads, 1, 2)": "return ops.transpose(heads, (0, 3, 1, 2))",
        },
    ),
    Mistake(
        "softmax over the queries",
        "Softmax ran over the queries. Each query divides 1 among its keys: use the last axis.",
        {
            NO_MASK: "attn_weights = ops.softmax(attn_scores, axis=-2)",
            MASKED: f"attn_weights = ops.softmax({MASK}, axis=-2)",
        },
    ),
    Mistake(
        "softmax over the heads",
        "Softmax ran over the heads. Each query divides 1 among its keys: use the last axis.",
        {
            NO_MASK: "attn_weights = ops.softmax(attn_scores, axis=1)",
            MASKED: f"attn_weights = ops.softmax({MASK}, axis=1)",
        },
    ),
    Mistake(
        "key and value exchanged",
        "`key` goes through the value's layer and `value` through the key's. Keras's own "
        "layer takes the value before the key; yours takes query, key, value.",
        {
            "self.heads_first(self.key(key))": "self.heads_first(self.key(value))",
            "self.heads_first(self.value(value))": "self.heads_first(self.value(KEY))",
            "query = self.heads_first(self.query(query))": (
                "query, KEY = self.heads_first(self.query(query)), key"
            ),
        },
    ),
    Mistake(
        "everything from the query",
        "You made keys and values from `query`, which is right for self-attention only.",
        {
            "self.key(key)": "self.key(query_words)",
            "self.value(value)": "self.value(query_words)",
            "query = self.heads_first(self.query(query))": (
                "query_words, query = query, self.heads_first(self.query(query))"
            ),
        },
    ),
    Mistake(
        "keys made of the query",
        "You made the keys from `query`, which is right for self-attention only: use `key`.",
        {
            "query = self.heads_first(self.query(query))": (
                "query_words, query = query, self.heads_first(self.query(query))"
            ),
            "self.key(key)": "self.key(query_words)",
        },
    ),
    Mistake(
        "values made of the keys",
        "You made the values from `key`. They may come from somewhere else: use `value`.",
        {
            "key = self.heads_first(self.key(key))": (
                "key, words = self.heads_first(self.key(key)), key"
            ),
            "self.value(value)": "self.value(words)",
        },
    ),
    Mistake(
        "mask reversed",
        "Your mask is reversed: it hides what may be seen. `keep` is True where a query "
        "may attend.",
        {MASK: "ops.where(keep, -1e9, attn_scores)", ZEROS: "pass"},
        {MASK: "ops.where(keep, -1e9, attn_scores)"},
        {AXIS: "keep = ~(keep if len(keep.shape) == 2 else keep[:, None])"},
    ),
    Mistake(
        "hidden scores not low enough",
        "The number you gave hidden scores isn't low enough: real scores can be just as low. "
        "Take the lowest number of their dtype.",
        {MASK: "ops.where(keep, attn_scores, -30.0)"},
        {MASK: "ops.where(keep, attn_scores, -100.0)"},
        {MASK: "ops.where(keep, attn_scores, -1e4)"},
    ),
    Mistake(
        "zeros after the output layer",
        "You set the result to zero, after the output layer. A query that may attend to "
        "nothing has a context of zeros, and then that layer adds its bias.",
        {
            ZEROS: "pass",
            f"return self.output_dense({JOIN})": (
                f"result = self.output_dense({JOIN})\n"
                "        seen = True if keep is None else keep.any(-1).view(\n"
                "            -1, query.shape[2], 1\n"
                "        )\n"
                "        return ops.where(seen, result, 0.0)"
            ),
        },
    ),
    Mistake(
        "mask ignored", "`keep` has no effect.", {AXIS: "pass", MASKED: NO_MASK, ZEROS: "pass"}
    ),
    Mistake(
        "masked after softmax",
        "You masked the weights after softmax, so the rows no longer sum to 1. Mask the "
        "scores before it.",
        {MASKED: NO_MASK},
    ),
    Mistake(
        "scores times mask",
        "You set hidden scores to 0, and e⁰ is 1, so hidden keys still get weight. Their "
        "scores must be very negative.",
        {MASK: "attn_scores * ops.cast(keep, attn_scores.dtype)", ZEROS: "pass"},
        {MASK: "attn_scores * ops.cast(keep, attn_scores.dtype)"},
    ),
    Mistake(
        "mask added",
        "You added the mask to the scores: visible keys gained 1, and hidden ones are hardly "
        "dimmed. Their scores must be very negative.",
        {MASK: "attn_scores + ops.cast(keep, attn_scores.dtype)", ZEROS: "pass"},
    ),
    Mistake(
        "mask without an axis for the heads",
        "The mask [batch, n_query, n_key] meets scores [batch, n_heads, n_query, n_key]: it "
        "needs an axis of size 1 for the heads, after the batch.",
        {AXIS: "pass"},
    ),
    Mistake(
        "masks repeated in another order",
        "Your heads are folded into the batch, head after head of each sentence, but `repeat` (or "
        "`tile`) puts the masks of all sentences one after the other. `repeat_interleave` keeps "
        "the copies of a mask together.",
        instead(
            """
                def folded(x):
                    return self.heads_first(x).flatten(0, 1)

                q, k = folded(self.query(query)), folded(self.key(key))
                attn_scores = q @ k.mT / q.shape[-1] ** 0.5
                if keep is not None:
                    if keep.dim() == 3:
                        keep = keep.repeat(self.heads, 1, 1)
                    low = torch.finfo(attn_scores.dtype).min
                    attn_scores = attn_scores.masked_fill(~keep, low)
                attn_weights = attn_scores.softmax(-1)
                if keep is not None:
                    attn_weights = attn_weights.masked_fill(~keep, 0.0)
                context = attn_weights @ folded(self.value(value))
                context = context.unflatten(0, (-1, self.heads)).transpose(1, 2)
                return self.output_dense(context.flatten(2))
                """
        ),
    ),
    Mistake(
        "no mask for one query",
        "You leave `keep` out where there is only one query. A mask may hide keys from that one, "
        "too.",
        {AXIS: f"{AXIS} if query.shape[2] > 1 else torch.ones_like(keep)[:, None]"},
    ),
    Mistake(
        "an axis for the heads in every mask",
        "You put an axis for the heads in the middle of a mask [n_query, n_key]. Only a mask "
        "with three dimensions needs one; this one broadcasts as it is.",
        {AXIS: "keep = keep[:, None]"},
    ),
    Mistake(
        "weight spread over hidden keys",
        "A query that may attend to nothing spreads its weight evenly over keys that it "
        "must not see. It should get zeros.",
        {ZEROS: "pass"},
    ),
    Mistake(
        "minus infinity",
        "A query that may attend to nothing gets NaN: its scores are all −∞. It should get zeros.",
        {MASK: "ops.where(keep, attn_scores, -float('inf'))", ZEROS: "pass"},
    ),
    Mistake(
        "NaN only in the gradient",
        "The result is right, but its gradient holds NaN. One arises on the way, as from softmax "
        "over a row of −∞, and hiding it afterward doesn't clean up the backward pass. Hide scores "
        "with a large negative number.",
        {MASK: "attn_scores + ops.where(keep, 0.0, -float('inf'))"},
    ),
    Mistake(
        "no output projection",
        "`self.output_dense` is never called, so it has no parameters. Make the layer in "
        "`__init__`, and send the merged heads through it in `call`.",
        {f"self.output_dense({JOIN})": JOIN},
    ),
    Mistake(
        "no bias in the output",
        "Your output layer has no bias. Leave `use_bias` at its default.",
        {**output_layer(", use_bias=False")},
    ),
    Mistake(
        "d_k for all heads together",
        ONE_HEAD,
        {**layers("d_k", "d_v"), SPLIT: "ops.reshape(x, (*x.shape[:2], 1, -1))"},
        layers("d_k", "d_v"),
        {**layers("d_k", "d_v"), **UNFLATTEN},
    ),
    Mistake(
        "d_model features, cut by reshape",
        NOT_D_MODEL,
        layers("d_model", "d_model"),
        {**layers("d_model", "d_model"), **UNFLATTEN},
    ),
    Mistake(
        "an activation in each layer",
        LINEAR,
        {**layers(D_K, D_V, ", activation='relu'"), **output_layer(", activation='relu'")},
        layers(D_K, D_V, ", activation='relu'"),
        *(
            {
                f"self.{name} = keras.layers.Dense({size})": (
                    f"self.{name} = keras.layers.Dense({size}, activation='relu')"
                )
            }
            for name, size in (("query", D_K), ("key", D_K), ("value", D_V))
        ),
        {
            "self.query(query)": "ops.relu(self.query(query))",
            "self.key(key)": "ops.relu(self.key(key))",
        },
    ),
    Mistake(
        "an activation in the output",
        "Your output layer has an activation, so no number in the result is negative. It is a "
        "projection: leave `activation` out.",
        {**output_layer(", activation='relu'")},
    ),
    Mistake(
        "no biases anywhere",
        "Your layers have no biases. Leave `use_bias` at its default.",
        {**layers(D_K, D_V, ", use_bias=False"), **output_layer(", use_bias=False")},
    ),
    Mistake(
        "no biases in query, key and value",
        "Your query, key and value have no biases. Leave `use_bias` at its default.",
        layers(D_K, D_V, ", use_bias=False"),
    ),
    Mistake(
        "value through the key's layer",
        "`value` goes through the key's layer, and the value's own layer is never used, so "
        "it never gets parameters.",
        {"self.value(value)": "self.key(value)"},
    ),
    Mistake(
        "key through the query's layer",
        "`key` goes through the query's layer. Give it a layer of its own, and call that one.",
        {"self.key(key)": "self.query(key)"},
    ),
    Mistake(
        "values as wide as keys",
        "Your `value` makes d_k features for each head; it should make d_v.",
        {"Dense(n_heads * d_v)": "Dense(n_heads * d_k)"},
    ),
    Mistake(
        "mean over the heads",
        "You averaged the heads. Send them into the output layer side by side.",
        {JOIN: "ops.repeat(ops.mean(context, 2), self.heads, axis=-1)"},
    ),
    Mistake(
        "detached contexts",
        "The result is right, but no gradient gets past the output layer: a `detach`, `.data`, "
        "NumPy or `no_grad` cuts the path to query, key and value.",
        {MERGE: "ops.swapaxes(ops.matmul(attn_weights, value), 1, 2).detach()"},
    ),
    Mistake(
        "detached weights",
        "The result is right, but no gradient reaches queries and keys: a `detach`, `.data`, "
        "NumPy or `no_grad` cuts the path.",
        {MERGE: "ops.swapaxes(ops.matmul(attn_weights.detach(), value), 1, 2)"},
    ),
    Mistake(
        "keys made by the query's layer",
        "Where `key` and `query` are one tensor, you use the queries as keys. Keys come from a "
        "layer of their own, `self.key`.",
        {
            "key = self.heads_first(self.key(key))": (
                "key = query if key is asked else self.heads_first(self.key(key))"
            ),
            "query = self.heads_first(": "asked = query\n        query = self.heads_first(",
        },
    ),
    Mistake(
        "minus infinity between two wheres",
        "The result is right, and so are the gradients. But −∞ makes NaN for a query that may "
        "attend to nothing, and a later step wipes it away, forward and backward. Take a large "
        "negative number, so that no NaN arises.",
        {MASK: "ops.where(keep, attn_scores, -float('inf'))"},
    ),
]

ALTERNATIVES = [
    Alternative(
        "torch's own functions",
        instead(
            """
                def heads(x):
                    return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

                query, key = heads(self.query(query)), heads(self.key(key))
                value = heads(self.value(value))
                attn_scores = query @ key.mT * query.shape[-1] ** -0.5
                if keep is not None:
                    keep = keep.unsqueeze(-3)
                    attn_scores = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
                attn_weights = attn_scores.softmax(-1)
                if keep is not None:
                    attn_weights = attn_weights.masked_fill(~keep, 0.0)
                return self.output_dense((attn_weights @ value).transpose(1, 2).flatten(2))
                """
        ),
        excuses={
            "argument dropped: torch.finfo(": "the scores are float32, the default",
            "another fill: $X.masked_fill($M, -1e9) (2)": "low enough for float32",
            "another fill: $X.masked_fill($M, torch.finfo": "likewise",
            "another fill: $X * ~$M (3)": "times `keep` hides them as well",
            "another argument: query → key in query.shape[-1]": "both have d_k features",
        },
    ),
    Alternative(
        "F.scaled_dot_product_attention",
        instead(
            """
                projected = self.query(query), self.key(key), self.value(value)
                heads = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in projected)
                keep = None if keep is None else keep.unsqueeze(-3)
                context = F.scaled_dot_product_attention(*heads, attn_mask=keep)
                return self.output_dense(context.transpose(1, 2).flatten(2))
                """
        ),
    ),
    Alternative(
        "a layer made in build, a loop over heads",
        {
            "self.output_dense = keras.layers.Dense(d_model)": """self.sizes = d_k, d_v, d_model

    def build(self, query_shape, key_shape, value_shape, keep_shape=None):
        d_k, d_v, d_model = self.sizes
        self.query.build(query_shape)
        self.key.build(key_shape)
        self.value.build(value_shape)
        self.output_dense = keras.layers.Dense(d_model)
        self.output_dense.build((None, None, self.heads * d_v))""",
            **instead(
                """
                    query, key, value = self.query(query), self.key(key), self.value(value)
                    d_k, d_v, _ = self.sizes
                    contexts = []
                    for h in range(self.heads):
                        own, own_v = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
                        scores = query[..., own] @ key[..., own].mT / d_k**0.5
                        if keep is not None:
                            scores = ops.where(keep, scores, -1e9)
                        weights = ops.softmax(scores, axis=-1)
                        if keep is not None:
                            weights = weights * keep.any(-1, keepdim=True)
                        contexts.append(weights @ value[..., own_v])
                    return self.output_dense(ops.concatenate(contexts, axis=-1))
                    """
            ),
        },
        excuses={
            "statement dropped: self.": "Keras builds a layer on its first call",
            "call dropped: self.": "likewise",
            "another argument: key_shape": "keys and values have the same features",
            "another argument: value_shape": "likewise",
            "another number: 1000000000.0": "any number that large will do",
            "keyword dropped: ops.softmax(": "-1 is the default of axis",
            "call dropped: keep.any": "adds 1 only to what divides 0",
        },
    ),
]
