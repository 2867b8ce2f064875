"""One word of the gated delta rule: the state fades, then what it holds is replaced."""

from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import READ_BEFORE, asked_again, empty, word

FADED = "log_decay.exp()[..., None, None] * state"
STEP = "delta_step(faded, query, key, value, beta)"
BODY = f"faded = {FADED}\n    return {STEP}"

EXERCISE = Exercise(
    "gated_delta_step",
    returns="context state",
    builds_on=("delta_step",),
    aspects=[
        Aspect(
            "fades, then replaces",
            2,
            [word(), word("batch n_heads"), word("batch", beta=2.0), asked_again("batch")],
        ),
        Aspect(
            "all or nothing",
            1,
            [
                word("batch", log_decay=0.0),
                word("batch", log_decay=-50.0),
                word("batch", log_decay=-5.0),
                word("batch", beta=0.0),
                empty("batch"),
            ],
        ),
        connected(word("batch"), empty("batch")),
    ],
    mistakes=[
        Mistake(
            "fades after the write",
            "You let the state fade after the word was written, so the new word fades, too. First "
            "everything fades, then write.",
            {
                BODY: "_, after = delta_step(state, query, key, value, beta)\n"
                "    after = log_decay.exp()[..., None, None] * after\n"
                "    return (query[..., None, :] @ after).squeeze(-2), after"
            },
            {
                BODY: "context, after = delta_step(state, query, key, value, beta)\n"
                "    return context, log_decay.exp()[..., None, None] * after"
            },
        ),
        Mistake(
            "the delta rule left out",
            "You added the value to what the state held for the key. Write by `delta_step`.",
            {STEP: "linear_step(faded, query, key, beta[..., None] * value)"},
            {STEP: "linear_step(faded, query, key, value)"},
        ),
        Mistake(
            "the decay for beta",
            "You handed the decay to `delta_step` where it takes β.",
            {STEP: STEP.replace("beta", "log_decay")},
            {STEP: STEP.replace("beta", "log_decay.exp()")},
        ),
        Mistake(
            "the key fades",
            "You multiplied the key by the factor. The state fades.",
            {
                BODY: "faded = log_decay.exp()[..., None] * key\n"
                "    return delta_step(state, query, faded, value, beta)"
            },
        ),
        Mistake(
            "the query fades",
            "You multiplied the query by the factor. The state fades.",
            {
                BODY: "faded = log_decay.exp()[..., None] * query\n"
                "    return delta_step(state, faded, key, value, beta)"
            },
        ),
        Mistake(
            "read before write",
            READ_BEFORE,
            {
                BODY: f"""faded = {FADED}
    _, after = {STEP}
    return (query[..., None, :] @ faded).squeeze(-2), after"""
            },
        ),
        Mistake(
            "fades after the query asked",
            "The state that you return has faded, but the query read the unfaded one.",
            {
                BODY: "context, _ = delta_step(state, query, key, value, beta)\n"
                f"    faded = {FADED}\n"
                f"    return context, {STEP}[1]"
            },
        ),
        Mistake(
            "the old answer doesn't fade",
            "You took the old answer from the state before it faded. Let it fade first, and then "
            "do everything with the faded one.",
            {
                BODY: f"""old = (key[..., None, :] @ state).squeeze(-2)
    after = {FADED}
    change = beta[..., None] * (value - old)
    after = after + key[..., :, None] * change[..., None, :]
    return (query[..., None, :] @ after).squeeze(-2), after"""
            },
        ),
        Mistake(
            "not exponentiated",
            "You multiplied by `log_decay` itself. The factor is its exponential.",
            {FADED: "log_decay[..., None, None] * state"},
        ),
        Mistake(
            "the decay without its dimensions",
            "`log_decay` has one number for each state. Before it can multiply the rows and "
            "columns of a state, it needs two more dimensions: `[..., None, None]`.",
            {FADED: "log_decay.exp() * state"},
            {FADED: "state * log_decay.exp()"},
            {FADED: "log_decay.exp()[..., None] * state"},
            {FADED: "state * log_decay.exp()[..., None]"},
        ),
        Mistake(
            "a sigmoid",
            "You took the sigmoid of `log_decay`. The factor is its exponential.",
            {FADED: "log_decay.sigmoid()[..., None, None] * state"},
        ),
        Mistake(
            "added",
            "You added to the state. The factor exp(log_decay) multiplies it.",
            {FADED: "log_decay.exp()[..., None, None] + state"},
        ),
        Mistake(
            "1 minus the factor",
            "You multiplied by 1 − exp(log_decay). What stays is exp(log_decay).",
            {FADED: "(1 - log_decay.exp())[..., None, None] * state"},
        ),
        Mistake(
            "the other sign",
            "You multiplied by exp(−log_decay), which makes the state grow.",
            {FADED: "(-log_decay).exp()[..., None, None] * state"},
        ),
        Mistake(
            "nothing fades",
            "Your state doesn't fade. Multiply it by exp(log_decay) first.",
            {FADED: "state"},
        ),
        Mistake(
            "beta fades, too",
            "You multiplied β by the factor as well. Only the state fades.",
            {STEP: "delta_step(faded, query, key, value, log_decay.exp() * beta)"},
        ),
        Mistake(
            "beta and the decay exchanged",
            "You swapped β and the decay: the state fades by exp(log_decay), and the word is "
            "written with β.",
            {FADED: "beta[..., None, None] * state", STEP: STEP.replace("beta", "log_decay.exp()")},
        ),
    ],
    alternatives=[
        Alternative(
            "all by hand",
            """
            state = state * torch.exp(log_decay).unsqueeze(-1).unsqueeze(-1)
            old = torch.einsum("...k,...kv->...v", key, state)
            change = beta.unsqueeze(-1) * (value - old)
            state = state + key.unsqueeze(-1) * change.unsqueeze(-2)
            return torch.einsum("...k,...kv->...v", query, state), state
            """,
            excuses={"another number: 1 → 2": "the two dimensions are made in either order"},
        ),
        Alternative(
            "a matrix that takes out and fades",
            """
            share = (beta[..., None] * key)[..., :, None]
            taken = torch.eye(key.shape[-1], dtype=key.dtype) - share @ key[..., None, :]
            after = log_decay.exp()[..., None, None] * (taken @ state)
            after = after + share @ value[..., None, :]
            return (query[..., None, :] @ after).squeeze(-2), after
            """,
            excuses={
                "another operator: share @": "a column times a row, either way",
                "another argument: key → beta in dtype": "all have the same dtype",
                "another argument: key → log_decay in dtype": "all have the same dtype",
                "another argument: key → state in dtype": "all have the same dtype",
                "another argument: key → value in dtype": "all have the same dtype",
                "another argument: key → query in": "likewise, and the same size",
                "keyword dropped: torch.eye": "the difference takes the dtype of the keys",
            },
        ),
    ],
    hints=[
        "The factor is `log_decay.exp()`, one number for each state.",
        "`[..., None, None]` gives it two dimensions of size 1, for the rows and columns of its "
        "state.",
        "`delta_step` with the faded state does the rest.",
    ],
)
