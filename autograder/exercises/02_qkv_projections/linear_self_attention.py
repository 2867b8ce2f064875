"""SelfAttention whose projections are bias-free nn.Linear layers."""

from autograder.lessons.exercise import Exercise
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
)

QUERY_LAYER = "self.query = nn.Linear(d_in, d_k, bias=False)"
KEY_LAYER = "self.key = nn.Linear(d_in, d_k, bias=False)"
VALUE_LAYER = "self.value = nn.Linear(d_in, d_v, bias=False)"
NO_LAYERS = (
    "The module has no parameters. PyTorch doesn't find layers in a plain list or dict, or layers "
    "made in `forward`: make each one an attribute in `__init__`, `self.query = …`."
)
PROJECTED = "query, key, value = self.query(words), self.key(words), self.value(words)"

EXERCISE = Exercise(
    "LinearSelfAttention",
    returns="context",
    parts=[Keeps("attn_weights", detached=True)],
    aspects=[*RESULTS, SLOPES],
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
        Mistake(
            "words as values",
            "You averaged the words themselves. Average their values: `self.value(words)`.",
            {"self.value(words)": "words"},
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
