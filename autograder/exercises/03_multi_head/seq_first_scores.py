"""Scaled scores of every query with every key, for each sentence and head."""

from typing import Any

from autograder.exercises.layouts import permuted
from autograder.exercises.slips import SCALE, without
from autograder.lessons.cases import drawn
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

SEQ_FIRST = 'torch.einsum("ibhd,jbhd->ijbh", query, key)'


def heads_turned(draw: Draw) -> dict[str, Any]:
    """Heads as `split_heads` returns them, with their dimensions put in another order."""
    draw.label("permuted, as in the cell below")
    return {
        name: permuted(draw, f"batch n_{name} n_heads d_k", (1, 0, 2, 3))
        for name in ("query", "key")
    }


EXERCISE = Exercise(
    "seq_first_scores",
    returns="attn_scores",
    aspects=[
        Aspect(
            "every query with every key, head by head",
            2,
            [heads_turned, drawn(), lambda draw: draw.fix(d_k=23).arguments()],
        ),
        Aspect("gradients flow through", 1, gradients=True),
    ],
    slips=without(SCALE, "divided by √n_key"),
    mistakes=[
        Mistake(
            "scaled by the root of d_model",
            "You divided by the square root of n_heads · d_k, the features of all heads. Each "
            "head takes dot products over d_k features.",
            {"query.shape[-1] ** 0.5": "(query.shape[-1] * query.shape[-2]) ** 0.5"},
        ),
        Mistake(
            "scaled by the root of n_heads",
            "You divided by √n_heads. The features of a head are the last dimension.",
            {"query.shape[-1] ** 0.5": "query.shape[-2] ** 0.5"},
        ),
        Mistake(
            "scaled by the root of the batch",
            "You divided by the square root of the batch size. In this layout, dimension 1 is the "
            "batch; the features of a head are the last dimension.",
            {"query.shape[-1] ** 0.5": "query.shape[1] ** 0.5"},
        ),
        Mistake(
            "softmax already",
            "You returned weights. This exercise wants the scores before softmax.",
            {"torch.einsum": "(torch.einsum", "** 0.5": "** 0.5).softmax(dim=1)"},
        ),
        Mistake(
            "batch first",
            "The numbers are right, but in the batch-first layout. Here the order is [n_query, "
            "n_key, batch, n_heads].",
            {"->ijbh": "->bhij"},
        ),
        Mistake(
            "keys before queries",
            "The numbers are right, but keys come before queries.",
            {"->ijbh": "->jibh"},
        ),
        Mistake(
            "heads before the batch",
            "The numbers are right, but the heads come before the batch.",
            {"->ijbh": "->ijhb"},
        ),
        Mistake(
            "heads added up",
            "You added up the heads: a letter missing on the right is summed over.",
            {"->ijbh": "->ijb"},
        ),
        Mistake(
            "every head with all heads",
            "Each head's queries meet the keys of all heads, added up. Give the head the same "
            "letter in both.",
            {"ibhd,jbhd": "ibhd,jbgd"},
        ),
        Mistake(
            "features each by themselves",
            "Queries and keys are added up over their features before they meet, because the "
            "features have a different letter in each. Give them the same one.",
            {"ibhd,jbhd": "ibhd,jbhe"},
        ),
        Mistake(
            "every sentence with the whole batch",
            "Queries meet the keys of all sentences in the batch, added up. Give the batch the "
            "same letter in both.",
            {"ibhd,jbhd": "ibhd,jahd"},
        ),
        Mistake(
            "a matrix product of the last two dimensions",
            "`@` treats the last two dimensions as the matrix. Here those are heads and features, "
            "so heads would be compared with heads. Permute first, or use `einsum`.",
            {SEQ_FIRST: "query @ key.transpose(-2, -1)"},
        ),
        Mistake(
            "view instead of permute",
            "The shape is right, but `view` and `reshape` don't move dimensions. `permute` them.",
            """
            n_query, batch, n_heads, d_k = query.shape
            scores = query.permute(1, 2, 0, 3) @ key.permute(1, 2, 3, 0) / d_k**0.5
            return scores.view(n_query, len(key), batch, n_heads)
            """,
            """
            n_query, batch, n_heads, d_k = query.shape
            query = query.reshape(batch, n_heads, n_query, d_k)
            key = key.reshape(batch, n_heads, len(key), d_k)
            return (query @ key.mT / d_k**0.5).permute(2, 3, 0, 1)
            """,
        ),
        Mistake(
            "features not added up",
            "You multiplied the features and stopped there. A dot product also adds them up.",
            {SEQ_FIRST: "query[:, None] * key"},
        ),
        Mistake(
            "batch and heads mixed",
            "Queries meet the keys of all sentences and heads, added up. Give both the same "
            "letters in query and key.",
            {"ibhd,jbhd->ijbh": "ibhd,jcgd->ijbh"},
        ),
    ],
    alternatives=[
        Alternative(
            "permute and multiply",
            {
                SEQ_FIRST: (
                    "(query.permute(1, 2, 0, 3) @ key.permute(1, 2, 3, 0)).permute(2, 3, 0, 1)"
                )
            },
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "broadcast and add up",
            {SEQ_FIRST: "(query[:, None] * key).sum(-1)"},
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
        Alternative(
            "a loop over heads",
            """
            d_k = query.shape[-1]
            heads = [
                torch.einsum("ibd,jbd->ijb", query[:, :, h], key[:, :, h]) / d_k**0.5
                for h in range(query.shape[2])
            ]
            return torch.stack(heads, dim=-1)
            """,
            excuses={
                "another argument: query → key in d_k = query.shape[-1]": (
                    "a query has as many features as a key"
                ),
                "another argument: query → key in range(query.shape[2])": "both have all heads",
            },
        ),
        Alternative(
            "queries scaled first",
            """
            scaled = query * query.shape[-1] ** -0.5
            return torch.einsum("qbhd,kbhd->qkbh", scaled, key)
            """,
            excuses={
                "another argument: query → key in query.shape[-1]": (
                    "a query has as many features as a key"
                ),
            },
        ),
    ],
    hints=[
        "Give each dimension of `query` a letter. Which letters does `key` share with it, and "
        "which of its dimensions needs a letter of its own?",
        "A letter in both inputs and in the result stays side by side (batch, heads). A letter "
        "missing from the result is summed over (features).",
        "The result's letters come in the order query, key, batch, head. Then divide by the "
        "square root of a head's number of features.",
    ],
    excuses={
        "another argument: query → key in query.shape[-1]": "a query has as many features as a key",
    },
)
