"""Attention of several heads, each d_model wide with projections of its own."""

from autograder.lessons.cases import ModuleCase
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps, SecondCall

from .wide_multi_head_attention_variants import ALTERNATIVES, MISTAKES


def wide(
    draw: Draw, keep: str = "", own_parameters: bool = False, d_input: bool = True
) -> ModuleCase:
    sizes = draw.named("n_heads d_model d_input" if d_input else "n_heads d_model")
    width = "d_input" if d_input else "d_model"
    inputs = {
        "query": draw.normal(f"batch n_query {width}"),
        "memory": draw.normal(f"batch n_key {width}"),
    }
    if keep:
        inputs["keep"] = draw.keep(keep)
    return ModuleCase(sizes, inputs, own_parameters)


def wide_self(draw: Draw) -> ModuleCase:
    """One tensor as query and memory."""
    words = draw.normal("batch n_query d_input")
    return ModuleCase(draw.named("n_heads d_model d_input"), {"query": words, "memory": words})


def wide_sees_nothing(draw: Draw) -> ModuleCase:
    case = wide(draw, "batch n_query n_key")
    case.inputs["keep"][:, 0] = True
    case.inputs["keep"][:, 1] = False
    draw.label("query 0 may attend to all keys, query 1 to none")
    return case


EXERCISE = Exercise(
    "WideMultiHeadAttention",
    returns="result",
    parts=[
        Keeps("attn_weights", detached=True),
        SecondCall(after=lambda draw: wide(draw, "n_query n_key")),
    ],
    aspects=[
        Aspect(
            "queries and memory of different lengths", 2, [wide_self, wide], outputs=("result",)
        ),
        Aspect("d_input left out", 1, [lambda draw: wide(draw, d_input=False)]),
        Aspect("the weights of every head", 1, [wide], outputs=("attn_weights",)),
        Aspect(
            "masks",
            1,
            [
                lambda draw: wide(draw, "n_query n_key"),
                lambda draw: wide(draw, "batch n_query n_key"),
                wide_sees_nothing,
            ],
        ),
        Aspect(
            "layers made in the stated order",
            1,
            [lambda draw: wide(draw, own_parameters=True)],
        ),
        Aspect("gradients", 1, [wide], gradients=True),
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
