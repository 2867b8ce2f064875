"""Scaled dot-product attention of words among themselves. Source: Vaswani et al. 2017, eq. 1."""

from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps
from autograder.lessons.variants import Alternative, Mistake

from .shared import (
    AFTER_THE_PROJECTIONS,
    EINSUM,
    IN_A_MODULE,
    KEYS_ADDED_UP,
    RESULTS,
    SLOPES,
    SOFTMAX,
    self_attention,
)

NEW_QUERY = "self.w_query = nn.Parameter(torch.rand(d_in, d_k))"
NEW_KEY = "self.w_key = nn.Parameter(torch.rand(d_in, d_k))"
NEW_VALUE = "self.w_value = nn.Parameter(torch.rand(d_in, d_v))"

EXERCISE = Exercise(
    "SelfAttention",
    returns="context",
    parts=[Keeps("attn_weights", detached=True)],
    aspects=[
        *RESULTS,
        Aspect(
            "random numbers in the stated order", 1, [self_attention("n d_in", own_parameters=True)]
        ),
        SLOPES,
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
            "After `__init__`, the module has no `w_query`. Make each parameter there, as an "
            "attribute: `self.w_query = nn.Parameter(…)`.",
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
