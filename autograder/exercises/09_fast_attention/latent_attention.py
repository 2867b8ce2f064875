"""Attention whose keys and values are `w_key @ c` and `w_value @ c`, without making them."""

from typing import Any

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake


def latents(n_query: int, n_key: int, scale: float = 1.0) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.choose("n_query", n_query).choose("n_key", n_key)
        return draw.arguments(scale=scale)

    return case


ABSORBED = "query @ w_key @ latent.transpose(-2, -1)[:, None]"

EXERCISE = Exercise(
    "latent_attention",
    returns="context",
    parts=[Trial("without_keys")],
    challenge=True,
    aspects=[
        Aspect(
            "the context",
            1,
            [latents(2, 7, scale=5.0), latents(1, 5), latents(3, 8)],
            outputs=("context",),
        ),
        connected(latents(2, 5), outputs=("context",)),
        Aspect("without keys and values", 1, [latents(1, 200)]),
    ],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    mistakes=[
        Mistake(
            "keys or values made",
            "The context is right, but you made a key or a value for every word. Take the query to "
            "the latents: multiply it by W_K. And mix the latents first, then make one value from "
            "the mix.",
            """
            keys = torch.einsum("hdl,bnl->bhnd", w_key, latent)
            values = torch.einsum("hdl,bnl->bhnd", w_value, latent)
            return attend(query, keys, values)
            """,
            {
                "return mixed @ w_value.transpose(-2, -1)": (
                    "values = latent[:, None] @ w_value.transpose(-2, -1)\n"
                    "    return scores.softmax(dim=-1) @ values"
                )
            },
            {ABSORBED: "query @ (latent[:, None] @ w_key.transpose(-2, -1)).transpose(-2, -1)"},
        ),
        Mistake(
            "scaled by the latents' size",
            "You divided by the root of the latents' size. The scores are those of query · key, so "
            "divide by √d_head.",
            {"query.shape[-1] ** 0.5": "latent.shape[-1] ** 0.5"},
        ),
        Mistake(
            "not scaled",
            "Your scores aren't divided by √d_head.",
            {" / query.shape[-1] ** 0.5": ""},
        ),
        Mistake(
            "the latents as values",
            "You returned the mix of the latents. Multiply it by W_V, head by head.",
            {"mixed @ w_value.transpose(-2, -1)": "mixed[..., : query.shape[-1]]"},
        ),
        Mistake(
            "W_K for the values",
            "You made the values with W_K.",
            {"mixed @ w_value": "mixed @ w_key"},
        ),
    ],
    alternatives=[
        Alternative(
            "by einsum",
            """
            taken = torch.einsum("bhqd,hdl->bhql", query, w_key)
            scores = torch.einsum("bhql,bkl->bhqk", taken, latent) / query.shape[-1] ** 0.5
            mixed = torch.einsum("bhqk,bkl->bhql", scores.softmax(dim=-1), latent)
            return torch.einsum("bhql,hdl->bhqd", mixed, w_value)
            """,
        ),
        Alternative(
            "all heads' queries as rows",
            """
            taken = query @ w_key / query.shape[-1] ** 0.5
            scores = taken.flatten(1, 2) @ latent.transpose(-2, -1)
            mixed = (scores.softmax(dim=-1) @ latent).unflatten(1, query.shape[1:3])
            return mixed @ w_value.transpose(-2, -1)
            """,
            excuses={"other axes: $X.transpose(1, 2)": "there are three dimensions"},
        ),
    ],
    hints=[
        "`query @ w_key` is [batch, n_heads, n_query, d_latent]: each query, ready to meet the "
        "latents.",
        "All heads share the latents. `latent[:, None]` has a dimension of size 1 for the heads.",
        "The weighted sum of the values is W_V times the weighted sum of the latents.",
    ],
    excuses={
        "other axes: $X.transpose(1, 2)": "there are three dimensions",
    },
)
