"""Lesson 6: PyTorch's attention layer taken apart, and the same layer for Keras."""

import textwrap
from typing import Any

import torch

from autograder.asking.arguments import Library, StandIn
from autograder.exercises.slips import SCALE, without
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import AGAIN, DOUBLE, ONES, Aspect, Exercise, ModuleCase
from autograder.lessons.variants import Alternative, Mistake

PROJECTIONS = ("query", "key", "value", "output")
WEIGHTS = tuple(f"{name}.weight" for name in PROJECTIONS)
BIASES = tuple(f"{name}.bias" for name in PROJECTIONS)


def torchs_layer(draw: Draw) -> Library:
    """An `nn.MultiheadAttention` whose parameters are drawn, biases included."""
    sizes = draw.heads()
    build = {"embed_dim": sizes["d_model"], "num_heads": sizes["n_heads"], "batch_first": True}
    return Library("torch.nn.MultiheadAttention", build)


# ---------------------------------------------------------------- unpack_projections


def unpack_case(draw: Draw) -> dict[str, Any]:
    draw.label("a layer with nonzero biases")
    return {"mha": torchs_layer(draw)}


CHUNK = 'packed[f"in_proj_{kind}"].chunk(3, dim=0)'
ROW_ORDER = "query, key, value = "
OUTPUT = '"output.weight": packed["out_proj.weight"]'
OUTPUT_BIAS = '"output.bias": packed["out_proj.bias"]'

unpack_projections = Exercise(
    "unpack_projections",
    returns=" ".join(name for pair in zip(WEIGHTS, BIASES, strict=True) for name in pair),
    as_dict=True,
    also=(ONES, AGAIN),
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
            "You took the rows as if each head were packed with its own query, key and value. "
            "Here the query rows of all heads come first, then the key rows, then the value rows.",
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
            "You took every third row. The three projections do not alternate: the first "
            "third of the rows is the query's.",
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
            "The biases of query and key are swapped. `in_proj_bias` has the same order as the "
            "weights: query, key, value.",
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
            "Query, key and value got the same bias, the query's. Each has its own third of "
            "`in_proj_bias`.",
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
        "view and clone / call dropped": "the values are the same",
        "split / keyword dropped: torch.split(": "0 is the default of dim",
        "split / operands swapped: dict(": "all are taken, in any order",
    },
)

# ---------------------------------------------------------------- per_head


def per_head_case(draw: Draw) -> dict[str, Any]:
    n_heads = draw.heads()["n_heads"]
    return {"weight": draw.normal("d_model d_model"), "n_heads": n_heads}


def heads_as_many_as_features(draw: Draw) -> dict[str, Any]:
    draw.label("3 heads of 3 features")
    return {"weight": draw.normal_of((9, 9)), "n_heads": 3}


per_head = Exercise(
    "per_head",
    returns="weights",
    aspects=[
        Aspect("the rows of each head", 1, [heads_as_many_as_features, per_head_case]),
        Aspect(
            "many heads",
            1,
            [
                lambda draw: {
                    "weight": draw.fix(n_heads=5, d_head=2, d_model=10).normal("d_model d_model"),
                    "n_heads": 5,
                }
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "columns, turned",
            "You gave each head a slice of columns, turned into rows. In a query, key or value "
            "projection a head owns rows; it reads all columns.",
            "return weight.T.reshape(n_heads, -1, weight.shape[0])",
        ),
        Mistake(
            "columns",
            "You gave each head a slice of columns. In a query, key or value projection row i "
            "makes feature i, so a head owns rows. (In the output projection, it owns columns.)",
            "return weight.view(weight.shape[0], n_heads, -1).transpose(0, 1)",
        ),
        Mistake(
            "interleaved",
            "Your heads take turns, each with every n_heads-th row. A head owns d_head rows that "
            "are next to each other.",
            "return weight.view(-1, n_heads, weight.shape[1]).transpose(0, 1)",
        ),
        Mistake(
            "heads in the second place",
            "The heads are in dimension 1, and they take turns at the rows. Cut dimension 0 into "
            "heads first, then into the rows of a head. (`split` takes the size of a piece, "
            "`chunk` the number of pieces.)",
            "return weight.view(-1, n_heads, weight.shape[1])",
        ),
        Mistake(
            "each head transposed",
            "Each head has the right numbers, but transposed. Keep them as an nn.Linear does: "
            "[d_head, d_model].",
            {"weight.shape[1])": "weight.shape[1]).transpose(1, 2)"},
        ),
        Mistake(
            "cut without a look",
            "Each head has its own numbers, but in broken rows: d_model rows of d_head numbers. A "
            "head has d_head rows of d_model numbers.",
            "return weight.reshape(n_heads, weight.shape[0], -1)",
        ),
        Mistake(
            "one head",
            "That is only head 0. Return all heads, along a new dimension 0.",
            "return weight[: weight.shape[0] // n_heads]",
        ),
        Mistake(
            "a list",
            "You returned the matrices one by one. Turn them into one tensor with `torch.stack`.",
            "return list(weight.chunk(n_heads))",
            "return weight.chunk(n_heads)",
        ),
        Mistake(
            "overlapping heads",
            "Your heads overlap: head h starts at row h. It should start at row h · d_head.",
            """
            d_head = weight.shape[0] // n_heads
            return torch.stack([weight[h : h + d_head] for h in range(n_heads)])
            """,
        ),
    ],
    alternatives=[
        Alternative("chunk and stack", "return torch.stack(weight.chunk(n_heads, dim=0))"),
        Alternative("unflatten", "return weight.unflatten(0, (n_heads, -1))"),
        Alternative(
            "a loop over slices",
            """
            d_head = weight.shape[0] // n_heads
            heads = [weight[h * d_head : (h + 1) * d_head] for h in range(n_heads)]
            return torch.stack(heads, dim=0)
            """,
        ),
    ],
    hints=[
        "Head 0 owns the first d_head rows, head 1 the next, and d_head is d_model / n_heads.",
        "Rows that are next to each other in memory can be cut into groups without moving a "
        "number: use `view`, with one more dimension in front.",
        "The new shape is [n_heads, d_head, d_model]; `-1` lets `view` work one of them out.",
    ],
    excuses={
        "another number: 1 → 0 (2)": "a projection has as many rows as columns",
        "chunk and stack / keyword dropped: weight.chunk(": "0 is the default of dim",
        "a loop over slices / another number: 0 →": "a projection has as many rows as columns",
        "a loop over slices / keyword dropped: torch.stack(": "0 is the default of dim",
    },
)

# ---------------------------------------------------------------- fold_heads


def fold_case(draw: Draw) -> dict[str, Any]:
    n_heads = draw.heads()["n_heads"]
    return {"x": draw.normal("n batch n_heads*d_head"), "n_heads": n_heads}


def one_sentence(draw: Draw) -> dict[str, Any]:
    draw.fix(batch=1)
    draw.label("one sentence")
    return fold_case(draw)


def many_sentences(draw: Draw) -> dict[str, Any]:
    draw.fix(n=3, batch=7, n_heads=5, d_head=2)
    return {"x": draw.normal("n batch n_heads*d_head"), "n_heads": 5}


TURN = ".transpose(0, 1)"

fold_heads = Exercise(
    "fold_heads",
    returns="folded",
    aspects=[
        Aspect("one sentence", 1, [one_sentence]),
        Aspect("sentence by sentence, head by head", 2, [fold_case, fold_case]),
        Aspect("many sentences and heads", 1, [many_sentences]),
        Aspect("gradients flow through", 1, [fold_case], gradients=True),
    ],
    mistakes=[
        Mistake(
            "view straight to the shape",
            "The shape is right, but the numbers stayed in their order, so each of your rows "
            "holds pieces of several words and sentences. Words come first in `x`: move that "
            "dimension, don't just rename it.",
            """
            n, batch, d_model = x.shape
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "heads before sentences",
            "Your heads come first, then the sentences: entry h * batch + b. Keep the heads of "
            "one sentence together: b * n_heads + h.",
            """
            n, batch, d_model = x.shape
            return x.view(n, batch, n_heads, -1).permute(2, 1, 0, 3).reshape(batch * n_heads, n, -1)
            """,
        ),
        Mistake(
            "words left in front",
            "You cut `x` correctly, but the words are still in dimension 0. In the result the "
            "folded sentences come first, then the words.",
            {TURN: ""},
        ),
        Mistake(
            "batch taken to be first",
            "You read `x` as [batch, n, d_model], and so the heads got folded into the words. "
            "Here words come first, [n, batch, d_model], and the heads go with the batch.",
            """
            batch, n, d_model = x.shape
            x = x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "not folded",
            "The heads have an axis of their own. Fold them into the batch, so that three "
            "dimensions are left.",
            """
            n, batch, d_model = x.shape
            return x.reshape(n, batch, n_heads, d_model // n_heads).permute(1, 2, 0, 3)
            """,
        ),
        Mistake(
            "interleaved",
            "Your heads take turns, each with every n_heads-th feature. A head owns d_head "
            "features that are next to each other.",
            """
            n, batch, d_model = x.shape
            x = x.view(n, batch, d_model // n_heads, n_heads).permute(1, 3, 0, 2)
            return x.reshape(batch * n_heads, n, d_model // n_heads)
            """,
        ),
        Mistake(
            "features before words",
            "Words and features of each head have traded places: you have [.., d_head, n], not "
            "[.., n, d_head].",
            {TURN: ".permute(1, 2, 0)"},
        ),
        Mistake(
            "cut in the wrong place",
            "Sentences are apart, but inside each one the numbers stayed in their order, so your "
            "rows are pieces of words. Cut the features while they are the last dimension, before "
            "you move the words.",
            """
            n, batch, d_model = x.shape
            x = x.transpose(0, 1).reshape(batch * n_heads, n, d_model // n_heads)
            return x
            """,
        ),
        Mistake(
            "first sentence only",
            "That is only the first sentence. Return the heads of all sentences, batch * n_heads "
            "of them.",
            """
            n, batch, d_model = x.shape
            folded = x.reshape(n, batch * n_heads, d_model // n_heads).transpose(0, 1)
            return folded[:n_heads]
            """,
        ),
        Mistake(
            "detached",
            "The numbers are right, but a `detach`, `.data`, or a new tensor cuts the graph: "
            "no gradient flows back to `x`.",
            {"return x.reshape": "return x.detach().reshape"},
        ),
    ],
    alternatives=[
        Alternative(
            "an axis for the heads first",
            """
            n, batch, d_model = x.shape
            heads = x.unflatten(-1, (n_heads, -1))
            return heads.permute(1, 2, 0, 3).flatten(0, 1)
            """,
        ),
        Alternative(
            "two loops",
            """
            n, batch, d_model = x.shape
            d_head = d_model // n_heads
            folded = []
            for b in range(batch):
                for h in range(n_heads):
                    folded.append(x[:, b, h * d_head : (h + 1) * d_head])
            return torch.stack(folded)
            """,
        ),
        Alternative(
            "as the library does",
            """
            n, batch, d_model = x.shape
            return x.contiguous().view(n, batch * n_heads, d_model // n_heads).transpose(0, 1)
            """,
        ),
        Alternative(
            "einsum and a stack",
            """
            heads = torch.stack(x.chunk(n_heads, dim=-1))
            return torch.einsum("hnbd->bhnd", heads).flatten(0, 1)
            """,
        ),
    ],
    hints=[
        "For one word, [batch, d_model] holds head after head of sentence 0, then head after head "
        "of sentence 1. That is already the order b * n_heads + h.",
        "So one `reshape` of [n, batch, d_model] makes batch * n_heads little vectors out of "
        "every word. All that's left is to move the words behind them.",
        "`transpose` swaps two dimensions. Check yourself with one sentence: entry 0 should hold "
        "the first d_head features of each word, word after word.",
    ],
    excuses={
        "as the library does / call dropped: x.contiguous()": "every `x` is in order in memory",
    },
)

# ---------------------------------------------------------------- load_from_torch


def load_case(draw: Draw) -> dict[str, Any]:
    draw.label("two layers of the same size, with nonzero biases")
    theirs = torchs_layer(draw)
    shapes = {name: "d_model d_model" for name in WEIGHTS} | {name: "d_model" for name in BIASES}
    ours = {name: draw.normal(dims) for name, dims in shapes.items()}
    n_heads = draw.heads()["n_heads"]
    return {"ours": StandIn(ours, {"n_heads": n_heads}), "theirs": theirs}


def read(*names: str) -> tuple[str, ...]:
    """Parameters of ours, all of theirs, which must stay as they are, and the modes of both."""
    theirs = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    modes = ("ours.training", "theirs.training")
    return (*(f"ours.{name}" for name in names), *(f"theirs.{name}" for name in theirs), *modes)


WEIGHT = "layer.weight.copy_(theirs.in_proj_weight[rows])"
BIAS = "layer.bias.copy_(theirs.in_proj_bias[rows])"
OUT = "ours.output.weight.copy_(theirs.out_proj.weight)"
OUT_BIAS = "ours.output.bias.copy_(theirs.out_proj.bias)"
LAYERS = "(ours.query, ours.key, ours.value)"

load_from_torch = Exercise(
    "load_from_torch",
    returns="",
    reads="ours theirs",
    also=(),
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
            "You took every third row. The three projections do not alternate: the first "
            "third of the rows is the query's.",
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
            "The biases of query and key are swapped. `in_proj_bias` has the same order as the "
            "weights: query, key, value.",
            {
                BIAS: "turned = (1, 0, 2)[number] * d_model\n"
                "            layer.bias.copy_(theirs.in_proj_bias[turned : turned + d_model])"
            },
        ),
        Mistake(
            "packed head by head",
            "You took the rows as if each head were packed with its own query, key and value. "
            "Here the query rows of all heads come first, then the key rows, then the value rows.",
            {
                WEIGHT: """by_head = theirs.in_proj_weight.unflatten(0, (theirs.num_heads, 3, -1))
            layer.weight.copy_(by_head[:, number].flatten(0, 1))""",
                BIAS: """by_head = theirs.in_proj_bias.unflatten(0, (theirs.num_heads, 3, -1))
            layer.bias.copy_(by_head[:, number].flatten())""",
            },
        ),
        Mistake(
            "one bias for all",
            "Query, key and value got the same bias, the query's. Each has its own third of "
            "`in_proj_bias`.",
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

# ---------------------------------------------------------------- KerasMultiHeadAttention


def keras_case(draw: Draw, **inputs: torch.Tensor) -> ModuleCase:
    """A layer with kernels and biases, none of them zero."""
    build = draw.named("n_heads d_k d_v d_model")
    shapes = {
        "query": ("d_model", "n_heads*d_k"),
        "key": ("d_model", "n_heads*d_k"),
        "value": ("d_model", "n_heads*d_v"),
        "output_dense": ("n_heads*d_v", "d_model"),
    }
    parameters = {}
    for name, (d_in, d_out) in shapes.items():
        parameters[f"{name}.kernel"] = draw.normal(f"{d_in} {d_out}", 0.6)
        parameters[f"{name}.bias"] = draw.normal(d_out, 0.6)
    return ModuleCase(build, inputs, parameters=parameters)


def keras_self(draw: Draw) -> ModuleCase:
    words = draw.normal("batch n d_model")
    return keras_case(draw, query=words, key=words, value=words)


def keras_masked_self(draw: Draw) -> ModuleCase:
    case = keras_self(draw)
    case.inputs["keep"] = draw.keep("batch n n")
    return case


def three_places(draw: Draw, scale: float = 1.0) -> dict[str, torch.Tensor]:
    return {
        "query": draw.normal("batch n_query d_model", scale),
        "key": draw.normal("batch n_key d_model", scale),
        "value": draw.normal("batch n_key d_model"),
    }


def keras_cross(draw: Draw) -> ModuleCase:
    return keras_case(draw, **three_places(draw))


def keras_masked(draw: Draw) -> ModuleCase:
    """As many sentences as heads, so that a mask for each sentence fits the heads as well."""
    places = {name: draw.normal("n_heads n d_model") for name in PROJECTIONS[:3]}
    keep = (draw.normal("n_heads n n") > 0) | torch.eye(draw.size("n"), dtype=torch.bool)
    draw.label("as many sentences as heads, a mask for each")
    return keras_case(draw, **places, keep=keep)


def keras_large(draw: Draw) -> ModuleCase:
    draw.label("one mask for all sentences, and scores far apart")
    return keras_case(draw, **three_places(draw, 60), keep=draw.keep("n_query n_key"))


def keras_nothing_kept(draw: Draw) -> ModuleCase:
    draw.label("one query may attend to nothing")
    keep = draw.keep("batch n_query n_key")
    keep[1, 2] = False
    return keras_case(draw, **three_places(draw), keep=keep)


DIVIDED = " / query.shape[-1] ** 0.5"
MASK = "ops.where(keep, attn_scores, low)"
ZEROS = "attn_weights = ops.where(keep, attn_weights, 0.0)"
MASKED = f"attn_weights = ops.softmax({MASK}, axis=-1)"
SPLIT = "ops.reshape(x, (*x.shape[:2], self.heads, -1))"
MERGE = "ops.swapaxes(ops.matmul(attn_weights, value), 1, 2)"
JOIN = "ops.reshape(context, (*context.shape[:2], -1))"
NO_MASK = "attn_weights = ops.softmax(attn_scores, axis=-1)"
AXIS = "keep = keep if len(keep.shape) == 2 else keep[:, None]"


D_K, D_V = "n_heads * d_k", "n_heads * d_v"


def layers(key_size: str, value_size: str, options: str = "") -> dict[str, str]:
    """The edits that give queries and keys, and values, another size or other options."""
    sizes = {"query": (D_K, key_size), "key": (D_K, key_size), "value": (D_V, value_size)}
    return {
        f"self.{name} = keras.layers.Dense({old})": (
            f"self.{name} = keras.layers.Dense({new}{options})"
        )
        for name, (old, new) in sizes.items()
    }


def output_layer(options: str) -> dict[str, str]:
    return {"Dense(d_model)": f"Dense(d_model{options})"}


UNFLATTEN = {SPLIT: "x.unflatten(-1, (self.heads, -1))"}
ONE_HEAD = (
    "Your `query` makes d_k features for all heads together. Here d_k and d_v are the sizes of "
    "one head, so make n_heads times as many."
)
NOT_D_MODEL = (
    "Your layers make d_model features. Here the sizes of a head are given: queries and keys are "
    "n_heads · d_k wide, values n_heads · d_v, and only the output makes d_model."
)
LINEAR = (
    "Your `Dense` layers have an activation. A projection is linear, nothing but a product and a "
    "bias: leave `activation` out."
)


def instead(call: str) -> dict[str, str]:
    """The edit that puts other lines, which return, at the start of `call`."""
    first = "query = self.heads_first(self.query(query))"
    return {first: textwrap.indent(textwrap.dedent(call), " " * 8).strip() + f"\n        {first}"}


KerasMultiHeadAttention = Exercise(
    "KerasMultiHeadAttention",
    returns="result",
    also=(ONES, AGAIN),  # Keras rounds to float32
    earlier=keras_masked_self,
    aspects=[
        Aspect("self-attention", 2, [keras_self]),
        Aspect("queries, keys and values from different places", 2, [keras_cross]),
        Aspect("masks", 2, [keras_masked, keras_large]),
        Aspect("a query that may attend to nothing", 1, [keras_nothing_kept]),
        Aspect("gradients flow through", 1, [keras_nothing_kept], gradients=True),
    ],
    slips=without(SCALE, "divided by √n_key"),
    mistakes=[
        Mistake(
            "renormalized after softmax",
            "Softmax runs over the hidden keys too, and you divide by the sum of what is left. "
            "When a hidden key has by far the largest score, nothing is left. Hide the scores "
            "first.",
            instead(
                """
                q, k, v = (
                    ops.reshape(x, (x.shape[0], x.shape[1], self.heads, -1))
                    for x in (self.query(query), self.key(key), self.value(value))
                )
                attn_scores = ops.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
                attn_weights = ops.softmax(attn_scores)
                if keep is not None:
                    seen = keep if keep.dim() == 2 else keep[:, None]
                    attn_weights = attn_weights * ops.cast(seen, attn_weights.dtype)
                    total = ops.sum(attn_weights, axis=-1, keepdims=True)
                    attn_weights = attn_weights / ops.maximum(total, 1e-20)
                context = ops.einsum("bhij,bjhd->bihd", attn_weights, v)
                return self.output_dense(ops.reshape(context, (*query.shape[:2], -1)))
                """
            ),
        ),
        Mistake(
            "scaled by the whole d_k",
            "Your scores are divided by the square root of the size of all heads together, so "
            "every head is too soft by √n_heads. A dot product here sums over the features of one "
            "head.",
            {DIVIDED: " / (self.heads * query.shape[-1]) ** 0.5"},
        ),
        Mistake(
            "scaled by d_model",
            "Your scores are divided by √d_model. A dot product here sums over the d_k "
            "features of one head.",
            {
                "self.heads = n_heads": "self.heads, self.d_model = n_heads, d_model",
                DIVIDED: " / self.d_model ** 0.5",
            },
        ),
        Mistake(
            "scaled by the number of keys",
            "Your scores are divided by the square root of the number of words. The features of a "
            "head are the last dimension: `shape[-1]`.",
            {DIVIDED: " / key.shape[-2] ** 0.5"},
            {DIVIDED: " / query.shape[-2] ** 0.5"},
        ),
        Mistake(
            "scaled by n_heads",
            "Your scores are divided by √n_heads. In [batch, n_heads, n, d_k] the features of "
            "a head are the last dimension: `shape[-1]`.",
            {DIVIDED: " / query.shape[1] ** 0.5"},
        ),
        Mistake(
            "scaled by a fixed size",
            "You divided by √64, or by 8: the size in an example. Heads have d_k features here; "
            "ask the queries, with `shape[-1]`.",
            {DIVIDED: " / 64 ** 0.5"},
        ),
        Mistake(
            "keys ask",
            "Your scores have a row for each key. Queries do the asking, so they come first in the "
            "product.",
            {
                "ops.matmul(query, ops.swapaxes(key, -2, -1))": (
                    "ops.matmul(key, ops.swapaxes(query, -2, -1))"
                )
            },
        ),
        Mistake(
            "heads not split",
            "Queries and keys are never cut into heads: all of their features make one score. Cut "
            "them into `n_heads` heads, each with scores of its own.",
            {
                "self.heads_first(self.query(query))": "self.query(query)[:, None]",
                "self.heads_first(self.key(key))": "self.key(key)[:, None]",
            },
            {SPLIT: "ops.reshape(x, (*x.shape[:2], 1, -1))"},
        ),
        Mistake(
            "heads by reshape alone",
            "Your heads hold pieces of several words: a reshape straight to [batch, n_heads, n, "
            "d_head] leaves all numbers in their order. Cut the last dimension, then swap heads "
            "and words.",
            {
                SPLIT: "ops.reshape(x, (x.shape[0], self.heads, x.shape[1], -1))",
                "return ops.swapaxes(heads, 1, 2)": "return heads",
            },
        ),
        Mistake(
            "heads attend to heads",
            "The heads stayed behind the words, so within each word heads attend to heads. Move "
            "heads in front of words before the product.",
            {
                "return ops.swapaxes(heads, 1, 2)": "return heads",
                MERGE: "ops.matmul(attn_weights, value)",
            },
        ),
        Mistake(
            "merged by reshape alone",
            "You joined the heads' contexts without a transpose, so your rows hold one head of "
            "several words. Swap heads and words first.",
            {
                MERGE: "ops.matmul(attn_weights, value)",
                JOIN: "ops.reshape(context, (context.shape[0], context.shape[2], -1))",
            },
        ),
        Mistake(
            "merged feature by feature",
            "You merged the first feature of every head, then the second: the features are in "
            "front of the heads. Keep the features of a head next to each other.",
            {MERGE: "ops.transpose(ops.matmul(attn_weights, value), (0, 2, 3, 1))"},
        ),
        Mistake(
            "interleaved heads",
            "Your heads take turns, each with every n_heads-th feature. A head's features belong "
            "next to each other, or you can't exchange kernels with the library.",
            {
                SPLIT: "ops.reshape(x, (*x.shape[:2], -1, self.heads))",
                "return ops.swapaxes(heads, 1, 2)": "return ops.transpose(heads, (0, 3, 1, 2))",
            },
        ),
        Mistake(
            "softmax over the queries",
            "Softmax ran over the queries. Each query divides 1 among its keys: use the last axis.",
            {
                NO_MASK: "attn_weights = ops.softmax(attn_scores, axis=-2)",
                MASKED: f"attn_weights = ops.softmax({MASK}, axis=-2)",
            },
        ),
        Mistake(
            "softmax over the heads",
            "Softmax ran over the heads. Each query divides 1 among its keys: use the last axis.",
            {
                NO_MASK: "attn_weights = ops.softmax(attn_scores, axis=1)",
                MASKED: f"attn_weights = ops.softmax({MASK}, axis=1)",
            },
        ),
        Mistake(
            "key and value exchanged",
            "`key` goes through the value's layer and `value` through the key's. Keras's own "
            "layer takes the value before the key; yours takes query, key, value.",
            {
                "self.heads_first(self.key(key))": "self.heads_first(self.key(value))",
                "self.heads_first(self.value(value))": "self.heads_first(self.value(KEY))",
                "query = self.heads_first(self.query(query))": (
                    "query, KEY = self.heads_first(self.query(query)), key"
                ),
            },
        ),
        Mistake(
            "everything from the query",
            "You made keys and values from `query`, which is right for self-attention only.",
            {
                "self.key(key)": "self.key(query_words)",
                "self.value(value)": "self.value(query_words)",
                "query = self.heads_first(self.query(query))": (
                    "query_words, query = query, self.heads_first(self.query(query))"
                ),
            },
        ),
        Mistake(
            "keys made of the query",
            "You made the keys from `query`, which is right for self-attention only: use `key`.",
            {
                "query = self.heads_first(self.query(query))": (
                    "query_words, query = query, self.heads_first(self.query(query))"
                ),
                "self.key(key)": "self.key(query_words)",
            },
        ),
        Mistake(
            "values made of the keys",
            "You made the values from `key`. They may come from somewhere else: use `value`.",
            {
                "key = self.heads_first(self.key(key))": (
                    "key, words = self.heads_first(self.key(key)), key"
                ),
                "self.value(value)": "self.value(words)",
            },
        ),
        Mistake(
            "mask reversed",
            "Your mask is reversed: it hides what may be seen. `keep` is True where a query "
            "may attend.",
            {MASK: "ops.where(keep, -1e9, attn_scores)", ZEROS: "pass"},
            {MASK: "ops.where(keep, -1e9, attn_scores)"},
            {AXIS: "keep = ~(keep if len(keep.shape) == 2 else keep[:, None])"},
        ),
        Mistake(
            "hidden scores not low enough",
            "The number you gave hidden scores isn't low enough: real scores can be just as low. "
            "Take the lowest number of their dtype.",
            {MASK: "ops.where(keep, attn_scores, -30.0)"},
            {MASK: "ops.where(keep, attn_scores, -100.0)"},
        ),
        Mistake(
            "zeros after the output layer",
            "You set the result to zero, after the output layer. A query that may attend to "
            "nothing has a context of zeros, and then that layer adds its bias.",
            {
                ZEROS: "pass",
                f"return self.output_dense({JOIN})": (
                    f"result = self.output_dense({JOIN})\n"
                    "        seen = True if keep is None else keep.any(-1).view(\n"
                    "            -1, query.shape[2], 1\n"
                    "        )\n"
                    "        return ops.where(seen, result, 0.0)"
                ),
            },
        ),
        Mistake(
            "mask ignored", "`keep` has no effect.", {AXIS: "pass", MASKED: NO_MASK, ZEROS: "pass"}
        ),
        Mistake(
            "masked after softmax",
            "You masked the weights after softmax, so the rows no longer sum to 1. Mask the "
            "scores before it.",
            {MASKED: NO_MASK},
        ),
        Mistake(
            "scores times mask",
            "You set hidden scores to 0, and e⁰ is 1, so hidden keys still get weight. Their "
            "scores must be very negative.",
            {MASK: "attn_scores * ops.cast(keep, attn_scores.dtype)", ZEROS: "pass"},
            {MASK: "attn_scores * ops.cast(keep, attn_scores.dtype)"},
        ),
        Mistake(
            "mask added",
            "You added the mask to the scores: visible keys gained 1, and hidden ones are hardly "
            "dimmed. Their scores must be very negative.",
            {MASK: "attn_scores + ops.cast(keep, attn_scores.dtype)", ZEROS: "pass"},
        ),
        Mistake(
            "mask without an axis for the heads",
            "The mask [batch, n_query, n_key] meets scores [batch, n_heads, n_query, n_key]: it "
            "needs an axis of size 1 for the heads, after the batch.",
            {AXIS: "pass"},
        ),
        Mistake(
            "an axis for the heads in every mask",
            "You put an axis for the heads in the middle of a mask [n_query, n_key]. Only a mask "
            "with three dimensions needs one; this one broadcasts as it is.",
            {AXIS: "keep = keep[:, None]"},
        ),
        Mistake(
            "weight spread over hidden keys",
            "A query that may attend to nothing spreads its weight evenly over keys that it "
            "must not see. It should get zeros.",
            {ZEROS: "pass"},
        ),
        Mistake(
            "minus infinity",
            "A query that may attend to nothing gets NaN: its scores are all −∞. It should "
            "get zeros.",
            {MASK: "ops.where(keep, attn_scores, -float('inf'))", ZEROS: "pass"},
        ),
        Mistake(
            "NaN only in the gradient",
            "The result is right, but its gradient holds NaN: a row of −∞ went through softmax, "
            "and hiding the NaN afterward doesn't clean up the backward pass. Use a large "
            "negative number.",
            {MASK: "attn_scores + ops.where(keep, 0.0, -float('inf'))"},
        ),
        Mistake(
            "no output projection",
            "`self.output_dense` is never called, so it has no parameters. Make the layer in "
            "`__init__`, and send the merged heads through it in `call`.",
            {f"self.output_dense({JOIN})": JOIN},
        ),
        Mistake(
            "no bias in the output",
            "Your output layer has no bias. Leave `use_bias` at its default.",
            {**output_layer(", use_bias=False")},
        ),
        Mistake(
            "d_k for all heads together",
            ONE_HEAD,
            {**layers("d_k", "d_v"), SPLIT: "ops.reshape(x, (*x.shape[:2], 1, -1))"},
            layers("d_k", "d_v"),
            {**layers("d_k", "d_v"), **UNFLATTEN},
        ),
        Mistake(
            "d_model features, cut by reshape",
            NOT_D_MODEL,
            layers("d_model", "d_model"),
            {**layers("d_model", "d_model"), **UNFLATTEN},
        ),
        Mistake(
            "an activation in each layer",
            LINEAR,
            {**layers(D_K, D_V, ", activation='relu'"), **output_layer(", activation='relu'")},
            layers(D_K, D_V, ", activation='relu'"),
            *(
                {
                    f"self.{name} = keras.layers.Dense({size})": (
                        f"self.{name} = keras.layers.Dense({size}, activation='relu')"
                    )
                }
                for name, size in (("query", D_K), ("key", D_K), ("value", D_V))
            ),
            {
                "self.query(query)": "ops.relu(self.query(query))",
                "self.key(key)": "ops.relu(self.key(key))",
            },
        ),
        Mistake(
            "an activation in the output",
            "Your output layer has an activation, so no number in the result is negative. It is a "
            "projection: leave `activation` out.",
            {**output_layer(", activation='relu'")},
        ),
        Mistake(
            "no biases anywhere",
            "Your layers have no biases. Leave `use_bias` at its default.",
            {**layers(D_K, D_V, ", use_bias=False"), **output_layer(", use_bias=False")},
        ),
        Mistake(
            "no biases in query, key and value",
            "Your query, key and value have no biases. Leave `use_bias` at its default.",
            layers(D_K, D_V, ", use_bias=False"),
        ),
        Mistake(
            "value through the key's layer",
            "`value` goes through the key's layer, and the value's own layer is never used, so "
            "it never gets parameters.",
            {"self.value(value)": "self.key(value)"},
        ),
        Mistake(
            "key through the query's layer",
            "`key` goes through the query's layer. Give it a layer of its own, and call that one.",
            {"self.key(key)": "self.query(key)"},
        ),
        Mistake(
            "values as wide as keys",
            "Your `value` makes d_k features for each head; it should make d_v.",
            {"Dense(n_heads * d_v)": "Dense(n_heads * d_k)"},
        ),
        Mistake(
            "mean over the heads",
            "You averaged the heads. Send them into the output layer side by side.",
            {JOIN: "ops.repeat(ops.mean(context, 2), self.heads, axis=-1)"},
        ),
        Mistake(
            "detached contexts",
            "The result is right, but no gradient gets past the output layer: a `detach`, `.data`, "
            "NumPy or `no_grad` cuts the path to query, key and value.",
            {MERGE: "ops.swapaxes(ops.matmul(attn_weights, value), 1, 2).detach()"},
        ),
        Mistake(
            "detached weights",
            "The result is right, but no gradient reaches queries and keys: a `detach`, `.data`, "
            "NumPy or `no_grad` cuts the path.",
            {MERGE: "ops.swapaxes(ops.matmul(attn_weights.detach(), value), 1, 2)"},
        ),
        Mistake(
            "keys made by the query's layer",
            "Where `key` and `query` are one tensor, you use the queries as keys. Keys come from a "
            "layer of their own, `self.key`.",
            {
                "key = self.heads_first(self.key(key))": (
                    "key = query if key is asked else self.heads_first(self.key(key))"
                ),
                "query = self.heads_first(": "asked = query\n        query = self.heads_first(",
            },
        ),
        Mistake(
            "minus infinity between two wheres",
            "The result is right, and so are the gradients. But −∞ makes NaN for a query that may "
            "attend to nothing, and your `where` wipes it away, forward and backward. Take a large "
            "negative number, so that no NaN arises.",
            {MASK: "ops.where(keep, attn_scores, -float('inf'))"},
        ),
    ],
    alternatives=[
        Alternative(
            "torch's own functions",
            instead(
                """
                def heads(x):
                    return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

                query, key = heads(self.query(query)), heads(self.key(key))
                value = heads(self.value(value))
                attn_scores = query @ key.mT * query.shape[-1] ** -0.5
                if keep is not None:
                    keep = keep.unsqueeze(-3)
                    attn_scores = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
                attn_weights = attn_scores.softmax(-1)
                if keep is not None:
                    attn_weights = attn_weights.masked_fill(~keep, 0.0)
                return self.output_dense((attn_weights @ value).transpose(1, 2).flatten(2))
                """
            ),
        ),
        Alternative(
            "F.scaled_dot_product_attention",
            instead(
                """
                projected = self.query(query), self.key(key), self.value(value)
                heads = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in projected)
                keep = None if keep is None else keep.unsqueeze(-3)
                context = F.scaled_dot_product_attention(*heads, attn_mask=keep)
                return self.output_dense(context.transpose(1, 2).flatten(2))
                """
            ),
        ),
        Alternative(
            "a layer made in build, a loop over heads",
            {
                "self.output_dense = keras.layers.Dense(d_model)": """self.sizes = d_k, d_v, d_model

    def build(self, query_shape, key_shape, value_shape, keep_shape=None):
        d_k, d_v, d_model = self.sizes
        self.query.build(query_shape)
        self.key.build(key_shape)
        self.value.build(value_shape)
        self.output_dense = keras.layers.Dense(d_model)
        self.output_dense.build((None, None, self.heads * d_v))""",
                **instead(
                    """
                    query, key, value = self.query(query), self.key(key), self.value(value)
                    d_k, d_v, _ = self.sizes
                    contexts = []
                    for h in range(self.heads):
                        own, own_v = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
                        scores = query[..., own] @ key[..., own].mT / d_k**0.5
                        if keep is not None:
                            scores = ops.where(keep, scores, -1e9)
                        weights = ops.softmax(scores, axis=-1)
                        if keep is not None:
                            weights = weights * keep.any(-1, keepdim=True)
                        contexts.append(weights @ value[..., own_v])
                    return self.output_dense(ops.concatenate(contexts, axis=-1))
                    """
                ),
            },
        ),
    ],
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
        "torch's own functions / argument dropped: torch.finfo(": (
            "the scores are float32, the default"
        ),
        "torch's own functions / another fill: $X.masked_fill($M, -1e9) (2)": (
            "low enough for float32"
        ),
        "torch's own functions / another fill: $X.masked_fill($M, torch.finfo": ("likewise"),
        "torch's own functions / another fill: $X * ~$M (3)": "times `keep` hides them as well",
        "torch's own functions / another argument: query → key in query.shape[-1]": (
            "both have d_k features"
        ),
        "a layer made in build, a loop over heads / statement dropped: self.": (
            "Keras builds a layer on its first call"
        ),
        "a layer made in build, a loop over heads / call dropped: self.": "likewise",
        "a layer made in build, a loop over heads / another argument: query_shape": (
            "all have d_model features"
        ),
        "a layer made in build, a loop over heads / another argument: key_shape": "likewise",
        "a layer made in build, a loop over heads / another argument: value_shape": "likewise",
        "a layer made in build, a loop over heads / another number: 1000000000.0": (
            "any number that large will do"
        ),
        "a layer made in build, a loop over heads / keyword dropped: ops.softmax(": (
            "-1 is the default of axis"
        ),
        "a layer made in build, a loop over heads / call dropped: keep.any": (
            "adds 1 only to what divides 0"
        ),
    },
)

# ---------------------------------------------------------------- hide_change


def hidden_change(draw: Draw) -> dict[str, Any]:
    """A layer, and a matrix that is far from singular and not symmetric.

    The head is neither the first, nor the second, nor the last, so that no slip passes for another.
    """
    n_heads, d_head = draw.choose("n_heads", 4, 5).size("n_heads"), 3
    draw.fix(d_model=n_heads * d_head)
    shapes = {name: "d_model d_model" for name in WEIGHTS} | {name: "d_model" for name in BIASES}
    layer = {name: draw.normal(dims) for name, dims in shapes.items()}
    mix = 2 * torch.eye(d_head) + draw.normal_of((d_head, d_head), 0.4)
    return {"layer": StandIn(layer, {"n_heads": n_heads}), "head": n_heads - 2, "mix": mix}


def parameters(*names: str) -> tuple[str, ...]:
    return (*(f"layer.{name}" for name in names), "layer.training")


KEY_MATRIX = "torch.linalg.inv(mix).T"
LOOP = f"for projection, matrix in ((layer.query, mix), (layer.key, {KEY_MATRIX})):"
CHANGED_WEIGHT = "projection.weight[rows] = matrix @ projection.weight[rows]"
CHANGED_BIAS = "projection.bias[rows] = matrix @ projection.bias[rows]"
OTHERS = parameters("value.weight", "value.bias", "output.weight", "output.bias")

NO_GRADIENT = "no gradient is kept here"

hide_change = Exercise(
    "hide_change",
    challenge=True,
    returns="",
    reads="layer",
    also=(DOUBLE,),
    aspects=[
        Aspect("queries", 1, [hidden_change], outputs=(*parameters("query.weight"), *OTHERS)),
        Aspect("keys that make up for it", 1, [hidden_change], outputs=parameters("key.weight")),
        Aspect("biases", 1, [hidden_change], outputs=parameters("query.bias", "key.bias")),
    ],
    mistakes=[
        Mistake(
            "inverse, not transposed",
            "Your keys are multiplied by the inverse. A score is q · k, and if (M q) · (N k) = q · "
            "k for all of them, then N is the inverse of M *transposed*.",
            {KEY_MATRIX: "torch.linalg.inv(mix)"},
        ),
        Mistake(
            "transposed, not inverted",
            "You transposed the matrix and did not invert it. The keys must undo what the queries "
            "got.",
            {KEY_MATRIX: "mix.T"},
        ),
        Mistake(
            "keys get the same",
            "Keys and queries are multiplied by the same matrix, so the scores change. The keys "
            "must undo what the queries got.",
            {KEY_MATRIX: "mix"},
        ),
        Mistake(
            "keys stay",
            "Your queries are right, but you left the keys alone. So every score of this head has "
            "changed.",
            {f", (layer.key, {KEY_MATRIX})": ","},
        ),
        Mistake(
            "biases forgotten",
            "You left a bias as it was. Queries and keys are W x + b: multiply b as well as W.",
            {f"            {CHANGED_BIAS}\n": ""},
            {CHANGED_BIAS: "if projection is layer.query:\n                " + CHANGED_BIAS},
            {CHANGED_BIAS: "if projection is layer.key:\n                " + CHANGED_BIAS},
        ),
        Mistake(
            "columns instead of rows",
            "You changed columns of the weight. Columns belong to the features of the words; a "
            "head's own features are rows.",
            {CHANGED_WEIGHT: "projection.weight[:, rows] = projection.weight[:, rows] @ matrix"},
        ),
        Mistake(
            "the first head",
            "You changed the first head, whichever was asked for.",
            {"slice(head * d_head, (head + 1) * d_head)": "slice(0, d_head)"},
        ),
        Mistake(
            "queries and keys exchanged",
            "You multiplied the keys by `mix` and changed the queries to match. The exercise asks "
            "for it the other way around.",
            {"(layer.query, mix), (layer.key,": "(layer.key, mix), (layer.query,"},
        ),
        Mistake(
            "heads counted from 1",
            "You changed the head before the one that was asked for: head 0 has the first rows.",
            {"head * d_head, (head + 1) * d_head": "(head - 1) * d_head, head * d_head"},
        ),
        Mistake(
            "rows counted in features",
            "Head h doesn't start at row h: each head before it has d_head rows, so it starts at "
            "row h · d_head.",
            {"head * d_head, (head + 1) * d_head": "head, head + d_head"},
        ),
        Mistake(
            "all heads",
            "You changed every head. The others must stay as they are.",
            {
                f"{LOOP}\n": f"{LOOP}\n            for head in range(layer.n_heads):\n"
                "                rows = slice(head * d_head, (head + 1) * d_head)\n",
                f"            {CHANGED_WEIGHT}\n": f"                {CHANGED_WEIGHT}\n",
                f"            {CHANGED_BIAS}\n": f"                {CHANGED_BIAS}\n",
            },
        ),
        Mistake(
            "mix transposed",
            "Your queries are multiplied by `mix` transposed. Rows of the weight make the "
            "features of the query, so `mix` goes in front of them as it is.",
            {"(layer.query, mix)": "(layer.query, mix.T)"},
            {"(layer.query, mix)": "(layer.query, mix.T)", KEY_MATRIX: "torch.linalg.inv(mix)"},
        ),
        Mistake(
            "divided number by number",
            "`1 / mix` inverts each number by itself. The inverse of the whole matrix is "
            "`torch.linalg.inv(mix)`.",
            {KEY_MATRIX: "1 / mix"},
            {KEY_MATRIX: "(1 / mix).T"},
        ),
        Mistake(
            "values instead of keys",
            "You changed the values. The scores are made of queries and keys: change the keys.",
            {"(layer.key,": "(layer.value,"},
        ),
    ],
    alternatives=[
        Alternative(
            "by data",
            """
            d_head = layer.query.weight.shape[0] // layer.n_heads
            ours = {name: getattr(layer, name) for name in ("query", "key")}
            matrices = {"query": mix, "key": mix.inverse().T}
            for name, linear in ours.items():
                weight = linear.weight.data.view(-1, d_head, linear.weight.shape[1])
                weight[head] = matrices[name] @ weight[head]
                bias = linear.bias.data.view(-1, d_head)
                bias[head] = matrices[name] @ bias[head]
            """,
        ),
        Alternative(
            "one block in a large matrix",
            """
            def whole(block):
                matrix = torch.eye(len(layer.query.bias), dtype=block.dtype)
                start = head * len(block)
                matrix[start : start + len(block), start : start + len(block)] = block
                return matrix

            with torch.no_grad():
                undo = torch.linalg.inv(mix.T)
                for linear, block in ((layer.query, mix), (layer.key, undo)):
                    linear.weight.copy_(whole(block) @ linear.weight)
                    linear.bias.copy_(whole(block) @ linear.bias)
            """,
        ),
        Alternative(
            "solved, not inverted",
            """
            rows = slice(head * len(mix), head * len(mix) + len(mix))
            with torch.no_grad():
                layer.query.weight[rows] = mix @ layer.query.weight[rows]
                layer.query.bias[rows] = mix @ layer.query.bias[rows]
                layer.key.weight[rows] = torch.linalg.solve(mix.T, layer.key.weight[rows])
                layer.key.bias[rows] = torch.linalg.solve(mix.T, layer.key.bias[rows])
            """,
        ),
    ],
    hints=[
        "Head h's features are rows h · d_head to (h + 1) · d_head of `layer.query.weight`, and of "
        "its bias. `mix @ rows` multiplies each query by `mix`.",
        "A score is q · k. If q becomes M q, then k must become some N k with "
        "(M q) · (N k) = q · k for all q and k.",
        "(M q) · (N k) = q · (Mᵀ N k). So Mᵀ N has to be the identity.",
    ],
    excuses={
        "detached:": NO_GRADIENT,
        "by data / detached:": NO_GRADIENT,
        "one block in a large matrix / detached:": NO_GRADIENT,
        "solved, not inverted / detached:": NO_GRADIENT,
        "elements swapped: ((layer.query": "they are changed one after the other",
        "input changed:": "its first input is the layer, which it has to change",
        "by data / elements swapped:": "they are changed one after the other",
        "one block in a large matrix / elements swapped:": "they are changed one after the other",
        "by data / another number:": "the weights are square, and so is the matrix",
        "one block in a large matrix / another argument: block → mix in": (
            "of one size and dtype, both of them"
        ),
    },
)

EXERCISES = (
    unpack_projections,
    per_head,
    fold_heads,
    load_from_torch,
    KerasMultiHeadAttention,
    hide_change,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "parameters_of_theirs",
        right=4,
        because="Their query, key and value share one packed weight and one packed bias.",
    ),
    Prediction(
        "does_it_notice",
        right="no",
        choices={
            "yes": "Not yet. Their biases start at zero, just like the ones that were forgotten.",
            "no": "Their biases start at zero, so there is nothing to notice yet.",
        },
    ),
    Prediction(
        "without_batch_first",
        right="it takes sentences for words",
        choices={
            "it raises an error": "Every size fits. It has no way to know what you mean.",
            "it takes sentences for words": "To this layer, the first dimension is the words.",
            "it finds out by itself": "From sizes alone, nobody could.",
        },
    ),
    Prediction(
        "gradient_of_the_keys_bias",
        right="zero",
        choices={
            "zero": "What changes no result has no slope.",
            "about that of the query's bias": (
                "The query's bias changes how a query scores each key. The key's adds the same to "
                "all scores of a row."
            ),
            "NaN": "Nothing here divides by zero. The slope is an honest number.",
        },
    ),
    Prediction(
        "memory_of_twice_the_words",
        right="4 times with weights, 2 times without",
        choices={
            "2 times, all of them": "Weights are n² numbers, and some of these four make them all.",
            "4 times, all of them": "That's true of those that make all the weights. Two don't.",
            "4 times with weights, 2 times without": "Weights take n² numbers.",
        },
    ),
]
