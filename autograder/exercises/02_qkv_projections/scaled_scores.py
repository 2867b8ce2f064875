"""Dot product of every query (row) with every key (column), divided by √d_k."""

from autograder.exercises.slips import FROM_THE_LEFT, KEYS, ROUNDED_DOWN, SCALE
from autograder.lessons.cases import drawn
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import DIVIDED_BY_2, many_features, one_sentence, three_in_front

EXERCISE = Exercise(
    "scaled_scores",
    returns="attn_scores",
    aspects=[
        Aspect("every query with every key", 1, [many_features, drawn()]),
        Aspect("a batch of sentences", 1, [drawn("batch"), one_sentence]),
        Aspect(
            "more dimensions in front",
            1,
            [drawn("batch n_heads"), three_in_front],
        ),
        connected(),
    ],
    slips=[*SCALE, *KEYS, *FROM_THE_LEFT],
    mistakes=[
        Mistake("divided by 2", DIVIDED_BY_2, {"d_k**0.5": "2"}),
        Mistake("√d_k rounded down", ROUNDED_DOWN, {"d_k**0.5": "int(d_k**0.5)"}),
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
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "query scaled first",
            "return (query * query.shape[-1] ** -0.5) @ key.mT",
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "fourth root on both sides",
            """
            root = query.shape[-1] ** 0.25
            return torch.matmul(query / root, (key / root).transpose(-1, -2))
            """,
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "broadcast and add up",
            """
            pairs = query[..., :, None, :] * key[..., None, :, :]
            return pairs.sum(dim=-1) / torch.tensor(query.shape[-1]).sqrt()
            """,
            excuses={
                "another argument: query → key in torch.tensor(query.shape[-1])": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "one sentence at a time",
            """
            if query.dim() > 2:
                pairs = zip(query, key, strict=True)
                return torch.stack([scaled_scores(q, k) for q, k in pairs])
            return query @ key.T / query.shape[1] ** 0.5
            """,
            excuses={
                "another argument: query → key in query.dim()": "both are batched or neither",
                "another argument: query → key in query.shape[1]": (
                    "a query has as many features as a key"
                ),
            },
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
    },
)
