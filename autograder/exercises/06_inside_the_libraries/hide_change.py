"""Multiply a head's queries by `mix`, and change its keys so that no result changes."""

from typing import Any

import torch

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Reads
from autograder.lessons.variants import Alternative, Mistake

from .shared import our_layer, parameters


def hidden_change(draw: Draw) -> dict[str, Any]:
    """A layer, and a matrix that stretches unevenly and is not symmetric.

    The head is not the first, the second or the last, so that no slip can be taken for another.
    """
    n_heads = draw.choose("n_heads", 4, 5).size("n_heads")
    d_head = draw.choose("d_head", 3, 6).size("d_head")
    draw.fix(d_model=n_heads * d_head)
    mix = 2 * torch.eye(d_head) + draw.normal("d_head d_head", 0.4)
    mix[-1] *= 0.1
    return {"layer": our_layer(draw), "head": max(n_heads - 2, 0), "mix": mix}


KEY_MATRIX = "torch.linalg.inv(mix).T"
LOOP = f"for projection, matrix in ((layer.query, mix), (layer.key, {KEY_MATRIX})):"
CHANGED_WEIGHT = "projection.weight[rows] = matrix @ projection.weight[rows]"
CHANGED_BIAS = "projection.bias[rows] = matrix @ projection.bias[rows]"
OTHERS = parameters("value.weight", "value.bias", "output.weight", "output.bias")

NO_GRADIENT = "no gradient is kept here"

EXERCISE = Exercise(
    "hide_change",
    challenge=True,
    returns="",
    parts=[Reads("layer")],
    also=(*SIZES, *CALLS),
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
            *(
                {CHANGED_WEIGHT: f"projection.weight[:, rows] = projection.weight[:, rows] @ {by}"}
                for by in ("matrix", "matrix.T")
            ),
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
        Mistake(
            "nothing changed",
            "Nothing in `layer` has changed. Did you change a copy of it, or only give the results "
            "names? Write into its parameters: `layer.query.weight[rows] = …`.",
            "mix.inverse()",
        ),
        Mistake(
            "every n_heads-th row",
            "You took every n_heads-th row. A head owns d_head rows that are next to each other.",
            {"slice(head * d_head, (head + 1) * d_head)": "slice(head, None, layer.n_heads)"},
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
            excuses={
                "detached:": NO_GRADIENT,
                "elements swapped:": "they are changed one after the other",
                "another number:": "the weights are square, and so is the matrix",
            },
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
            excuses={
                "detached:": NO_GRADIENT,
                "elements swapped:": "they are changed one after the other",
                "another argument: block → mix in": "of one size and dtype, both of them",
                "keyword dropped: torch.eye": "the layer is float32",
            },
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
            excuses={"detached:": NO_GRADIENT},
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
        "elements swapped: ((layer.query": "they are changed one after the other",
        "float32 inside": "so is the layer",
        "input changed:": "its first input is the layer, which it has to change",
    },
)
