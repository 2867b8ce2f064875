"""The attention weights of a block whose keys are made from the stream before another block."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import own_llama, with_same_tokens


def made_from(
    n_layers: int,
    layer: int,
    from_layer: int,
    base: float = 10000.0,
    eps: float = 0.01,
    group: int = 2,
    **sizes: int,
) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        inputs = own_llama(draw.fix(**sizes), n_layers, base, eps, group)
        last = draw.size("n_layers") - 1
        layers = {"layer": min(layer, last), "from_layer": min(from_layer, last)}
        draw.label(f"layer {layers['layer']}, keys from {layers['from_layer']}")
        return inputs | layers

    return case


START = "streams, block = streams_of(model, tokens), model.blocks[layer]"
QUERY = "query = attention.query(block.attention_norm(streams[layer]))"
KEY = "key = attention.key(block.attention_norm(streams[from_layer]))"
SPLIT = "x.unflatten(-1, (-1, attention.d_head)).transpose(1, 2)"
TURNED = f"rotate({SPLIT}, places, attention.base)"
PRODUCTS = "products = query.unflatten(1, shared) @ key[:, :, None].mT"
SCORES = "products / attention.d_head**0.5"
WEIGHTS = f"causal_softmax({SCORES}).flatten(1, 2)"

UNTRAINED = "weights are looked at, not trained"
NO_FLOATS = "it takes no floating-point tensor"

EXERCISE = Exercise(
    "keys_from",
    returns="attn_weights",
    seconds=30.0,
    also=(*SIZES, *CALLS),
    parts=[Trial("with_own_llama")],
    builds_on=("Llama",),
    aspects=[
        Aspect(
            "keys from another layer",
            3,
            [
                made_from(5, 4, 2),
                made_from(7, 6, 1, base=50.0, group=3),
                made_from(5, 2, 0, base=1e5, eps=0.1),
                made_from(5, 1, 4),
                made_from(5, 0, 2),
                made_from(5, 4, 3),
                made_from(5, 3, 1, base=1e5, n=70, batch=1, n_tokens=301),
                made_from(5, 3, 2),
            ],
        ),
        Aspect(
            "the model's own weights",
            2,
            [
                *(with_same_tokens(made_from(5, *layers)) for layers in [(3, 3), (1, 3), (3, 1)]),
                made_from(7, 6, 6, group=3),
                made_from(1, 0, 0, base=50.0),
                made_from(5, 3, 3),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "queries from below, too",
            "You made the queries from below, too. Only the keys come from `from_layer`.",
            {QUERY: QUERY.replace("[layer]", "[from_layer]")},
        ),
        Mistake(
            "queries instead of keys",
            "You made the queries from below, and the keys from `layer`. It's the other way "
            "around.",
            {
                QUERY: QUERY.replace("[layer]", "[from_layer]"),
                KEY: KEY.replace("[from_layer]", "[layer]"),
            },
        ),
        Mistake(
            "keys from the same layer",
            "Your keys come from the stream before `layer`. Take the stream before `from_layer`.",
            {KEY: KEY.replace("[from_layer]", "[layer]")},
        ),
        Mistake(
            "the stream of the next block",
            "Your stream is one block off. `streams_of(model, tokens)[b]` is what block b reads.",
            {KEY: KEY.replace("[from_layer]", "[from_layer + 1]")},
            {KEY: KEY.replace("[from_layer]", "[from_layer - 1]")},
            {QUERY: QUERY.replace("[layer]", "[layer + 1]")},
            {
                KEY: KEY.replace("[from_layer]", "[from_layer + 1]"),
                QUERY: QUERY.replace("[layer]", "[layer + 1]"),
            },
        ),
        Mistake(
            "another block's projection",
            "You made the keys with `from_layer`'s own projection. Only the stream comes from "
            "there; the block is that of `layer`.",
            {
                KEY: "key = model.blocks[from_layer].attention.key(block.attention_norm("
                "streams[from_layer]))"
            },
            {
                KEY: "other = model.blocks[from_layer]\n"
                "    key = other.attention.key(other.attention_norm(streams[from_layer]))"
            },
        ),
        Mistake(
            "another block's norm",
            "You normed the keys' stream as `from_layer` does. Use the norm of `layer`: everything "
            "is its own, but for the stream.",
            {KEY: KEY.replace("block.", "model.blocks[from_layer].")},
        ),
        Mistake(
            "no norm",
            "You left out a norm. A block's attention reads the normed stream.",
            {KEY: "key = attention.key(streams[from_layer])"},
            {QUERY: "query = attention.query(streams[layer])"},
            {
                KEY: "key = attention.key(streams[from_layer])",
                QUERY: "query = attention.query(streams[layer])",
            },
        ),
        Mistake(
            "the other norm",
            "You used the norm of the feed-forward network. Attention has one of its own.",
            {KEY: KEY.replace("attention_norm", "feed_forward_norm")},
            {QUERY: QUERY.replace("attention_norm", "feed_forward_norm")},
            {
                KEY: KEY.replace("attention_norm", "feed_forward_norm"),
                QUERY: QUERY.replace("attention_norm", "feed_forward_norm"),
            },
        ),
        Mistake(
            "the last norm",
            "You used the model's last norm. The block has a norm of its own for its attention.",
            {
                KEY: KEY.replace("block.attention_norm", "model.norm"),
                QUERY: QUERY.replace("block.attention_norm", "model.norm"),
            },
        ),
        Mistake(
            "layer and from_layer exchanged",
            "You computed weights of the block `from_layer`, with keys from the stream before "
            "`layer`. It's the other way around.",
            {START: f"layer, from_layer = from_layer, layer\n    {START}"},
        ),
        Mistake(
            "keys by the value layer",
            "You made the keys with the layer `value`.",
            {KEY: KEY.replace("attention.key", "attention.value")},
        ),
        Mistake(
            "only one of them turned",
            "You turned only the queries, or only the keys. Turn both.",
            {TURNED: f"({TURNED} if x is query else {SPLIT})"},
            {TURNED: f"({TURNED} if x is key else {SPLIT})"},
        ),
        Mistake(
            "heads by view",
            "Your split mixes tokens: `view` straight to [batch, n_heads, n, d_head] cuts the "
            "rows. Cut the features, then transpose.",
            {SPLIT: "x.reshape(len(x), -1, x.shape[1], attention.d_head)"},
        ),
        Mistake(
            "scaled by d_head",
            "You divided the scores by d_head. Divide by its root.",
            {SCORES: SCORES.replace("**0.5", "")},
        ),
        Mistake(
            "not turned",
            "Your queries and keys aren't turned by their places.",
            {TURNED: SPLIT},
        ),
        Mistake(
            "the base ignored",
            "You turned by the usual base. Use the one that the attention was made with.",
            {TURNED: TURNED.replace("attention.base", "10000.0")},
        ),
        Mistake(
            "not scaled",
            "You didn't divide the scores by √d_head.",
            {SCORES: "products"},
        ),
        Mistake(
            "scaled by the width",
            "You divided the scores by √d_model. It's the root of the size of one head.",
            {
                SCORES: SCORES.replace(
                    "attention.d_head", "tokens.new_tensor(attention.query.in_features)"
                )
            },
        ),
        Mistake(
            "no mask",
            "Your tokens see what comes after them. `causal_softmax` hides it.",
            {WEIGHTS: f"({SCORES}).softmax(dim=-1).flatten(1, 2)"},
        ),
        Mistake(
            "softmax over the queries",
            "Each column sums to 1. Each *row* should: softmax over the keys.",
            {WEIGHTS: f"causal_softmax(({SCORES}).mT).mT.flatten(1, 2)"},
        ),
        Mistake(
            "key heads in turns",
            "Your query heads take turns among the key heads. Neighbors share one.",
            {
                PRODUCTS: "products = query.unflatten(1, shared[::-1]).transpose(1, 2) "
                "@ key[:, :, None].mT",
                WEIGHTS: f"causal_softmax({SCORES}).transpose(1, 2).flatten(1, 2)",
            },
        ),
        Mistake(
            "scores",
            "These are scores. Weights are what softmax makes of them.",
            {WEIGHTS: f"({SCORES}).flatten(1, 2)"},
        ),
        Mistake(
            "in groups",
            "Your weights are in groups: [batch, n_kv_heads, group, n, n]. Return one dimension "
            "for all heads.",
            {WEIGHTS: f"causal_softmax({SCORES})"},
        ),
        Mistake(
            "the blocks in between run again",
            "You ran the blocks in between on another stream. Nothing else changes: the queries "
            "come from the stream that the model always has.",
            {
                QUERY: "x = streams[from_layer]\n"
                "    for between in model.blocks[from_layer + 1 : layer]:\n"
                "        x = between(x)\n"
                "    query = attention.query(block.attention_norm(x))"
            },
        ),
    ],
    alternatives=[
        Alternative(
            "with hooks",
            """
            maps, below = [], streams_of(model, tokens)[from_layer]
            block = model.blocks[layer]
            hook = block.attention.key.register_forward_pre_hook(
                lambda key, inputs: block.attention_norm(below)
            )

            def noting(causal_softmax, attn_scores):
                maps.append(causal_softmax(attn_scores))
                return maps[-1]

            with torch.no_grad(), exchanged(model, "causal_softmax", noting):
                model(tokens)
            hook.remove()
            return maps[layer].flatten(1, 2)
            """,
        ),
        Alternative(
            "block by block",
            """
            x, streams = model.tokens(tokens), []
            for block in model.blocks:
                streams.append(x)
                x = block(x)
            block = model.blocks[layer]
            attention, n = block.attention, tokens.shape[1]
            normed = [block.attention_norm(streams[b]) for b in (layer, from_layer)]
            projected = attention.query(normed[0]), attention.key(normed[1])
            heads = [p.unflatten(-1, (-1, attention.d_head)).transpose(1, 2) for p in projected]
            query, key = (rotate(x, torch.arange(n), attention.base) for x in heads)
            key = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
            return causal_softmax(query @ key.mT / attention.d_head**0.5)
            """,
            excuses={"detached": UNTRAINED},
        ),
    ],
    hints=[
        "Queries: the stream before `layer`, its norm, its `query` layer. Keys: the stream before "
        "`from_layer`, and the same block's norm and `key` layer.",
        "Then do what your attention does: split into heads, and `rotate` both.",
        "Then what `attend` does, up to the weights: group the query heads, multiply, scale, "
        "`causal_softmax`. `flatten(1, 2)` makes one dimension of key heads and groups.",
    ],
    excuses={
        "detached": UNTRAINED,
        "result in float32": NO_FLOATS,
        "result rounded": NO_FLOATS,
        "seed changed": "nothing is drawn in it",
        "result clamped": "weights are from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)
