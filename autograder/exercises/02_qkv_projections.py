"""Lesson 2: query, key and value."""

from autograder.asking.arguments import StandIn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Alternative, Aspect, Exercise, Mistake, ModuleCase

# ---------------------------------------------------------------- project


def projections(draw: Draw, dims: str) -> dict:
    return {
        "words": draw.normal(dims),
        "w_query": draw.normal("d_in d_k"),
        "w_key": draw.normal("d_in d_k"),
        "w_value": draw.normal("d_in d_v"),
    }


project = Exercise(
    "project",
    returns="query key value",
    aspects=[
        Aspect(
            "queries and keys",
            1,
            [lambda draw: projections(draw, "n d_in")],
            outputs=("query", "key"),
        ),
        Aspect("values", 1, [lambda draw: projections(draw, "n d_in")], outputs=("value",)),
        Aspect("a batch of sentences", 1, [lambda draw: projections(draw, "batch n d_in")]),
    ],
    mistakes=[
        Mistake(
            "key by the query's matrix",
            edits=(("key = words @ w_key", "key = words @ w_query"),),
            say="Your keys are the queries once more: they were made with `w_query`. Keys have a "
            "matrix of their own.",
        ),
        Mistake(
            "query by the key's matrix",
            edits=(("query = words @ w_query", "query = words @ w_key"),),
            say="Your queries are the keys once more: they were made with `w_key`. Queries have a "
            "matrix of their own.",
        ),
        Mistake(
            "query and key exchanged",
            edits=(("return query, key, value", "return key, query, value"),),
            say="Queries and keys are right but have changed places: query, key, value is the "
            "order.",
        ),
        Mistake(
            "value by the key's matrix",
            edits=(("words @ w_value", "words @ w_key"),),
            say="Your values are the keys once more. Values have a matrix of their own, `w_value`, "
            "and their own number of features.",
        ),
        Mistake(
            "words as values",
            edits=(("value = words @ w_value", "value = words"),),
            say="You returned the words themselves as values. Values are projected too.",
        ),
        Mistake(
            "matrix transposed",
            edits=(
                ("words @ w_query", "words @ w_query.T"),
                ("words @ w_key", "words @ w_key.T"),
                ("words @ w_value", "words @ w_value.T"),
            ),
            say="You multiplied by the transposed matrix (`F.linear` does that too). These "
            "matrices are [d_in, d_out] already: `x @ W`.",
        ),
        Mistake(
            "matrix on the left",
            edits=(
                ("words @ w_query", "w_query @ words"),
                ("words @ w_key", "w_key @ words"),
                ("words @ w_value", "w_value @ words"),
            ),
            say="The matrix stands on the left. The words are rows, so they come first: `x @ W`.",
        ),
        Mistake(
            "words as columns",
            body="return w_query.T @ words.mT, w_key.T @ words.mT, w_value.T @ words.mT",
            say="The numbers are right, but your words have become columns. Each word should stay "
            "a row: [n, d_k].",
        ),
        Mistake(
            "elementwise product",
            edits=(("words @ w_query", "words * w_query"),),
            say="`*` multiplies number by number. A projection is a matrix product: `@`.",
        ),
        Mistake(
            "one projection after the other",
            edits=(("key = words @ w_key", "key = query @ w_key"),),
            say="You projected the query to get the key. All three are made from the words.",
        ),
        Mistake(
            "only one word",
            edits=(("query = words", "words = words[..., 0, :]\n    query = words"),),
            say="You projected the first word only. The product projects all rows at once.",
        ),
        Mistake(
            "batch flattened",
            edits=(
                ("query = words", "words = words.reshape(-1, w_key.shape[0])\n    query = words"),
            ),
            say="The words of all sentences ended up in one long list. Leave the dimensions in "
            "front as they are: `@` can do with them.",
        ),
        Mistake(
            "softmax already",
            edits=(
                ("return query, key, value", "return query.softmax(-1), key.softmax(-1), value"),
            ),
            say="You took a softmax of the projections. They stay as they are; softmax comes after "
            "the scores.",
        ),
        Mistake(
            "scaled already",
            edits=(("words @ w_query", "words @ w_query / w_query.shape[-1] ** 0.5"),),
            say="You divided the queries by √d_k. Scaling belongs to the scores, in the next "
            "exercise.",
        ),
        Mistake(
            "query only",
            edits=(("return query, key, value", "return query"),),
            say="You returned one tensor. Return all three: `return query, key, value`.",
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            body="""
            query = torch.einsum("...i,ik->...k", words, w_query)
            key = torch.einsum("...i,ik->...k", words, w_key)
            value = torch.einsum("...i,iv->...v", words, w_value)
            return query, key, value
            """,
        ),
        Alternative(
            "one wide product, cut in three",
            body="""
            w_all = torch.cat([w_query, w_key, w_value], dim=1)
            sizes = [w.shape[1] for w in (w_query, w_key, w_value)]
            return (words @ w_all).split(sizes, dim=-1)
            """,
        ),
        Alternative(
            "F.linear and transposes",
            body="return [F.linear(words, w.T) for w in (w_query, w_key, w_value)]",
        ),
        Alternative(
            "sums of products",
            body="""
            def times(w):
                return (words[..., None] * w).sum(dim=-2)

            return times(w_query), times(w_key), times(w_value)
            """,
        ),
    ],
    hints=[
        "One line for each of the three, and the words go into every one of them.",
        "Words are [n, d_in], the matrix is [d_in, d_k]. In which order do they have to stand, so "
        "that the two d_in meet?",
        "Row i of the product of words and matrix is word i, projected. The same operator does a "
        "batch: it leaves the dimensions in front alone.",
    ],
)

# ---------------------------------------------------------------- scaled_scores


def two_sentences(draw: Draw, leading: str = "") -> dict:
    return {
        "query": draw.normal(f"{leading} n_query d_k"),
        "key": draw.normal(f"{leading} n_key d_k"),
    }


SHAPE_1 = (
    "`shape[1]` is d_k for one sentence; in a batch it is the number of words. `shape[-1]` is "
    "right for both."
)
TRANSPOSE_FIRST_TWO = (
    "`transpose(0, 1)` turns the first two dimensions around. In a batch the first is the batch: "
    "turn the last two, `transpose(-2, -1)`."
)
BATCH_T = (
    "`.T` turns *all* dimensions around, the batch too. In a batch only the last two change "
    "places: `transpose(-2, -1)`."
)
DIVIDED_BY_D_K = "All in all you divided by d_k. The rule is its square root, once."
PRECEDENCE = (
    "Python reads `d_k ** 1/2` as (d_k ** 1) / 2. Write the exponent as 0.5, or put it in brackets."
)

scaled_scores = Exercise(
    "scaled_scores",
    returns="attn_scores",
    aspects=[
        Aspect("every query with every key", 1, [two_sentences]),
        Aspect("a batch of sentences", 1, [lambda draw: two_sentences(draw, "batch")]),
        Aspect("two dimensions in front", 1, [lambda draw: two_sentences(draw, "batch n_heads")]),
    ],
    mistakes=[
        Mistake(
            "not scaled",
            edits=((" / d_k**0.5", ""),),
            say="The scores are not scaled: divide them by √d_k.",
        ),
        Mistake(
            "divided by d_k",
            edits=(("d_k**0.5", "d_k"),),
            say=DIVIDED_BY_D_K,
        ),
        Mistake(
            "times √d_k",
            edits=(("/ d_k**0.5", "* d_k**0.5"),),
            say="You multiplied by √d_k. Divide: the scores are too large, not too small.",
        ),
        Mistake(
            "divided by √n_key",
            edits=(("key.shape[-1]", "key.shape[-2]"),),
            say="You divided by the root of the number of words. d_k is the number of features, "
            "the last dimension.",
        ),
        Mistake(
            "shape[1]",
            edits=(("key.shape[-1]", "key.shape[1]"),),
            say=SHAPE_1,
        ),
        Mistake(
            "shape[1] of the query",
            edits=(("key.shape[-1]", "query.shape[1]"),),
            say=SHAPE_1,
        ),
        Mistake(
            "shape[0]",
            edits=(("key.shape[-1]", "key.shape[0]"),),
            say="`key.shape[0]` is the number of words, or in a batch the number of sentences. "
            "d_k is the number of features: `key.shape[-1]`.",
        ),
        Mistake(
            "len(key)",
            edits=(("key.shape[-1]", "len(query)"),),
            say="`len` of a tensor is its first dimension: the number of words, or of sentences. "
            "d_k is the last one.",
        ),
        Mistake(
            "half of d_k",
            edits=(("d_k**0.5", "(d_k ** 1 / 2)"),),
            say=PRECEDENCE,
        ),
        Mistake(
            "twice d_k",
            edits=(("d_k**0.5", "d_k ** 1 / 2"),),
            say=PRECEDENCE,
        ),
        Mistake(
            "sqrt of a Python number",
            edits=(("d_k**0.5", "torch.sqrt(d_k)"),),
            say="`torch.sqrt` takes a tensor, and d_k is a plain Python number. `d_k ** 0.5` will "
            "do.",
        ),
        Mistake(
            "both divided",
            body="""
            d_k = key.shape[-1]
            return (query / d_k**0.5) @ (key / d_k**0.5).transpose(-2, -1)
            """,
            say=DIVIDED_BY_D_K,
        ),
        Mistake(
            "no transpose",
            edits=((".transpose(-2, -1)", ""),),
            say="The shapes do not fit: both have the features last. Turn the keys around, so that "
            "features meet features.",
        ),
        Mistake(
            "transpose(0, 1)",
            edits=((".transpose(-2, -1)", ".transpose(0, 1)"),),
            say=TRANSPOSE_FIRST_TWO,
        ),
        Mistake(
            "transpose(1, 2)",
            edits=((".transpose(-2, -1)", ".transpose(1, 2)"),),
            say="`transpose(1, 2)` counts from the left and fits a batch only. `transpose(-2, -1)` "
            "fits all.",
        ),
        Mistake(
            ".T",
            edits=((".transpose(-2, -1)", ".T"),),
            say=BATCH_T,
        ),
        Mistake(
            "roles exchanged",
            edits=(("query @ key.transpose", "key @ query.transpose"),),
            say="Your rows are keys and your columns queries. Row i belongs to query i: the query "
            "stands on the left.",
        ),
        Mistake(
            "transpose on the wrong side",
            edits=(("query @ key.transpose(-2, -1)", "query.transpose(-2, -1) @ key"),),
            say="You turned the queries around, so features stand against features. Turn the keys.",
        ),
        Mistake(
            "elementwise product",
            edits=(("query @ key.transpose(-2, -1)", "(query * key).sum(-1)"),),
            say="`*` pairs query 0 with key 0, query 1 with key 1. Here every query meets every "
            "key: a matrix product.",
        ),
        Mistake(
            "sentences mixed",
            edits=(
                (
                    "query @ key.transpose(-2, -1)",
                    "query.flatten(0, -2) @ key.flatten(0, -2).T",
                ),
            ),
            say="Words of all sentences were scored with each other. Each sentence stays on its "
            "own.",
        ),
        Mistake(
            "cosine similarity",
            body="""
            unit_query = query / query.norm(dim=-1, keepdim=True)
            unit_key = key / key.norm(dim=-1, keepdim=True)
            return unit_query @ unit_key.transpose(-2, -1)
            """,
            say="You divided by the lengths of the vectors. That is cosine similarity; the rule "
            "divides all scores by the same √d_k.",
        ),
        Mistake(
            "softmax already",
            edits=(
                ("query @ key", "(query @ key"),
                ("d_k**0.5", "d_k**0.5).softmax(-1)"),
            ),
            say="You returned weights that sum to 1. This exercise wants the scores before "
            "softmax.",
        ),
        Mistake(
            "query changed in place",
            edits=(
                ("return query", "query /= d_k**0.5\n    return query"),
                ("(-2, -1) / d_k**0.5", "(-2, -1)"),
            ),
            say="`query /= …` writes into the caller's tensor. Make a new one.",
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            body='return torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5',
        ),
        Alternative(
            "query scaled first",
            body="return (query * query.shape[-1] ** -0.5) @ key.mT",
        ),
        Alternative(
            "fourth root on both sides",
            body="""
            root = query.shape[-1] ** 0.25
            return torch.matmul(query / root, (key / root).transpose(-1, -2))
            """,
        ),
        Alternative(
            "broadcast and add up",
            body="""
            pairs = query[..., :, None, :] * key[..., None, :, :]
            return pairs.sum(dim=-1) / torch.tensor(query.shape[-1]).sqrt()
            """,
        ),
        Alternative(
            "one sentence at a time",
            body="""
            if query.dim() > 2:
                pairs = zip(query, key, strict=True)
                return torch.stack([scaled_scores(q, k) for q, k in pairs])
            return query @ key.T / query.shape[1] ** 0.5
            """,
        ),
    ],
    hints=[
        "The rows of the result are queries, the columns are keys: all keys have to stand as "
        "columns.",
        "`transpose` takes the two dimensions that change places. Negative numbers count from the "
        "right, so they mean the same with a batch and without.",
        "d_k is the size of the last dimension of query or key. Its root is the power of 0.5.",
    ],
)

# ---------------------------------------------------------------- scaled_dot_product_attention


def attention_inputs(draw: Draw, leading: str = "") -> dict:
    return two_sentences(draw, leading) | {"value": draw.normal(f"{leading} n_key d_v")}


def large_scores(draw: Draw) -> dict:
    """All scores are large, and alike enough that softmax does not saturate."""
    return {
        "query": draw.normal("n_query d_k", 0.2) + 9,
        "key": draw.normal("n_key d_k", 0.2) + 9,
        "value": draw.normal("n_key d_v"),
    }


KEY_BY_QUERY = (
    "Your weights meet the values as [n_key, n_query], which does not fit. Rows are queries: the "
    "query stands on the left in the scores, and the sum takes the weights as they are."
)
SOFTMAX = "torch.softmax(attn_scores, dim=-1)"

scaled_dot_product_attention = Exercise(
    "scaled_dot_product_attention",
    returns="context attn_weights",
    forbidden=("scaled_dot_product_attention",),
    aspects=[
        Aspect("the weights", 2, [attention_inputs], outputs=("attn_weights",)),
        Aspect("the context vectors", 1, [attention_inputs], outputs=("context",)),
        Aspect(
            "a batch of sentences",
            1,
            [
                lambda draw: attention_inputs(draw, "batch"),
                lambda draw: attention_inputs(draw, "batch n_heads"),
            ],
        ),
        Aspect("scores above 100", 1, [large_scores]),
    ],
    mistakes=[
        Mistake(
            "not scaled",
            edits=((" / d_k**0.5", ""),),
            say="The scores are not scaled, so your weights are too sharp: divide by √d_k before "
            "softmax.",
        ),
        Mistake(
            "divided by d_k",
            edits=(("d_k**0.5", "d_k"),),
            say="You divided the scores by d_k; the rule is its square root.",
        ),
        Mistake(
            "times √d_k",
            edits=(("/ d_k**0.5", "* d_k**0.5"),),
            say="You multiplied the scores by √d_k. Divide: they are too large, not too small.",
        ),
        Mistake(
            "divided by √n_key",
            edits=(("key.shape[-1]", "key.shape[-2]"),),
            say="You divided by the root of the number of words. d_k is the number of features.",
        ),
        Mistake(
            "divided by √d_v",
            edits=(("key.shape[-1]", "value.shape[-1]"),),
            say="You divided by √d_v. The scores are made of d_k products: take the features of "
            "the keys.",
        ),
        Mistake("shape[1]", edits=(("key.shape[-1]", "key.shape[1]"),), say=SHAPE_1),
        Mistake("half of d_k", edits=(("d_k**0.5", "(d_k ** 1 / 2)"),), say=PRECEDENCE),
        Mistake("twice d_k", edits=(("d_k**0.5", "d_k ** 1 / 2"),), say=PRECEDENCE),
        Mistake(
            "scaled after softmax",
            edits=((" / d_k**0.5", ""), (SOFTMAX, f"{SOFTMAX} / d_k**0.5")),
            say="You divided after softmax, so the weights of a row sum to 1/√d_k. Divide the "
            "scores.",
        ),
        Mistake(
            "softmax over queries",
            edits=(("dim=-1", "dim=-2"),),
            say="Your columns sum to 1, and the rows do not: softmax ran over the queries. Each "
            "query shares out its weight over the keys, the last dimension.",
        ),
        Mistake(
            "softmax over dim 1",
            edits=(("dim=-1", "dim=1"),),
            say="`dim=1` is the keys for one sentence; in a batch it is the queries. `dim=-1` is "
            "right for both.",
        ),
        Mistake(
            "softmax over dim 0",
            edits=(("dim=-1", "dim=0"),),
            say="Softmax ran over the first dimension: the queries, or in a batch the sentences. "
            "The weights share out over the keys, the last dimension.",
        ),
        Mistake(
            "one softmax for everything",
            edits=((SOFTMAX, "attn_scores.flatten().softmax(0).view_as(attn_scores)"),),
            say="All your weights together sum to 1. Each row is a query of its own.",
        ),
        Mistake(
            "no softmax",
            edits=((SOFTMAX, "attn_scores"),),
            say="The scores went into the sum as they are. Turn them into weights with softmax.",
        ),
        Mistake(
            "divided by the sum",
            edits=((SOFTMAX, "attn_scores / attn_scores.sum(-1, keepdim=True)"),),
            say="You divided the scores by their sum. With negative scores that gives negative "
            "weights; use softmax.",
        ),
        Mistake(
            "not stable",
            edits=((SOFTMAX, "attn_scores.exp() / attn_scores.exp().sum(-1, keepdim=True)"),),
            say="Large scores break it: their exponential overflows, and infinity / infinity is "
            "NaN. Use the stable softmax.",
        ),
        Mistake(
            "hard attention",
            edits=(
                (SOFTMAX, "(attn_scores == attn_scores.amax(-1, keepdim=True)).to(query.dtype)"),
            ),
            say="Each query gave its whole weight to one key. Softmax gives every key a share.",
        ),
        Mistake(
            "key as value",
            edits=(("attn_weights @ value", "attn_weights @ key"),),
            say="The weights are right, but the sum ran over the keys. Keys are there to be found; "
            "what is added up are the values.",
        ),
        Mistake(
            "query and key exchanged",
            edits=(("query @ key.transpose", "key @ query.transpose"),),
            say=KEY_BY_QUERY,
        ),
        Mistake(
            "weights transposed in the sum",
            edits=(("attn_weights @ value", "attn_weights.transpose(-2, -1) @ value"),),
            say=KEY_BY_QUERY,
        ),
        Mistake(
            "weights times values",
            edits=(("attn_weights @ value", "attn_weights * value"),),
            say="`*` multiplies number by number. The weighted sum of the values is a matrix "
            "product.",
        ),
        Mistake(
            "context of the scores",
            edits=(("attn_weights @ value", "attn_scores @ value"),),
            say="The weights are right, but the context was made from the scores before softmax.",
        ),
        Mistake(
            "scores returned",
            edits=(("return context, attn_weights", "return context, attn_scores"),),
            say="The context is right, but beside it you returned the scores before softmax.",
        ),
        Mistake(
            "order exchanged",
            edits=(("return context, attn_weights", "return attn_weights, context"),),
            say="Both results are right, in the wrong order: first the context, then the weights.",
        ),
        Mistake(
            "context only",
            edits=(("return context, attn_weights", "return context"),),
            say="You returned one tensor. Return two things: `return context, attn_weights`.",
        ),
        Mistake(
            "no transpose",
            edits=((".transpose(-2, -1)", ""),),
            say="The shapes of query and key do not fit: both have the features last. Turn the "
            "keys around.",
        ),
        Mistake(".T", edits=((".transpose(-2, -1)", ".T"),), say=BATCH_T),
        Mistake(
            "transpose(0, 1)",
            edits=((".transpose(-2, -1)", ".transpose(0, 1)"),),
            say=TRANSPOSE_FIRST_TWO,
        ),
        Mistake(
            "query changed in place",
            edits=(
                ("attn_scores = query", "query /= d_k**0.5\n    attn_scores = query"),
                ("(-2, -1) / d_k**0.5", "(-2, -1)"),
            ),
            say="`query /= …` writes into the caller's tensor. Make a new one.",
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            body="""
            attn_scores = torch.einsum("...qd,...kd->...qk", query, key) / key.shape[-1] ** 0.5
            attn_weights = attn_scores.softmax(-1)
            return torch.einsum("...qk,...kv->...qv", attn_weights, value), attn_weights
            """,
        ),
        Alternative(
            "a softmax of one's own",
            body="""
            attn_scores = (query / query.shape[-1] ** 0.5) @ key.mT
            exps = (attn_scores - attn_scores.amax(-1, keepdim=True)).exp()
            return exps @ value / exps.sum(-1, keepdim=True), exps / exps.sum(-1, keepdim=True)
            """,
        ),
        Alternative(
            "log-sum-exp and powers of two",
            body="""
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
            body="""
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
            body="""
            scale = torch.tensor(query.size(-1), dtype=query.dtype).rsqrt()
            attn_weights = F.softmax(torch.matmul(query, key.mT) * scale, dim=-1)
            return torch.matmul(attn_weights, value), attn_weights
            """,
        ),
    ],
    hints=[
        "Three steps: scaled scores, softmax, weighted sum. Only the last one needs the values.",
        "Which dimension of the scores are the keys? Name it by counting from the right.",
        "Weights are [n_query, n_key] and values [n_key, d_v]: one matrix product adds the values "
        "up for every query.",
    ],
)

# ---------------------------------------------------------------- SelfAttention


def self_attention(dims: str, own_parameters: bool = False):
    """A case: the module built with sizes that all differ, called on words of shape `dims`."""

    def case(draw: Draw) -> ModuleCase:
        build = draw.named("d_in d_k d_v")
        # Parameters from 0 to 1 would saturate on larger words, and hide a wrong scale.
        scale = 0.4 if own_parameters else 1.0
        return ModuleCase(build, {"words": draw.normal(dims, scale)}, own_parameters)

    return case


KEYS_ADDED_UP = (
    "The weights are right, but what is added up are the keys. Values are made by a projection of "
    "their own."
)
# Mistakes that both modules can hold: in what comes after the projections.
EINSUM = Alternative(
    "einsum",
    edits=(
        (
            "query @ key.transpose(-2, -1)",
            'torch.einsum("...qd,...kd->...qk", query, key)',
        ),
        (
            "return attn_weights @ value",
            'return torch.einsum("...qk,...kv->...qv", attn_weights, value)',
        ),
    ),
)
AFTER_THE_PROJECTIONS = [
    Mistake(
        "not scaled",
        edits=((" / key.shape[-1] ** 0.5", ""),),
        say="The scores are not scaled: divide them by √d_k before softmax.",
    ),
    Mistake(
        "divided by d_k",
        edits=(("key.shape[-1] ** 0.5", "key.shape[-1]"),),
        say="You divided the scores by d_k; the rule is its square root.",
    ),
    Mistake(
        "times √d_k",
        edits=(("/ key.shape[-1]", "* key.shape[-1]"),),
        say="You multiplied the scores by √d_k. Divide: they are too large, not too small.",
    ),
    Mistake(
        "divided by √d_in",
        edits=(("key.shape[-1]", "words.shape[-1]"),),
        say="You divided by √d_in. The scores are sums of d_k products: take the features of the "
        "keys, not of the words.",
    ),
    Mistake(
        "divided by √d_v",
        edits=(("key.shape[-1]", "value.shape[-1]"),),
        say="You divided by √d_v. The scores are sums of d_k products: take the features of the "
        "keys.",
    ),
    Mistake(
        "divided by √n",
        edits=(("key.shape[-1]", "key.shape[-2]"),),
        say="You divided by the root of the number of words. d_k is the number of features.",
    ),
    Mistake("shape[1]", edits=(("key.shape[-1]", "key.shape[1]"),), say=SHAPE_1),
    Mistake(
        "softmax over queries",
        edits=(("dim=-1", "dim=-2"),),
        say="Your columns sum to 1, and the rows do not: softmax ran over the queries. Each query "
        "shares out its weight over the keys, the last dimension.",
    ),
    Mistake(
        "softmax over dim 1",
        edits=(("dim=-1", "dim=1"),),
        say="`dim=1` is the keys for one sentence; in a batch it is the queries. `dim=-1` is right "
        "for both.",
    ),
    Mistake(
        "softmax over dim 0",
        edits=(("dim=-1", "dim=0"),),
        say="Softmax ran over the first dimension: the queries, or in a batch the sentences. The "
        "weights share out over the keys, the last dimension.",
    ),
    Mistake(
        "no softmax",
        edits=((SOFTMAX, "attn_scores"),),
        say="The scores went into the sum as they are. Turn them into weights with softmax.",
    ),
    Mistake(
        "query and key exchanged",
        edits=(("query @ key.transpose", "key @ query.transpose"),),
        say="Your scores are the right ones transposed: row i should hold what query i looks for. "
        "The query stands on the left.",
    ),
    Mistake(
        "weights transposed in the sum",
        edits=(("return attn_weights @ value", "return attn_weights.transpose(-2, -1) @ value"),),
        say="The weights are right, but the sum used them transposed.",
    ),
    Mistake(
        "key as value",
        edits=(("attn_weights @ value", "attn_weights @ key"),),
        say=KEYS_ADDED_UP,
    ),
    Mistake(
        "words as values",
        edits=(("attn_weights @ value", "attn_weights @ words"),),
        say="The weights are right, but the sum ran over the words themselves. Project them to "
        "values first.",
    ),
    Mistake(
        "transpose(0, 1)",
        edits=((".transpose(-2, -1)", ".transpose(0, 1)"),),
        say=TRANSPOSE_FIRST_TWO,
    ),
    Mistake(".T", edits=((".transpose(-2, -1)", ".T"),), say=BATCH_T),
    Mistake(
        "weights not kept",
        edits=(("self.attn_weights = attn_weights.detach()", "pass"),),
        say="After a call the module has no `attn_weights`. Keep them in `forward`: "
        "`self.attn_weights = …`.",
    ),
    Mistake(
        "scores kept",
        edits=(("= attn_weights.detach()", "= attn_scores.detach()"),),
        say="What you keep as `attn_weights` are the scores before softmax.",
    ),
    Mistake(
        "kept with their graph",
        edits=(("attn_weights.detach()", "attn_weights"),),
        say="The kept `attn_weights` still hold on to the whole calculation. Keep them with "
        "`.detach()`.",
    ),
    Mistake(
        "detached too early",
        edits=(
            (SOFTMAX, f"{SOFTMAX}.detach()"),
            ("= attn_weights.detach()", "= attn_weights"),
        ),
        say="The weights were detached before the context was made, so no gradient reaches "
        "queries and keys. Detach only the copy that you keep.",
    ),
    Mistake(
        "no gradients at all",
        edits=(("    def forward", "    @torch.no_grad()\n    def forward"),),
        say="The context is cut off from the parameters: `forward` runs without gradients "
        "(`no_grad`), so nothing can be learned.",
    ),
    Mistake(
        "context and weights returned",
        edits=(("return attn_weights @ value", "return attn_weights @ value, attn_weights"),),
        say="`forward` returned two things. It returns the context alone; the weights are kept as "
        "an attribute.",
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
        Aspect("the weights, kept", 1, [self_attention("n d_in")], outputs=("attn_weights",)),
        Aspect("a batch of sentences", 1, [self_attention("batch n d_in")]),
        Aspect("drawn by torch.rand, in order", 1, [self_attention("n d_in", own_parameters=True)]),
        Aspect("gradients", 1, [self_attention("n d_in")], gradients=True),
    ],
    mistakes=[
        *AFTER_THE_PROJECTIONS,
        Mistake(
            "plain tensors",
            edits=(
                (NEW_QUERY, "self.w_query = torch.rand(d_in, d_k)"),
                (NEW_KEY, "self.w_key = torch.rand(d_in, d_k)"),
                (NEW_VALUE, "self.w_value = torch.rand(d_in, d_v)"),
            ),
            say="The module has no parameters: a plain tensor is not learned. Wrap each one in "
            "`nn.Parameter`.",
        ),
        Mistake(
            "parameters without self",
            edits=(
                (NEW_QUERY, NEW_QUERY.removeprefix("self.")),
                (NEW_KEY, NEW_KEY.removeprefix("self.")),
                (NEW_VALUE, NEW_VALUE.removeprefix("self.")),
            ),
            say="The module has no `w_query`. Keep each one: `self.w_query = nn.Parameter(…)`.",
        ),
        Mistake(
            "nn.Linear already",
            edits=(
                (NEW_QUERY, "self.w_query = nn.Linear(d_in, d_k, bias=False)"),
                (NEW_KEY, "self.w_key = nn.Linear(d_in, d_k, bias=False)"),
                (NEW_VALUE, "self.w_value = nn.Linear(d_in, d_v, bias=False)"),
                ("words @ self.w_query", "self.w_query(words)"),
                ("words @ self.w_key", "self.w_key(words)"),
                ("words @ self.w_value", "self.w_value(words)"),
            ),
            say="You used `nn.Linear`, which comes in the next exercise. Here the parameters are "
            "plain matrices, `nn.Parameter(torch.rand(…))`.",
        ),
        Mistake(
            "matrices the other way round",
            edits=(
                (NEW_QUERY, "self.w_query = nn.Parameter(torch.rand(d_k, d_in))"),
                (NEW_KEY, "self.w_key = nn.Parameter(torch.rand(d_k, d_in))"),
                (NEW_VALUE, "self.w_value = nn.Parameter(torch.rand(d_v, d_in))"),
                ("words @ self.w_query", "words @ self.w_query.T"),
                ("words @ self.w_key", "words @ self.w_key.T"),
                ("words @ self.w_value", "words @ self.w_value.T"),
            ),
            say="Your matrices are [d_out, d_in]. This exercise uses `x @ W`, so they are "
            "[d_in, d_out].",
        ),
        Mistake(
            "d_k features for values",
            edits=((NEW_VALUE, "self.w_value = nn.Parameter(torch.rand(d_in, d_k))"),),
            say="Your `w_value` makes d_k features. Values have a number of their own, d_v.",
        ),
        Mistake(
            "one matrix for query and key",
            edits=((NEW_KEY, "self.w_key = self.w_query"),),
            say="Query and key share one matrix, so a word looks for what is like it, as in "
            "lesson 1. Give each a parameter of its own.",
        ),
        Mistake(
            "drawn in another order",
            edits=((f"{NEW_QUERY}\n        {NEW_KEY}", f"{NEW_KEY}\n        {NEW_QUERY}"),),
            say="The parameters are drawn in another order than query, key, value, so the same "
            "seed gives other numbers.",
        ),
        Mistake(
            "torch.randn",
            edits=(
                (NEW_QUERY, "self.w_query = nn.Parameter(torch.randn(d_in, d_k))"),
                (NEW_KEY, "self.w_key = nn.Parameter(torch.randn(d_in, d_k))"),
                (NEW_VALUE, "self.w_value = nn.Parameter(torch.randn(d_in, d_v))"),
            ),
            say="The parameters are drawn by `torch.randn`. This exercise wants `torch.rand`: "
            "numbers from 0 to 1.",
        ),
        Mistake(
            "parameters of zeros",
            edits=(
                (NEW_QUERY, "self.w_query = nn.Parameter(torch.zeros(d_in, d_k))"),
                (NEW_KEY, "self.w_key = nn.Parameter(torch.zeros(d_in, d_k))"),
                (NEW_VALUE, "self.w_value = nn.Parameter(torch.zeros(d_in, d_v))"),
            ),
            say="The parameters start as zeros, so all words are alike. Draw them with "
            "`torch.rand`.",
        ),
        Mistake(
            "seed set inside",
            edits=((NEW_QUERY, f"torch.manual_seed(123)\n        {NEW_QUERY}"),),
            say="`__init__` sets a seed of its own, so two modules always start alike. Leave the "
            "seed to the caller.",
        ),
        Mistake(
            "not to be learned",
            edits=((NEW_KEY, NEW_KEY[:-1] + ", requires_grad=False)"),),
            say="A parameter has `requires_grad=False`, so it is never learned.",
        ),
        Mistake(
            ".data",
            edits=(("words @ self.w_key", "words @ self.w_key.data"),),
            say="`.data` hides a parameter from the gradient, so it is never learned. Use the "
            "parameter itself.",
        ),
        Mistake(
            "key by the query's matrix",
            edits=(("words @ self.w_key", "words @ self.w_query"),),
            say="The keys were made with `w_query`; `w_key` has no part in it.",
        ),
        Mistake(
            "value by the key's matrix",
            edits=(("words @ self.w_value", "words @ self.w_key"),),
            say=KEYS_ADDED_UP,
        ),
    ],
    alternatives=[
        EINSUM,
        Alternative(
            "torch's own attention, weights by a softmax",
            edits=(
                (
                    "return attn_weights @ value",
                    "return F.scaled_dot_product_attention(query, key, value)",
                ),
            ),
        ),
        Alternative(
            "query scaled first, d_k remembered",
            edits=(
                (NEW_QUERY, f"self.scale = d_k**-0.5\n        {NEW_QUERY}"),
                ("query = words @ self.w_query", "query = words @ self.w_query * self.scale"),
                ("query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5", "query @ key.mT"),
                (SOFTMAX, "(attn_scores - attn_scores.logsumexp(-1, keepdim=True)).exp()"),
            ),
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
    "The module has no parameters. Layers in a plain list or dict are not found, and neither are "
    "layers made in `forward`: make each one an attribute in `__init__`, `self.query = …`."
)
PROJECTED = "query, key, value = self.query(words), self.key(words), self.value(words)"

LinearSelfAttention = Exercise(
    "LinearSelfAttention",
    returns="context",
    keeps="attn_weights",
    keeps_detached=True,
    aspects=[
        Aspect("the context vectors", 1, [self_attention("n d_in")], outputs=("context",)),
        Aspect("the weights, kept", 1, [self_attention("n d_in")], outputs=("attn_weights",)),
        Aspect("a batch of sentences", 1, [self_attention("batch n d_in")]),
        Aspect("gradients", 1, [self_attention("n d_in")], gradients=True),
    ],
    mistakes=[
        *AFTER_THE_PROJECTIONS,
        Mistake(
            "biases",
            edits=(
                (QUERY_LAYER, "self.query = nn.Linear(d_in, d_k)"),
                (KEY_LAYER, "self.key = nn.Linear(d_in, d_k)"),
                (VALUE_LAYER, "self.value = nn.Linear(d_in, d_v)"),
            ),
            say="Your layers have a bias. Switch it off with `bias=False`, so that they do the "
            "same as `x @ W`.",
        ),
        Mistake(
            "sizes exchanged",
            edits=(
                (QUERY_LAYER, "self.query = nn.Linear(d_k, d_in, bias=False)"),
                (KEY_LAYER, "self.key = nn.Linear(d_k, d_in, bias=False)"),
                (VALUE_LAYER, "self.value = nn.Linear(d_v, d_in, bias=False)"),
            ),
            say="The sizes of your layers are exchanged. `nn.Linear` takes what goes in first, "
            "then what comes out; only its weight is stored the other way round.",
        ),
        Mistake(
            "d_k features for values",
            edits=((VALUE_LAYER, "self.value = nn.Linear(d_in, d_k, bias=False)"),),
            say="Your `value` makes d_k features. Values have a number of their own, d_v.",
        ),
        Mistake(
            "other names",
            edits=(
                ("self.query = nn", "self.w_query = nn"),
                ("self.key = nn", "self.w_key = nn"),
                ("self.value = nn", "self.w_value = nn"),
                (
                    PROJECTED,
                    "query, key, value = "
                    "self.w_query(words), self.w_key(words), self.w_value(words)",
                ),
            ),
            say="The layers go by the names of the parameters before, `w_query` and so on. They "
            "should be called `query`, `key` and `value`.",
        ),
        Mistake(
            "layers in a dict",
            edits=(
                (QUERY_LAYER, 'self.layers = {"query": nn.Linear(d_in, d_k, bias=False)}'),
                (KEY_LAYER, 'self.layers["key"] = nn.Linear(d_in, d_k, bias=False)'),
                (VALUE_LAYER, 'self.layers["value"] = nn.Linear(d_in, d_v, bias=False)'),
                (
                    PROJECTED,
                    "query, key, value = [layer(words) for layer in self.layers.values()]",
                ),
            ),
            say=NO_LAYERS,
        ),
        Mistake(
            "one layer for query and key",
            edits=((KEY_LAYER, "self.key = self.query"),),
            say="Query and key share one layer, so a word looks for what is like it, as in "
            "lesson 1. Give each a layer of its own.",
        ),
        Mistake(
            "weight without transpose",
            edits=(
                (
                    PROJECTED,
                    "query = words @ self.query.weight\n"
                    "        key = words @ self.key.weight\n"
                    "        value = words @ self.value.weight",
                ),
            ),
            say="`words @ self.query.weight` does not fit: `nn.Linear` keeps its weight as "
            "[d_out, d_in]. Call the layer, `self.query(words)`; it transposes by itself.",
        ),
        Mistake(
            "one projection after the other",
            edits=((PROJECTED, "query = self.query(words); key = self.key(query); value = words"),),
            say="You projected the query to get the key. All three are made from the words.",
        ),
        Mistake(
            "key by the query's layer",
            edits=(("self.key(words)", "self.query(words)"),),
            say="The keys were made by the layer `query`; `key` has no part in it.",
        ),
        Mistake(
            "value by the key's layer",
            edits=(("self.value(words)", "self.key(words)"),),
            say=KEYS_ADDED_UP,
        ),
        Mistake(
            "layers made in forward",
            edits=(
                (QUERY_LAYER, "self.d_k, self.d_v = d_k, d_v"),
                (KEY_LAYER, "self.d_in = d_in"),
                (VALUE_LAYER, "pass"),
                (
                    PROJECTED,
                    "query = nn.Linear(self.d_in, self.d_k, bias=False)(words)\n"
                    "        key = nn.Linear(self.d_in, self.d_k, bias=False)(words)\n"
                    "        value = nn.Linear(self.d_in, self.d_v, bias=False)(words)",
                ),
            ),
            say=NO_LAYERS,
        ),
    ],
    alternatives=[
        EINSUM,
        Alternative(
            "weights taken out and transposed",
            edits=(
                (
                    PROJECTED,
                    "query = words @ self.query.weight.T\n"
                    "        key = F.linear(words, self.key.weight)\n"
                    "        value = words @ self.value.weight.mT",
                ),
            ),
        ),
        Alternative(
            "layers in another order",
            edits=(
                (
                    f"{QUERY_LAYER}\n        {KEY_LAYER}",
                    f"{KEY_LAYER}\n        {QUERY_LAYER}",
                ),
            ),
        ),
        Alternative(
            "a softmax of one's own",
            edits=(
                (
                    SOFTMAX,
                    "(attn_scores - attn_scores.amax(-1, keepdim=True)).exp()\n"
                    "        attn_weights = attn_weights / attn_weights.sum(-1, keepdim=True)",
                ),
            ),
        ),
    ],
    hints=[
        "Only the projections differ from `SelfAttention`: three layers in `__init__`, and in "
        "`forward` a call of each one on the words.",
        "`nn.Linear(a, b)` takes the number of features that go in, then the number that come out. "
        "It has a bias unless you say no.",
        "A layer is called like a function, with the words. It works on the last dimension, so a "
        "batch needs nothing special.",
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
            edits=(
                ("source.w_query.T", "source.w_query"),
                ("source.w_key.T", "source.w_key"),
                ("source.w_value.T", "source.w_value"),
            ),
            say="The shapes do not fit: source keeps [d_in, d_out], `nn.Linear` [d_out, d_in]. "
            "Transpose.",
        ),
        Mistake(
            "reshaped in the place of transposed",
            edits=(
                ("source.w_query.T", "source.w_query.reshape(target.query.weight.shape)"),
                ("source.w_key.T", "source.w_key.reshape(target.key.weight.shape)"),
                ("source.w_value.T", "source.w_value.reshape(target.value.weight.shape)"),
            ),
            say="The shape is right and the numbers have got mixed up: `reshape` (or `view`) keeps "
            "the order in which they are read, it does not turn rows into columns. Use `.T`.",
        ),
        Mistake(
            "untransposed parameter assigned",
            body="""
            target.query.weight = nn.Parameter(source.w_query.clone())
            target.key.weight = nn.Parameter(source.w_key.clone())
            target.value.weight = nn.Parameter(source.w_value.clone())
            """,
            say="You gave `nn.Linear` a weight of [d_in, d_out]. It keeps [d_out, d_in]: "
            "transpose.",
        ),
        Mistake(
            "wrong direction",
            body="""
            with torch.no_grad():
                source.w_query.copy_(target.query.weight.T)
                source.w_key.copy_(target.key.weight.T)
                source.w_value.copy_(target.value.weight.T)
            """,
            say="You copied from target to source. The numbers of `source` are the ones to keep.",
        ),
        Mistake(
            "gradients recorded",
            body="""
            target.query.weight.copy_(source.w_query.T)
            target.key.weight.copy_(source.w_key.T)
            target.value.weight.copy_(source.w_value.T)
            """,
            say="A parameter can't be changed in place while gradients are recorded. Copy inside "
            "`with torch.no_grad():`.",
        ),
        Mistake(
            "a plain tensor assigned",
            body="""
            target.query.weight = source.w_query.T
            target.key.weight = source.w_key.T
            target.value.weight = source.w_value.T
            """,
            say="`weight = …` takes an `nn.Parameter`, not a plain tensor. Write into the "
            "parameter that is there: `weight.copy_(…)`.",
        ),
        Mistake(
            "memory shared",
            body="""
            target.query.weight = nn.Parameter(source.w_query.T)
            target.key.weight = nn.Parameter(source.w_key.T)
            target.value.weight = nn.Parameter(source.w_value.T)
            """,
            say="`nn.Parameter(source.w_query.T)` copies nothing: both modules now hold the same "
            "numbers in memory, and training one changes the other. Copy: `copy_`.",
        ),
        Mistake(
            ".weight forgotten",
            edits=(
                ("target.query.weight", "target.query"),
                ("target.key.weight", "target.key"),
                ("target.value.weight", "target.value"),
            ),
            say="`target.query` is a layer; its matrix is `target.query.weight`.",
        ),
        Mistake(
            "the layer replaced",
            body="""
            target.query = source.w_query.T
            target.key = source.w_key.T
            target.value = source.w_value.T
            """,
            say="You put a tensor in the place of the layer. Write into the layer's `weight`.",
        ),
        Mistake(
            "nothing arrives",
            body="""
            query, key, value = target.query.weight, target.key.weight, target.value.weight
            query = source.w_query.T
            key = source.w_key.T
            value = source.w_value.T
            """,
            say="The target is as it was. `name = …` gives a tensor another name and writes "
            "nothing into it; `copy_` does.",
        ),
        Mistake(
            "query and key exchanged",
            edits=(
                ("target.query.weight", "target.key_.weight"),
                ("target.key.weight", "target.query.weight"),
                ("target.key_.weight", "target.key.weight"),
            ),
            say="Query and key have changed places: `w_query` belongs into `query`.",
        ),
        Mistake(
            "query copied into key as well",
            edits=(("source.w_key.T", "source.w_query.T"),),
            say="`w_query` went into both `query` and `key`. `key` should get `w_key`.",
        ),
        Mistake(
            "key forgotten",
            edits=(("        target.key.weight.copy_(source.w_key.T)\n", ""),),
            say="`query` and `value` are copied, `key` is as it was.",
        ),
        Mistake(
            "value forgotten",
            edits=(("        target.value.weight.copy_(source.w_value.T)\n", ""),),
            say="`query` and `key` are copied, `value` is as it was.",
        ),
        Mistake(
            "only the query",
            body="""
            with torch.no_grad():
                target.query.weight.copy_(source.w_query.T)
            """,
            say="Only `query` is copied; `key` and `value` are as they were.",
        ),
        Mistake(
            "added in the place of copied",
            body="""
            with torch.no_grad():
                target.query.weight += source.w_query.T
                target.key.weight += source.w_key.T
                target.value.weight += source.w_value.T
            """,
            say="You added to what was there. Replace it: `copy_`.",
        ),
        Mistake(
            "load_state_dict as it is",
            body="target.load_state_dict(source.state_dict())",
            say="The two modules name and turn their parameters differently, so one's state can't "
            "be loaded into the other as it is. Copy the three matrices, transposed.",
        ),
    ],
    alternatives=[
        Alternative(
            "through .data",
            body="""
            for name in ("query", "key", "value"):
                getattr(target, name).weight.data.copy_(getattr(source, f"w_{name}").data.T)
            """,
        ),
        Alternative(
            "new parameters",
            body="""
            target.query.weight = nn.Parameter(source.w_query.T.clone().detach())
            target.key.weight = nn.Parameter(source.w_key.T.clone().detach())
            target.value.weight = nn.Parameter(source.w_value.T.clone().detach())
            """,
        ),
        Alternative(
            "a translated state",
            body="""
            state = {f"{name[2:]}.weight": w.T for name, w in source.state_dict().items()}
            target.load_state_dict(state)
            """,
        ),
        Alternative(
            "slice by slice",
            body="""
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
        "Write into a weight with its `copy_`, gradients switched off, as it was done with "
        "`stretch.factor` above.",
    ],
)

EXERCISES = (
    project,
    scaled_scores,
    scaled_dot_product_attention,
    SelfAttention,
    LinearSelfAttention,
    copy_projections,
)
