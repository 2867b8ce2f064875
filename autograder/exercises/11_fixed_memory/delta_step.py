"""One word of the delta rule: the context, and the state with what it held replaced."""

from typing import Any

from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import READ, asked_again, empty, of_a_step, word

OLD = "(key[..., None, :] @ state).squeeze(-2)"
CHANGE = "beta[..., None] * (value - old)"
WRITE = "state + key[..., :, None] * change[..., None, :]"


def some_of_each(draw: Draw) -> dict[str, Any]:
    """A batch whose beta is 1 for one state, 0 for another, and in between for the rest."""
    made = word("batch")(draw)
    made["beta"][-1] = 1.0
    if len(made["beta"]) > 1:
        made["beta"][0] = 0.0
    return made


EXERCISE = Exercise(
    "delta_step",
    returns="context state",
    aspects=[
        Aspect(
            "the state",
            2,
            [word(), word("batch n_heads"), empty("batch"), word("batch", beta=2.0)],
            ("state",),
        ),
        Aspect("all or nothing", 1, [some_of_each, word("batch", beta=0.0)], ("state",)),
        Aspect(
            "the context",
            1,
            [
                word(),
                word("batch n_heads"),
                empty("batch"),
                asked_again("batch"),
                word("batch", beta=0.0),
            ],
            ("context",),
        ),
        connected(word("batch")),
    ],
    mistakes=[
        Mistake(
            "nothing taken out",
            "You added the value to what the state held. Write the difference: the value minus the "
            "old answer.",
            {CHANGE: "beta[..., None] * value"},
        ),
        Mistake(
            "erased with the query",
            "You took out what the state answers to the query. Ask it with the key: that's where "
            "you write.",
            {OLD: OLD.replace("key", "query")},
        ),
        Mistake(
            "beta on the value alone",
            "You multiplied only the value by β. It applies to the old answer, too.",
            {CHANGE: "beta[..., None] * value - old"},
        ),
        Mistake(
            "beta on the old answer alone",
            "You multiplied only the old answer by β. It applies to the value, too.",
            {CHANGE: "value - beta[..., None] * old"},
        ),
        Mistake(
            "beta twice",
            "You multiplied by β twice.",
            {CHANGE: "beta[..., None] ** 2 * (value - old)"},
        ),
        Mistake("without beta", "You didn't use β.", {CHANGE: "value - old"}),
        Mistake(
            "the whole state fades",
            "You multiplied the whole state by 1 − β. Only what it holds for this key goes out.",
            {
                WRITE: "(1 - beta[..., None, None]) * state + key[..., :, None] * "
                "(beta[..., None] * value)[..., None, :]"
            },
        ),
        Mistake(
            "the old value put back",
            "Your difference has the wrong sign: it is the value minus the old answer.",
            {CHANGE: "beta[..., None] * (old - value)"},
        ),
        Mistake(
            "1 minus beta",
            "You multiplied by 1 − β. The difference goes in by the share β.",
            {CHANGE: "(1 - beta[..., None]) * (value - old)"},
        ),
        Mistake(
            "twice beta",
            "You multiplied by 2β. The difference goes in by the share β.",
            {CHANGE: "2 * beta[..., None] * (value - old)"},
        ),
        Mistake(
            "beta changed",
            "You changed β first, by a clamp or a sigmoid. Take it as it comes. It may be 2.",
            {CHANGE: "beta.clamp(0, 1)[..., None] * (value - old)"},
            {CHANGE: "beta.sigmoid()[..., None] * (value - old)"},
        ),
        Mistake(
            "beta without its dimension",
            "`beta` has one number for each state. Before it can multiply all features of a value, "
            "it needs one more dimension: `beta[..., None]`.",
            {CHANGE: "beta * (value - old)"},
            {CHANGE: "(value - old) * beta"},
        ),
        Mistake(
            "the mix written on top",
            "You added β v + (1 − β) old to the state, which still holds the old answer. Add only "
            "what changes: β (v − old).",
            {CHANGE: "beta[..., None] * value + (1 - beta[..., None]) * old"},
        ),
        Mistake(
            "divided by the key's length",
            "You divided by the key's squared length. Leave it out: the key may have any length.",
            {CHANGE: "beta[..., None] / key.square().sum(-1, keepdim=True) * (value - old)"},
            {CHANGE: "beta[..., None] * (value - old / key.square().sum(-1, keepdim=True))"},
        ),
        Mistake(
            "the old answer returned",
            "You returned the key's old answer as the context. The context is what the query gets, "
            "after the write.",
            {f"return {READ}": "return old"},
        ),
        Mistake(
            "the key normalized",
            "You brought the key to length 1. Take it as it is.",
            {f"old = {OLD}": f"key = F.normalize(key, dim=-1)\n    old = {OLD}"},
        ),
        *of_a_step(WRITE),
    ],
    alternatives=[
        Alternative(
            "by einsum",
            """
            old = torch.einsum("...k,...kv->...v", key, state)
            change = (value - old) * beta.unsqueeze(-1)
            after = state + torch.einsum("...k,...v->...kv", key, change)
            return torch.einsum("...k,...kv->...v", query, after), after
            """,
        ),
        Alternative(
            "out, then in",
            """
            share = (beta[..., None] * key)[..., :, None]
            after = state - share * (key[..., None, :] @ state) + share * value[..., None, :]
            return (query[..., None, :] @ after)[..., 0, :], after
            """,
            excuses={"another number: 0 → -1": "there is one row"},
        ),
        Alternative(
            "a matrix that takes out",
            """
            share = (beta[..., None] * key)[..., :, None]
            taken = torch.eye(key.shape[-1], dtype=key.dtype) - share @ key[..., None, :]
            after = taken @ state + share @ value[..., None, :]
            return (query[..., None, :] @ after).squeeze(-2), after
            """,
            excuses={
                "another operator: share @": "a column times a row, either way",
                "another argument: key → beta in dtype": "all have the same dtype",
                "another argument: key → state in dtype": "all have the same dtype",
                "another argument: key → value in dtype": "all have the same dtype",
                "another argument: key → query in": "likewise, and the same size",
                "keyword dropped: torch.eye": "the difference takes the dtype of the keys",
            },
        ),
    ],
    hints=[
        "Read the state as `linear_step` does, but with the key in place of the query, and before "
        "you write.",
        "`beta` has one number for each state. `beta[..., None]` multiplies all features of a "
        "value by it.",
        "Write `beta[..., None] * (value - old)` as `linear_step` writes a value.",
    ],
)
