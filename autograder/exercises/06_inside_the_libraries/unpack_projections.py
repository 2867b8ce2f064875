"""Weights and biases of the four projections, by the names of our module's parameters."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Result
from autograder.lessons.variants import Alternative, Mistake

from .shared import (
    BIASES,
    BIASES_EXCHANGED,
    EVERY_THIRD_ROW,
    HEAD_BY_HEAD,
    ONE_BIAS,
    WEIGHTS,
    torchs_layer,
)


def unpack_case(draw: Draw) -> dict[str, Any]:
    draw.label("a layer with nonzero biases")
    return {"mha": torchs_layer(draw)}


CHUNK = 'packed[f"in_proj_{kind}"].chunk(3, dim=0)'
ROW_ORDER = "query, key, value = "
OUTPUT = '"output.weight": packed["out_proj.weight"]'
OUTPUT_BIAS = '"output.bias": packed["out_proj.bias"]'

EXERCISE = Exercise(
    "unpack_projections",
    returns=" ".join(name for pair in zip(WEIGHTS, BIASES, strict=True) for name in pair),
    parts=[Result(as_dict=True)],
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("weights of query, key and value", 2, [unpack_case], outputs=WEIGHTS[:3]),
        Aspect("the output projection", 1, [unpack_case], outputs=("output.weight", "output.bias")),
        Aspect("biases of query, key and value", 2, [unpack_case], outputs=BIASES[:3]),
    ],
    mistakes=[
        Mistake(
            "weights transposed",
            "Your weights are transposed. An nn.Linear keeps its weight as [d_out, d_in], and "
            "so does `nn.MultiheadAttention`: both multiply by the transpose themselves.",
            """
            names = ("query", "key", "value")
            unpacked = {"output.weight": mha.out_proj.weight.T, "output.bias": mha.out_proj.bias}
            for name, weight in zip(names, mha.in_proj_weight.chunk(3), strict=True):
                unpacked[f"{name}.weight"] = weight.T
            for name, bias in zip(names, mha.in_proj_bias.chunk(3), strict=True):
                unpacked[f"{name}.bias"] = bias
            return unpacked
            """,
        ),
        Mistake(
            "packed weights transposed",
            "The weights of query, key and value are transposed. The packed weight works like the "
            "weight of an nn.Linear, `x @ W.T`, so leave its rows as rows.",
            {CHUNK: '[x.T for x in packed[f"in_proj_{kind}"].chunk(3, dim=0)]'},
        ),
        Mistake(
            "output transposed",
            "The weight of the output projection is transposed. `out_proj` is an nn.Linear like "
            "ours: take its weight as it is.",
            {OUTPUT: OUTPUT + ".T"},
        ),
        Mistake(
            "key first",
            "Query and key are swapped. Along dimension 0 the query comes first, then the key, "
            "then the value.",
            {ROW_ORDER: "key, query, value = "},
        ),
        Mistake(
            "value first",
            "Query and value are swapped. Along dimension 0 the query comes first, then the key, "
            "then the value.",
            {ROW_ORDER: "value, key, query = "},
        ),
        Mistake(
            "key and value exchanged",
            "Key and value are swapped. Along dimension 0 the query comes first, then the key, "
            "then the value. (Keras takes the value before the key; PyTorch does not.)",
            {ROW_ORDER: "query, value, key = "},
        ),
        Mistake(
            "cut by columns",
            "You cut the packed weight along its last dimension. Rows make features, so the three "
            "projections are on top of one another: cut dimension 0.",
            {
                CHUNK: 'packed[f"in_proj_{kind}"].chunk(3, dim=-1)',
                "return unpacked": "return {n: v.contiguous() for n, v in unpacked.items()}",
            },
            {
                CHUNK: '[packed[f"in_proj_{kind}"][..., i * d : (i + 1) * d] for i in range(3)]',
                "packed = mha.state_dict()": "packed, d = mha.state_dict(), mha.embed_dim",
            },
        ),
        Mistake(
            "packed head by head",
            HEAD_BY_HEAD,
            {
                CHUNK: """[
            x.flatten(0, 1)
            for x in packed[f"in_proj_{kind}"]
            .unflatten(0, (mha.num_heads, 3, -1))
            .unbind(1)
        ]"""
            },
            {
                CHUNK: f"""(
            packed["in_proj_weight"].unflatten(0, (mha.num_heads, 3, -1)).unbind(1)
            if kind == "weight"
            else {CHUNK}
        )""",
                "return unpacked": (
                    "return {n: v.reshape(-1, *v.shape[2:]) if v.dim() > 2 else v "
                    "for n, v in unpacked.items()}"
                ),
            },
        ),
        Mistake(
            "every third row of the weight",
            "You took every third row of the packed weight. The three projections do not "
            "alternate: the first third of the rows is the query's.",
            {
                CHUNK: f'[packed["in_proj_weight"][i::3] for i in range(3)] if kind == "weight" '
                f"else {CHUNK}"
            },
        ),
        Mistake(
            "every third row",
            EVERY_THIRD_ROW,
            {CHUNK: '[packed[f"in_proj_{kind}"][i::3] for i in range(3)]'},
        ),
        Mistake(
            "all of it for each",
            "Each projection got the whole packed weight. Each one owns only a third of its rows.",
            {CHUNK: '[packed[f"in_proj_{kind}"]] * 3'},
        ),
        Mistake(
            "biases of zero",
            "The biases of query, key and value are zero in your dict. They only start at "
            "zero: cut `in_proj_bias` as you cut the weight.",
            {CHUNK: f'[x * (kind == "weight") for x in {CHUNK}]'},
        ),
        Mistake(
            "all biases of zero",
            "All biases are zero in your dict. They only start at zero: `in_proj_bias` holds "
            "those of query, key and value, and `out_proj.bias` the output's.",
            {
                CHUNK: f'[x * (kind == "weight") for x in {CHUNK}]',
                OUTPUT_BIAS: '"output.bias": 0 * packed["out_proj.bias"]',
            },
        ),
        Mistake(
            "biases of query and key exchanged",
            BIASES_EXCHANGED,
            {
                "return unpacked": """swapped = unpacked["key.bias"], unpacked["query.bias"]
    unpacked["query.bias"], unpacked["key.bias"] = swapped
    return unpacked"""
            },
        ),
        Mistake(
            "weights of query and key exchanged",
            "The weights of query and key are swapped. Along dimension 0 the query comes first, "
            "then the key, then the value.",
            {
                "return unpacked": """swapped = unpacked["key.weight"], unpacked["query.weight"]
    unpacked["query.weight"], unpacked["key.weight"] = swapped
    return unpacked"""
            },
        ),
        Mistake(
            "biases left out",
            "The biases of query, key and value are missing. They are packed in `in_proj_bias`, "
            "in the same order as the weights.",
            {'("weight", "bias")': '("weight",)'},
        ),
        Mistake(
            "one bias for all",
            ONE_BIAS,
            {CHUNK: f"{CHUNK} if kind == 'weight' else [{CHUNK}[0]] * 3"},
        ),
        Mistake(
            "output's bias from the packed one",
            "The output got the query's bias. `in_proj_bias` belongs to the three projections on "
            "the way in; the output has `out_proj.bias`.",
            {OUTPUT_BIAS: '"output.bias": packed["in_proj_bias"][: mha.embed_dim]'},
        ),
        Mistake(
            "value as output",
            "The output got the value's weight. `in_proj_weight` holds the three projections on "
            "the way in; the output has `out_proj.weight`.",
            {OUTPUT: '"output.weight": packed["in_proj_weight"][-mha.embed_dim :]'},
        ),
        Mistake(
            "pieces of three rows",
            "`split(3)` makes pieces of three rows each. `chunk(3)` makes three pieces.",
            {CHUNK: 'packed[f"in_proj_{kind}"].split(3)'},
        ),
        Mistake(
            "as many pieces as heads",
            "You cut the packed weight into as many pieces as there are heads. It holds three "
            "projections, whatever the number of heads: `chunk(3)`.",
            {CHUNK: 'packed[f"in_proj_{kind}"].chunk(mha.num_heads)[:3]'},
            {CHUNK: 'packed[f"in_proj_{kind}"].chunk(mha.num_heads)'},
        ),
    ],
    alternatives=[
        Alternative(
            "slices of the parameters",
            """
            d, weight, bias = mha.embed_dim, mha.in_proj_weight, mha.in_proj_bias
            return {
                "query.weight": weight[:d],
                "query.bias": bias[:d],
                "key.weight": weight[d : 2 * d],
                "key.bias": bias[d : 2 * d],
                "value.weight": weight[2 * d :],
                "value.bias": bias[2 * d :],
                "output.weight": mha.out_proj.weight,
                "output.bias": mha.out_proj.bias,
            }
            """,
        ),
        Alternative(
            "view and clone",
            """
            names = ("query", "key", "value")
            weights = mha.in_proj_weight.view(3, mha.embed_dim, mha.embed_dim)
            biases = mha.in_proj_bias.view(3, mha.embed_dim)
            unpacked = {f"{n}.weight": w.clone() for n, w in zip(names, weights)}
            unpacked.update({f"{n}.bias": b.clone() for n, b in zip(names, biases)})
            for name, value in mha.out_proj.named_parameters():
                unpacked[f"output.{name}"] = value.detach()
            return unpacked
            """,
            excuses={"call dropped": "the values are the same"},
        ),
        Alternative(
            "split",
            """
            d = mha.embed_dim
            query, key, value = torch.split(mha.in_proj_weight.data, d, dim=0)
            query_bias, key_bias, value_bias = torch.split(mha.in_proj_bias.data, d)
            return dict(
                zip(
                    [f"{n}.{k}" for k in ("weight", "bias") for n in ("query", "key", "value")],
                    (query, key, value, query_bias, key_bias, value_bias),
                )
            ) | {"output.weight": mha.out_proj.weight.data, "output.bias": mha.out_proj.bias.data}
            """,
            excuses={
                "keyword dropped: torch.split(": "0 is the default of dim",
                "operands swapped: dict(": "all are taken, in any order",
            },
        ),
    ],
    hints=[
        "`mha.in_proj_weight` has 3 · d_model rows. The first d_model of them are the query's, "
        "then come the key's, then the value's. `mha.embed_dim` is d_model.",
        "`tensor.chunk(3)` cuts a tensor in three along dimension 0. It works for the weight and "
        "for the bias alike.",
        "The keys of the dict are those of `ours.state_dict()`: print them. `mha.out_proj` is an "
        "nn.Linear with a weight and a bias of its own.",
    ],
    excuses={
        "elements swapped: ('weight', 'bias')": "all are taken, in any order",
        "keyword dropped: packed[f'in_proj_": "0 is the default of dim",
        "result in float32": "the library keeps its parameters in float32",
        "result rounded to float32": "likewise",
    },
)
