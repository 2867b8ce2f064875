"""Attention of several heads, each d_model wide with projections of its own."""

from autograder.lessons.cases import ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps, SecondCall

from .shared import as_many_sequences, few_heads, nothing_kept
from .wide_multi_head_attention_variants import ALTERNATIVES, MISTAKES


def wide(
    draw: Draw, keep: str = "", own_parameters: bool = False, d_input: bool = True
) -> ModuleCase:
    sizes = few_heads(draw).named("n_heads d_model d_input" if d_input else "n_heads d_model")
    width = "d_input" if d_input else "d_model"
    inputs = {
        "query": draw.normal(f"batch n_query {width}"),
        "memory": draw.normal(f"batch n_key {width}"),
    }
    if keep:
        inputs["keep"] = draw.keep(keep)
    return ModuleCase(sizes, inputs, own_parameters)


def wide_masked(draw: Draw) -> ModuleCase:
    return wide(draw, "batch n_query n_key")


def wide_self(draw: Draw) -> ModuleCase:
    """One tensor as query and memory."""
    words = few_heads(draw).normal("batch n_query d_input")
    return ModuleCase(draw.named("n_heads d_model d_input"), {"query": words, "memory": words})


def wide_self_masked(draw: Draw) -> ModuleCase:
    case = wide_self(draw)
    case.inputs["keep"] = draw.keep("batch n_query n_query")
    draw.label("as many queries as keys, a mask for each sequence")
    return case


def far_apart(draw: Draw) -> ModuleCase:
    draw.label("a mask, and scores far apart")
    case = wide(draw, "batch n_query n_key")
    case.inputs["query"] *= 60
    return case


def one_sequence(draw: Draw) -> ModuleCase:
    draw.fix(batch=1).label("one sequence, with a mask")
    return wide(draw, "batch n_query n_key")


def one_query(draw: Draw) -> ModuleCase:
    draw.fix(n_query=1).label("one query, from which keys are hidden")
    return wide(draw, "batch n_query n_key")


def one_key(draw: Draw) -> ModuleCase:
    draw.fix(n_key=1).label("one key, hidden from query 1")
    case = wide(draw, "n_query n_key")
    case.inputs["keep"][1:2] = False
    return case


def wide_sees_nothing(draw: Draw) -> ModuleCase:
    case = wide(draw, "batch n_query n_key")
    case.inputs["keep"][:, 0] = True
    case.inputs["keep"][:, 1:2] = False
    draw.label("query 0 may attend to all keys, query 1 to none")
    return case


EXERCISE = Exercise(
    "WideMultiHeadAttention",
    returns="result",
    parts=[
        Keeps("attn_weights", detached=True),
        SecondCall(beside=wide_masked, after=lambda draw: wide(draw, "n_query n_key")),
    ],
    aspects=[
        Aspect(
            "queries and memory of different lengths",
            2,
            [wide_self, in_train_mode(wide), wide],
            outputs=("result",),
        ),
        Aspect("d_input left out", 1, [lambda draw: wide(draw, d_input=False)]),
        Aspect(
            "the weights of every head", 1, [in_train_mode(wide), wide], outputs=("attn_weights",)
        ),
        Aspect(
            "masks",
            1,
            [
                wide_self_masked,
                far_apart,
                one_sequence,
                one_query,
                one_key,
                wide_sees_nothing,
                as_many_sequences(wide, "keep"),
                nothing_kept(wide_masked, "keep"),
                lambda draw: wide(draw, "n_query n_key"),
                wide_masked,
            ],
        ),
        Aspect(
            "layers made in the stated order",
            1,
            [lambda draw: wide(draw, own_parameters=True)],
        ),
        Aspect("gradients", 1, [wide, in_train_mode(wide)], gradients=True),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "In `__init__` make `output`, then an empty `nn.ModuleList` called `heads`, and append a "
        "module with three linear layers for each head.",
        "In `forward` loop over the heads: project, call `masked_attention`, and gather the "
        "contexts in one list and the weights in another.",
        "Put the contexts side by side (`torch.cat` along the last dimension) and send them "
        "through `output`. Put the weights along a new first dimension (`torch.stack`), detached.",
    ],
)
