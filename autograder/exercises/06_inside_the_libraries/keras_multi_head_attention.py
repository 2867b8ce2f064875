"""Attention of several heads as a Keras layer; d_k and d_v are the sizes of one head."""

import torch

from autograder.exercises.slips import SCALE, without
from autograder.lessons.cases import CALLS, SIZES, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import SecondCall

from .keras_multi_head_attention_variants import ALTERNATIVES, MISTAKES
from .shared import PROJECTIONS


def keras_case(draw: Draw, **inputs: torch.Tensor) -> ModuleCase:
    """A layer with kernels and biases, none of them zero."""
    build = draw.named("n_heads d_k d_v d_model")
    makes = {
        "query": "n_heads*d_k",
        "key": "n_heads*d_k",
        "value": "n_heads*d_v",
        "output_dense": "d_model",
    }
    parameters = {}
    for name, made in makes.items():
        d_out = draw.size(made)
        d_in = inputs[name].shape[-1] if name in inputs else draw.size("n_heads*d_v")
        parameters[f"{name}.kernel"] = draw.normal_of((d_in, d_out), 0.6)
        parameters[f"{name}.bias"] = draw.normal_of((d_out,), 0.6)
    return ModuleCase(build, inputs, parameters=parameters)


def keras_self(draw: Draw) -> ModuleCase:
    words = draw.normal("batch n d_model")
    return keras_case(draw, query=words, key=words, value=words)


def keras_masked_self(draw: Draw) -> ModuleCase:
    case = keras_self(draw)
    case.inputs["keep"] = draw.keep("batch n n")
    return case


def three_places(draw: Draw, scale: float = 1.0, wider: int = 0) -> dict[str, torch.Tensor]:
    """wider: by how many features queries are wider than the model, and keys than queries."""
    width = draw.size("d_model") + wider
    queries, keys = ([*draw.shape(dims), width] for dims in ("batch n_query", "batch n_key"))
    keys[-1] += wider
    return {
        "query": draw.normal_of(queries, scale),
        "key": draw.normal_of(keys, scale),
        "value": draw.normal_of(keys),
    }


def keras_cross(draw: Draw) -> ModuleCase:
    return keras_case(draw, **three_places(draw))


def keras_widths(draw: Draw) -> ModuleCase:
    """Queries of one width, keys and values of another, neither of them d_model."""
    draw.label("words of d_model + 1 features ask words of d_model + 2")
    return keras_case(draw, **three_places(draw, wider=1))


def keras_masked(draw: Draw) -> ModuleCase:
    """As many sentences as heads, so that a mask for each sentence fits the heads as well."""
    places = {name: draw.normal("n_heads n d_model") for name in PROJECTIONS[:3]}
    keep = (draw.normal("n_heads n n") > 0) | torch.eye(draw.size("n"), dtype=torch.bool)
    draw.label("as many sentences as heads, a mask for each")
    return keras_case(draw, **places, keep=keep)


def keras_large(draw: Draw) -> ModuleCase:
    draw.label("one mask for all sentences, and scores far apart")
    return keras_case(draw, **three_places(draw, 300), keep=draw.keep("n_query n_key"))


def keras_as_many_sentences(draw: Draw) -> ModuleCase:
    """One mask for all sentences, of which there are as many as queries."""
    draw.label("as many sentences as words, one causal mask for all")
    words = draw.normal_of((3, 3, draw.size("d_model")))
    keep = torch.ones(3, 3, dtype=torch.bool).tril()
    return keras_case(draw, query=words, key=words, value=words, keep=keep)


def keras_all_hidden(draw: Draw) -> ModuleCase:
    draw.label("no query may attend to anything")
    keep = torch.zeros(draw.size("n_query"), draw.size("n_key"), dtype=torch.bool)
    return keras_case(draw, **three_places(draw), keep=keep)


def keras_nothing_kept(draw: Draw) -> ModuleCase:
    draw.label("one query may attend to nothing")
    keep = draw.keep("batch n_query n_key")
    keep[-1, -1] = False
    return keras_case(draw, **three_places(draw), keep=keep)


EXERCISE = Exercise(
    "KerasMultiHeadAttention",
    returns="result",
    also=(*SIZES, *CALLS),  # Keras rounds to float32
    parts=[SecondCall(beside=keras_nothing_kept, after=keras_masked_self)],
    aspects=[
        Aspect("self-attention", 2, [in_train_mode(keras_self), keras_self]),
        Aspect("queries, keys and values from different places", 2, [keras_widths, keras_cross]),
        Aspect("masks", 2, [keras_masked, keras_as_many_sentences, keras_large]),
        Aspect("a query that may attend to nothing", 1, [keras_all_hidden, keras_nothing_kept]),
        Aspect("gradients flow through", 1, [keras_nothing_kept], gradients=True),
    ],
    slips=without(SCALE, "divided by √n_key"),
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Make the layers in `__init__`; Keras finds their parameters itself. The steps of `call` "
        "are those of lesson 3: project, cut into heads, scores, weights, contexts, merge, output.",
        "`ops.reshape(x, (batch, n, n_heads, -1))` cuts the last dimension, and `ops.transpose(x, "
        "(0, 2, 1, 3))` swaps words and heads. Merging is the way back.",
        "`ops.where(keep, a, b)` takes `a` where `keep` is True. Use it twice: on the scores, "
        "with a large negative number, and on the weights, with 0. A mask with three dimensions "
        "needs one more for the heads: `keep[:, None]`.",
    ],
    excuses={
        "keyword dropped: ops.softmax(": "-1 is the default of axis",
        "argument dropped: torch.finfo(": "the scores are float32, the default",
        "another argument: query → key in query.shape[-1]": "both have d_k features",
    },
)
