"""Copy the parameters of PyTorch's layer into ours, which has the same size."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Reads
from autograder.lessons.variants import Alternative, Mistake

from .shared import (
    BIASES,
    BIASES_EXCHANGED,
    EVERY_THIRD_ROW,
    HEAD_BY_HEAD,
    ONE_BIAS,
    WEIGHTS,
    our_layer,
    torchs_layer,
)


def load_case(draw: Draw) -> dict[str, Any]:
    draw.label("two layers of the same size, with nonzero biases")
    draw.heads()
    return {"ours": our_layer(draw), "theirs": torchs_layer(draw)}


def read(*names: str) -> tuple[str, ...]:
    """These parameters of ours, and its mode."""
    return (*(f"ours.{name}" for name in names), "ours.training")


WEIGHT = "layer.weight.copy_(theirs.in_proj_weight[rows])"
BIAS = "layer.bias.copy_(theirs.in_proj_bias[rows])"
OUT = "ours.output.weight.copy_(theirs.out_proj.weight)"
OUT_BIAS = "ours.output.bias.copy_(theirs.out_proj.bias)"
LAYERS = "(ours.query, ours.key, ours.value)"

EXERCISE = Exercise(
    "load_from_torch",
    returns="",
    parts=[Reads("ours")],
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("weights of query, key and value", 2, [load_case], outputs=read(*WEIGHTS[:3])),
        Aspect(
            "the output projection", 1, [load_case], outputs=read("output.weight", "output.bias")
        ),
        Aspect("biases of query, key and value", 2, [load_case], outputs=read(*BIASES[:3])),
    ],
    mistakes=[
        Mistake(
            "weights transposed",
            "You copied the weights of query, key and value transposed. Both layers multiply by "
            "the transpose themselves, so copy the rows as they are.",
            {WEIGHT: "layer.weight.copy_(theirs.in_proj_weight[rows].T)"},
        ),
        Mistake(
            "output transposed",
            "You copied the output's weight transposed. `out_proj` is an nn.Linear like ours: "
            "copy it as it is.",
            {OUT: "ours.output.weight.copy_(theirs.out_proj.weight.T)"},
        ),
        Mistake(
            "everything transposed",
            "You copied all weights transposed. An nn.Linear keeps its weight as [d_out, d_in], "
            "and so does `nn.MultiheadAttention`.",
            {
                WEIGHT: "layer.weight.copy_(theirs.in_proj_weight[rows].T)",
                OUT: "ours.output.weight.copy_(theirs.out_proj.weight.T)",
            },
        ),
        Mistake(
            "query and key exchanged",
            "Query and key are swapped. In the packed weight the query's rows come first, then "
            "the key's, then the value's.",
            {LAYERS: "(ours.key, ours.query, ours.value)"},
        ),
        Mistake(
            "key and value exchanged",
            "Key and value are swapped. In the packed weight the query's rows come first, then "
            "the key's, then the value's.",
            {LAYERS: "(ours.query, ours.value, ours.key)"},
        ),
        Mistake(
            "no biases at all",
            "The weights are right, but you didn't copy the biases. They start at zero in "
            "`theirs` but don't stay there.",
            {BIAS: "pass", OUT_BIAS: "pass"},
        ),
        Mistake(
            "packed biases forgotten",
            "You didn't copy the biases of query, key and value. They are packed in "
            "`in_proj_bias`, in the same order as the weights.",
            {BIAS: "pass"},
        ),
        Mistake(
            "output's bias forgotten",
            "You didn't copy the bias of the output, `out_proj.bias`.",
            {OUT_BIAS: "pass"},
        ),
        Mistake(
            "biases set to zero",
            "You set the biases to zero. That's what they are in a brand-new layer, but not in "
            "one that was trained: copy them.",
            {BIAS: "layer.bias.zero_()", OUT_BIAS: "ours.output.bias.zero_()"},
        ),
        Mistake(
            "output forgotten",
            "You didn't copy the output projection. It is `theirs.out_proj`, separate from the "
            "packed weights.",
            {OUT: "pass", OUT_BIAS: "pass"},
        ),
        Mistake(
            "the wrong way round",
            "You filled theirs with ours. Go the other way: change `ours`, and leave `theirs` as "
            "it is.",
            """
            with torch.no_grad():
                layers = (ours.query, ours.key, ours.value)
                theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
                theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
                theirs.out_proj.load_state_dict(ours.output.state_dict())
            """,
        ),
        Mistake(
            "query's rows for all",
            "Query, key and value all got the first third of the packed rows. Each has a third "
            "of its own.",
            {"(number * d_model, (number + 1) * d_model)": "(0, d_model)"},
        ),
        Mistake(
            "every third row",
            EVERY_THIRD_ROW,
            {"(number * d_model, (number + 1) * d_model)": "(number, None, 3)"},
        ),
        Mistake(
            "written without no_grad",
            "PyTorch refuses to write into a parameter while it records gradients. Copy inside "
            "`with torch.no_grad():`, or use `load_state_dict`.",
            {"with torch.no_grad():": "if True:"},
        ),
        Mistake(
            "local names",
            "Nothing in `ours` has changed. Giving a tensor a name doesn't write into a "
            "parameter; `copy_` does, and so does `load_state_dict` with the names of ours. (With "
            "`strict=False` it skips names it doesn't know.)",
            """
            query, key, value = theirs.in_proj_weight.chunk(3)
            ours_query, ours_key, ours_value = query, key, value
            """,
        ),
        Mistake(
            "theirs by their own names",
            "`load_state_dict` goes by names, and theirs are not ours: there is no "
            "`in_proj_weight` in `ours`. Give it a dict with our names, like the one from "
            "Exercise 1.",
            "ours.load_state_dict(theirs.state_dict())",
        ),
        Mistake(
            "a tensor for a parameter",
            "`layer.weight = …` wants an `nn.Parameter`, and a slice of one is a plain tensor. "
            "Write into the existing parameter: `layer.weight.copy_(…)`.",
            {WEIGHT: "layer.weight = theirs.in_proj_weight[rows]"},
        ),
        Mistake(
            "biases of query and key exchanged",
            BIASES_EXCHANGED,
            {
                BIAS: "turned = (1, 0, 2)[number] * d_model\n"
                "            layer.bias.copy_(theirs.in_proj_bias[turned : turned + d_model])"
            },
        ),
        Mistake(
            "packed head by head",
            HEAD_BY_HEAD,
            {
                WEIGHT: """by_head = theirs.in_proj_weight.unflatten(0, (theirs.num_heads, 3, -1))
            layer.weight.copy_(by_head[:, number].flatten(0, 1))""",
                BIAS: """by_head = theirs.in_proj_bias.unflatten(0, (theirs.num_heads, 3, -1))
            layer.bias.copy_(by_head[:, number].flatten())""",
            },
        ),
        Mistake(
            "one bias for all",
            ONE_BIAS,
            {BIAS: "layer.bias.copy_(theirs.in_proj_bias[:d_model])"},
        ),
    ],
    alternatives=[
        Alternative(
            "load_state_dict",
            """
            names = ("query", "key", "value")
            weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
            state = {f"{name}.weight": weight for name, weight in zip(names, weights)}
            state |= {f"{name}.bias": bias for name, bias in zip(names, biases)}
            state |= {f"output.{name}": value for name, value in theirs.out_proj.named_parameters()}
            ours.load_state_dict(state)
            """,
        ),
        Alternative(
            "through .data",
            """
            parts = zip(theirs.in_proj_weight.data.chunk(3), theirs.in_proj_bias.data.chunk(3))
            for name, (weight, bias) in zip(("query", "key", "value"), parts):
                getattr(ours, name).weight.data[:] = weight
                getattr(ours, name).bias.data[:] = bias
            ours.output.load_state_dict(theirs.out_proj.state_dict())
            """,
        ),
        Alternative(
            "new parameters",
            """
            d = theirs.embed_dim
            for i, layer in enumerate([ours.query, ours.key, ours.value]):
                layer.weight = nn.Parameter(theirs.in_proj_weight[i * d : (i + 1) * d].clone())
                layer.bias = nn.Parameter(theirs.in_proj_bias[i * d : (i + 1) * d].clone())
            ours.output.weight = nn.Parameter(theirs.out_proj.weight.clone())
            ours.output.bias = nn.Parameter(theirs.out_proj.bias.clone())
            """,
        ),
    ],
    hints=[
        "It is Exercise 1 with a different ending: the eight tensors go into `ours`.",
        "`ours.load_state_dict(...)` takes a dict from the names of `ours.state_dict()` to tensors "
        "and copies them in. Or write into each parameter with `copy_`, under `torch.no_grad()`.",
        "Four weights and four biases. Which rows of `in_proj_weight` and of `in_proj_bias` are "
        "the key's?",
    ],
)
