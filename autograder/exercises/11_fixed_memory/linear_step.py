"""One word of causal linear attention: the context, and the state with this word in it."""

from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import READ, asked_again, empty, of_a_step, word

WRITE = "state + key[..., :, None] * value[..., None, :]"

EXERCISE = Exercise(
    "linear_step",
    returns="context state",
    aspects=[
        Aspect("the state", 1, [word(), empty("batch"), word("batch n_heads")], ("state",)),
        Aspect(
            "the context",
            2,
            [word(), word("batch n_heads"), empty("batch"), asked_again("batch")],
            ("context",),
        ),
        connected(word("batch")),
    ],
    mistakes=[
        Mistake(
            "nothing written",
            "You returned the state as it came. Add the product of this word's key and value.",
            {f"state = {WRITE}": "state = state * 1"},
        ),
        Mistake(
            "a product in place of a sum",
            "You multiplied the state by the new product. Add it.",
            {"state + key": "state * key"},
        ),
        Mistake(
            "the old state returned",
            "The context is right, but you returned the old state. Return the one with this word "
            "in it.",
            {
                f"state = {WRITE}\n    return {READ}, state": (
                    f"after = {WRITE}\n    return {READ.replace('state', 'after')}, state"
                )
            },
        ),
        Mistake(
            "the key normalized",
            "You brought the key to length 1. Take it as it is.",
            {"    state = state": "    key = F.normalize(key, dim=-1)\n    state = state"},
        ),
        Mistake(
            "outer",
            "`torch.outer` takes two vectors, so it fails where there's a batch. Multiply the key "
            "as a column by the value as a row: `[..., :, None]` and `[..., None, :]`.",
            {WRITE: "state + torch.outer(key, value)"},
        ),
        Mistake(
            "the old state not asked",
            "Your query asked only what this word adds. Ask the whole new state, which also holds "
            "what was there before.",
            {
                f"return {READ}, state": (
                    "return (query * key).sum(dim=-1, keepdim=True) * value, state"
                )
            },
        ),
        *of_a_step(WRITE),
    ],
    alternatives=[
        Alternative(
            "by einsum",
            """
            after = state + torch.einsum("...k,...v->...kv", key, value)
            return torch.einsum("...k,...kv->...v", query, after), after
            """,
        ),
        Alternative(
            "what was there, and what comes in",
            """
            score = (query * key).sum(dim=-1, keepdim=True)
            context = (query.unsqueeze(-2) @ state).squeeze(-2) + score * value
            return context, state + key.unsqueeze(-1) @ value.unsqueeze(-2)
            """,
            excuses={"another operator: key.unsqueeze": "a column times a row, either way"},
        ),
    ],
    hints=[
        "`key[..., :, None]` is a column, `value[..., None, :]` a row. Their product is [d_k, "
        "d_v], like the state.",
        "Make a new state, `state + …`. With `+=`, you'd change the one that you were given.",
        "The query as a row, times the new state, is a row of d_v numbers. `squeeze(-2)` turns it "
        "back into a vector.",
    ],
)
