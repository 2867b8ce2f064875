"""Attention of several heads, each on its own slice of the projected features."""

from collections.abc import Callable
from typing import Any

import torch

from autograder.exercises.slips import KEEPING, KEYS, SCALE, renamed, without
from autograder.lessons.cases import ModuleCase, Raises, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps, SecondCall

from .multi_head_attention_variants import ALTERNATIVES, MISTAKES


def sizes_of_model(draw: Draw) -> dict[str, int]:
    """d_model and n_heads; the batch is small, since the answers of many mistakes are stored."""
    sizes = draw.heads()
    draw.choose("batch", max(2, 5 - sizes["n_heads"]))
    return sizes


def self_attention(draw: Draw, **build: Any) -> ModuleCase:
    """One tensor as query, key and value."""
    build = sizes_of_model(draw) | build
    words = draw.normal("batch n d_model")
    return ModuleCase(build, {"query": words, "key": words, "value": words})


def masked_self_attention(draw: Draw) -> ModuleCase:
    case = self_attention(draw)
    case.inputs["keep"] = draw.keep("batch n n")
    return case


def cross_attention(draw: Draw, scale: float = 1.0, **build: Any) -> ModuleCase:
    """Queries, keys and values from three different tensors."""
    build = sizes_of_model(draw) | build
    inputs = {
        "query": draw.normal("batch n_query d_model", scale),
        "key": draw.normal("batch n_key d_model", scale),
        "value": draw.normal("batch n_key d_model", scale),
    }
    return ModuleCase(build, inputs)


def small_inputs(draw: Draw) -> ModuleCase:
    # The gradient of the keys' bias is 0, a sum that cancels: small numbers leave little rounding.
    return cross_attention(draw, scale=0.3)


def with_keep(dims: str, scale: float = 1.0) -> Callable[[Draw], ModuleCase]:
    """A case with a mask of these dimensions; "1" is a dimension of size 1."""

    def case(draw: Draw) -> ModuleCase:
        case = cross_attention(draw, scale)
        keep = draw.keep(dims.replace(" 1 ", " "))
        case.inputs["keep"] = keep.unsqueeze(dims.split().index("1")) if "1" in dims else keep
        draw.label(f"keep [{dims.replace(' ', ', ')}]")
        return case

    return case


def as_many_sentences_as_heads(draw: Draw) -> ModuleCase:
    """A mask for each sentence, which fits the heads as well."""
    build = sizes_of_model(draw)
    words, keep = draw.normal("n_heads n d_model"), draw.keep("n_heads n n")
    draw.label("as many sentences as heads, a mask for each sentence")
    return ModuleCase(build, {"query": words, "key": words, "value": words, "keep": keep})


def many_features(draw: Draw) -> ModuleCase:
    return self_attention(draw.fix(batch=1, n_heads=2, d_head=18))


def one_query_sees_nothing(draw: Draw) -> ModuleCase:
    case = small_inputs(draw)
    case.inputs["keep"] = draw.keep("batch n_query n_key")
    case.inputs["keep"][0, -1] = False
    draw.label("one query may attend to nothing")
    return case


def one_key(draw: Draw) -> ModuleCase:
    case = cross_attention(draw.fix(n_key=1))
    keep = torch.arange(draw.size("n_query")) % 2 == 0
    case.inputs["keep"] = keep[:, None]
    draw.label("one key, hidden from every second query")
    return case


def in_evaluation(draw: Draw) -> ModuleCase:
    draw.label("dropout 0.5, evaluation mode")
    return cross_attention(draw, dropout=0.5)


def with_dropout(draw: Draw) -> ModuleCase:
    draw.label("dropout 0.4")
    return cross_attention(draw, dropout=0.4)


def built_with_heads_that_do_not_divide(draw: Draw) -> Raises:
    draw.label("MultiHeadAttention(10, 4)")
    build = {"d_model": 10, "n_heads": 4}
    return Raises(ModuleCase(build, {}, own_parameters=True, method=""), "ValueError")


EXERCISE = Exercise(
    "MultiHeadAttention",
    returns="result",
    parts=[Keeps("attn_weights", detached=True), SecondCall(after=masked_self_attention)],
    builds_on=("split_heads", "merge_heads"),
    aspects=[
        Aspect("self-attention", 2, [self_attention], outputs=("result",)),
        Aspect(
            "queries, keys and values from different places",
            2,
            [cross_attention],
            outputs=("result",),
        ),
        Aspect(
            "the weights of every head",
            1,
            [self_attention, cross_attention, many_features],
            outputs=("attn_weights",),
        ),
        Aspect("without a bias", 1, [lambda draw: self_attention(draw, bias=False)]),
        Aspect(
            "a ValueError when heads can't share the features",
            1,
            [built_with_heads_that_do_not_divide, self_attention],
        ),
        Aspect(
            "masks",
            1,
            [
                with_keep("n_query n_key"),
                with_keep("n_query n_key", scale=60),
                in_train_mode(masked_self_attention),
                with_keep("batch n_query n_key"),
                as_many_sentences_as_heads,
                with_keep("batch 1 n_key"),
                with_keep("batch n_heads n_query n_key"),
            ],
        ),
        Aspect(
            "a query that may attend to nothing",
            1,
            [one_key, one_query_sees_nothing],
            gradients=True,
        ),
        Aspect("dropout", 1, [in_evaluation, in_train_mode(with_dropout)]),
        Aspect("gradients", 1, [small_inputs, in_train_mode(small_inputs)], gradients=True),
    ],
    slips=without([*renamed(SCALE, "d_k", "d_head"), *KEYS, *KEEPING], "divided by √d_v"),
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "`__init__`: four layers and a dropout, each under its name. `forward`: project, split, "
        "score and scale, weights, dropout, sum of the values, merge, project.",
        "Each projected tensor goes through `split_heads`; after that, the scores work as in "
        "lesson 2, with words and features as the last two dimensions.",
        "Keep the weights in `self.attn_weights`, without their graph, between "
        "`weights_from_scores` and dropout.",
    ],
    excuses={
        "another argument: query → key in query.shape[-1]": "all have d_head features",
        "another argument: query → value in query.shape[-1]": "likewise",
        "in place:": "these are projections, made here, not the caller's tensors",
    },
)
