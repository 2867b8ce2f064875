"""The gradients for query, key and value; d_context is the gradient for the context."""

import torch

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

from .shared import SAME_SIZES, backward

CASES = [
    backward(5, 7),
    backward(1, 6),
    backward(5, 7, dtype=torch.float64),
    backward(4, 1),
    backward(4, 6, leading="batch n_heads"),
]
CAUSAL_CASES = [
    backward(6, 6, True),
    backward(3, 8, True, leading="batch"),
    backward(5, 5, True, last=300.0),
    backward(4, 7, True, shift=-30000.0),
]
LARGE = [backward(4, 7, shift=-900.0), backward(4, 7, shift=900.0)]
WEIGHTS = "(scores - logsumexp[..., None]).exp()"
D_SCORES = "attn_weights * (d_weights - mean)"
MEAN = "(d_context * context).sum(dim=-1, keepdim=True)"
D_QUERY = "d_scores @ key / root"
D_KEY = "d_scores.transpose(-2, -1) @ query / root"
D_VALUE = "attn_weights.transpose(-2, -1) @ d_context"

EXERCISE = Exercise(
    "attention_backward",
    returns="d_query d_key d_value",
    also=(*SIZES, *CALLS),  # in float64, context and logsumexp wouldn't match the rest
    aspects=[
        Aspect("the gradient for the values", 1, [*LARGE, *CASES], outputs=("d_value",)),
        Aspect("the gradient for the queries", 1, CASES, outputs=("d_query",)),
        Aspect("the gradient for the keys", 1, CASES, outputs=("d_key",)),
        Aspect("causal", 1, CAUSAL_CASES),
        Aspect("some of the keys", 1, [backward(3, 5, others=4), backward(6, 2, others=3)]),
    ],
    mistakes=[
        Mistake(
            "no mean subtracted",
            "You left out D: dS is P · (dP − D). With all the keys, each row of dS sums to 0.",
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
            "D over these keys only",
            "Your D is a sum over the keys you were given, and they may be only some of all. The "
            "sum of dO · O over the features covers all of them.",
            {MEAN: "(attn_weights * d_weights).sum(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "D over everything",
            "Your D is a single number for all queries. Each query has its own: sum dO · O over "
            "the features, the last dimension.",
            {MEAN: "(d_context * context).sum()"},
            {MEAN: "(d_context * context).sum(dim=(-2, -1), keepdim=True)"},
        ),
        Mistake(
            "D from another row",
            "Your D is summed over the queries. Each query has its own: sum dO · O over the "
            "features, the last dimension.",
            {MEAN: "(d_context * context).sum(dim=-2, keepdim=True).mean(-1, keepdim=True)"},
        ),
        Mistake(
            "D not as a column",
            "Your D runs along the keys. It has one number for each query: make it a column, with "
            "`keepdim=True`.",
            {MEAN: "(d_context * context).sum(dim=-1)"},
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
            "the maximum for the logsumexp",
            "You subtracted each row's largest score, and your weights don't sum to 1. Subtract "
            "`logsumexp` instead.",
            {WEIGHTS: "(scores - scores.amax(dim=-1, keepdim=True)).exp()"},
        ),
        Mistake(
            "a softmax of these keys",
            "Your weights are a softmax over the keys you were given, and they may be only some of "
            "all. Make the weights with `logsumexp`: exp(S − L).",
            {WEIGHTS: "scores.softmax(dim=-1)"},
            {WEIGHTS: "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"},
            {
                WEIGHTS: "scores.softmax(dim=-1)",
                MEAN: "(attn_weights * d_weights).sum(dim=-1, keepdim=True)",
            },
        ),
        Mistake(
            "subtracted after exp",
            "You subtracted the logsumexp after `exp`. Subtract it before: exp(S − L).",
            {WEIGHTS: "scores.exp() - logsumexp[..., None]"},
        ),
        Mistake(
            "divided after exp",
            "exp(S) / exp(L) overflows when scores are large. Subtract before `exp`: exp(S − L).",
            {WEIGHTS: "scores.exp() / logsumexp[..., None].exp()"},
        ),
        Mistake(
            "divided by the logsumexp",
            "You divided by the logsumexp, which is a logarithm. Subtract it, before `exp`: "
            "exp(S − L).",
            {WEIGHTS: "scores.exp() / logsumexp[..., None]"},
        ),
        Mistake(
            "logsumexp not as a column",
            "You subtracted the logsumexp along the keys. It has one number for each query: make "
            "it a column, `logsumexp[..., None]`.",
            {WEIGHTS: "(scores - logsumexp).exp()"},
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
            "in another order",
            """
            n_query, n_key = query.shape[-2], key.shape[-2]
            q = query / query.shape[-1] ** 0.5
            log_weights = q @ key.mT - logsumexp.unsqueeze(-1)
            if causal:
                later = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)
                log_weights = log_weights.masked_fill(later, -torch.inf)
            weights = log_weights.exp()
            d_scores = weights * (d_context @ value.mT)
            d_scores = d_scores - weights * (d_context * context).sum(-1, keepdim=True)
            d_query = (d_scores @ key) / query.shape[-1] ** 0.5
            return d_query, d_scores.mT @ q, weights.mT @ d_context
            """,
            excuses={
                "another argument": SAME_SIZES,
                "another fill": "exp makes it 0",
                "detached": "nobody differentiates a backward pass",
            },
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
            excuses={
                "another argument": SAME_SIZES,
                "elements swapped: (torch": "likewise",
                "elements swapped: (..., row": "it takes one number for each text",
            },
        ),
    ],
    hints=[
        "Make the weights again: the scores, masked if it's causal, minus the logsumexp, and "
        "`exp`. Then go through the formulas in order: dV, dP, D, dS, dQ, dK.",
        "D has one number for each query: `(d_context * context).sum(dim=-1, keepdim=True)`.",
        "`transpose(-2, -1)` swaps queries and keys: dV = Pᵀ dO, dK = dSᵀ Q / √d.",
    ],
    excuses={
        "by shape: ($X.masked_fill": "a single query sees all keys",
        "another fill: $X.masked_fill($M, -1e9)": "no score is that low",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "another argument: query →": SAME_SIZES,
        "another argument: key → value in": "likewise",
        "detached": "nobody differentiates a backward pass",
        "result detached": "likewise",
        "without gradients": "likewise",
    },
)
