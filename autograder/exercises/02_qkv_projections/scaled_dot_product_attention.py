"""Context of every query, and the weights (rows sum to 1 over the keys) that made it."""

from autograder.exercises.slips import (
    CONTEXT,
    FROM_THE_LEFT,
    KEYS,
    RETURNED,
    ROUNDED_DOWN,
    SCALE,
    WEIGHTS,
    without,
)
from autograder.lessons.cases import drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Forbids
from autograder.lessons.variants import Alternative, Mistake

from .shared import BATCHES, DIVIDED_BY_2, SOFTMAX, many_features


def large_scores(draw: Draw) -> dict:
    """All scores are large, and alike enough that softmax does not saturate."""
    query, key = (draw.normal(f"n_{name} d_k", 0.2) + 9 for name in ("query", "key"))
    return draw.arguments(query=query, key=key)


KEY_BY_QUERY = (
    "Your weights meet the values as [n_key, n_query], and the shapes don't match. Rows are "
    "queries: put the query on the left in the scores, and use the weights as they are in the sum."
)

EXERCISE = Exercise(
    "scaled_dot_product_attention",
    returns="context attn_weights",
    parts=[Forbids("scaled_dot_product_attention")],
    aspects=[
        Aspect("the weights", 2, [many_features, drawn()], outputs=("attn_weights",)),
        Aspect("the context vectors", 1, outputs=("context",)),
        Aspect("a batch of sentences", 1, BATCHES),
        Aspect("scores above 100", 1, [large_scores, drawn(scale=12)]),
        connected(),
    ],
    slips=without(
        [*SCALE, *KEYS, *FROM_THE_LEFT, *WEIGHTS, *CONTEXT, *RETURNED],
        "weights transposed in the sum",
    ),
    mistakes=[
        Mistake("divided by 2", DIVIDED_BY_2, {"d_k**0.5": "2"}),
        Mistake("√d_k rounded down", ROUNDED_DOWN, {"d_k**0.5": "int(d_k**0.5)"}),
        Mistake(
            "scaled after softmax",
            "You divided after softmax, so each row of weights sums to 1/√d_k. Divide the scores "
            "instead.",
            {" / d_k**0.5": "", SOFTMAX: f"{SOFTMAX} / d_k**0.5"},
        ),
        Mistake(
            "context scaled",
            "You divided the context by √d_k, not the scores. Divide the scores, before softmax: "
            "it's softmax that large scores are bad for.",
            {" / d_k**0.5": "", "attn_weights @ value": "attn_weights @ value / d_k**0.5"},
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
        Mistake(
            "one softmax for everything",
            "All the weights of a sentence together sum to 1. Each row belongs to one query, and "
            "should sum to 1 on its own: `dim=-1`.",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "torch.softmax(attn_scores.flatten(-2), dim=-1).view_as(attn_scores)"
                )
            },
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "torch.softmax(attn_scores.flatten(), dim=0).view_as(attn_scores)"
                )
            },
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
            excuses={
                "another argument: key → query in key.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "a softmax of one's own",
            """
            attn_scores = (query / query.shape[-1] ** 0.5) @ key.mT
            exps = (attn_scores - attn_scores.amax(-1, keepdim=True)).exp()
            return exps @ value / exps.sum(-1, keepdim=True), exps / exps.sum(-1, keepdim=True)
            """,
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
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
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
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
            excuses={
                "another argument: key → query in key.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "F.softmax and matmul",
            """
            scale = torch.tensor(query.size(-1), dtype=query.dtype).rsqrt()
            attn_weights = F.softmax(torch.matmul(query, key.mT) * scale, dim=-1)
            return torch.matmul(attn_weights, value), attn_weights
            """,
            excuses={
                "keyword dropped: torch.tensor(query.size(-1), dtype=": (
                    "the root of a whole number is nearly the same in float32"
                ),
                "another argument: query → key in query.size(-1)": (
                    "a query has as many features as a key"
                ),
                "another argument: query → key in dtype=": "all three have one dtype",
                "another argument: query → value in dtype=": "likewise",
            },
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
    },
)
