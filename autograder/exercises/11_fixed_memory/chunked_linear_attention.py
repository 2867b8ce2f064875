"""Causal linear attention, a chunk of words at a time."""

from typing import Any

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import EMPTY, FIRST_CHUNK, OF_CHUNKS, SAME_TEXT


def text(
    n: int, chunk: int = 0, leading: str = "batch", continued: bool = False, scale: float = 1.0
) -> Inputs:
    """A text, perhaps with a state to go on from; `chunk` 0 leaves it at its default."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n=draw.same or n)
        draw.label(f"chunks of {chunk or 64}" + (", goes on" if continued else ""))
        state = draw.normal(f"{leading} d_k d_v") if continued else None
        made = draw.arguments(leading, scale, chunk=chunk or 64, state=state)
        if not chunk and not continued:
            del made["chunk"], made["state"]
        return made

    return case


PAST = "q @ state"
WITHIN = "linear_attention(q, k, v)"
APPEND = f"        contexts.append({PAST} + {WITHIN})\n"
WRITE = "        state = state + k.transpose(-2, -1) @ v\n"


def cut_along(dim: int, joined: int, empty: str = EMPTY) -> str:
    """The body that cuts along a dimension, and joins the contexts along another."""
    return f"""
    if state is None:
        state = {empty}
    contexts = []
    for q, k, v in zip(*(x.split(chunk, dim={dim}) for x in (query, key, value)), strict=True):
        contexts.append(q @ state + linear_attention(q, k, v))
        state = state + k.transpose(-2, -1) @ v
    return torch.cat(contexts, dim={joined}), state
    """


EXERCISE = Exercise(
    "chunked_linear_attention",
    returns="context state",
    parts=[Trial("in_chunks")],
    builds_on=("linear_attention",),
    aspects=[
        Aspect(
            "whole chunks",
            2,
            [text(8, 4), text(9, 3, "batch n_heads"), text(128), text(6, 1)],
            ("context", "state"),
        ),
        Aspect(
            "a ragged last chunk",
            1,
            [text(7, 3), text(11, 4, "batch n_heads"), text(70), text(3, 5), text(90, 80)],
            ("context", "state"),
        ),
        Aspect(
            "goes on from a state",
            1,
            [text(8, 4, continued=True), text(7, 3, continued=True), text(1, 4, continued=True)],
            ("context", "state"),
        ),
        Aspect(
            "a chunk at a time",
            1,
            [text(192, 30, ""), text(224, 32, "", continued=True)],
            ("context", "state", "of_chunks", "chunks", "cuts"),
        ),
        connected(text(7, 3, continued=True), outputs=("context", "state")),
    ],
    mistakes=[
        *OF_CHUNKS,
        Mistake(
            "written before it is read",
            "You wrote the chunk into the state before its words asked, so they see one another "
            "twice, and the future, too. Ask first.",
            {APPEND + WRITE: WRITE + APPEND},
        ),
        Mistake(
            "without the state",
            "Your words see only their own chunk. Add what the state answers: `q @ state`.",
            {f"{PAST} + {WITHIN}": WITHIN},
        ),
        Mistake(
            "without their own chunk",
            "Your words see only earlier chunks. Add what the words of their own chunk give, up to "
            "themselves.",
            {f"{PAST} + {WITHIN}": PAST},
        ),
        Mistake(
            "the future of a chunk",
            "Within a chunk, your words see later words. That part has to be causal.",
            {WITHIN: "linear_attention(q, k, v, causal=False)"},
        ),
        Mistake(
            "a state for each chunk",
            "Your state holds only the last chunk. Add each chunk to what it held.",
            {"state = state + k": "state = k"},
        ),
        Mistake(
            "the state never written",
            "Your state stays as it was at the start. After each chunk, add its products of keys "
            "and values.",
            {WRITE: ""},
        ),
        Mistake(
            "the given state not returned",
            "Your contexts go on from the given `state`, but the state that you return lacks it. "
            "Add each chunk to what was there.",
            {
                f"if state is None:\n        state = {EMPTY}": (
                    f"given = 0 if state is None else state\n    state = {EMPTY}"
                ),
                PAST: "q @ (state + given)",
            },
        ),
        Mistake(
            "the first dimension cut",
            "You cut the first dimension into chunks. With a batch, that isn't the words. They are "
            "second to last: `split(chunk, dim=-2)`, or `[..., start:end, :]`.",
            cut_along(0, 0),
            cut_along(0, -2),
        ),
        Mistake(
            "dimension 1 cut",
            "You cut dimension 1 into chunks. With heads, or without a batch, that isn't the "
            "words. They are second to last: `split(chunk, dim=-2)`, or `[..., start:end, :]`.",
            cut_along(1, 1),
            cut_along(1, -2),
            cut_along(1, 1, "query.new_zeros(query.shape[0], key.shape[-1], value.shape[-1])"),
        ),
        Mistake(
            "all at once",
            "The result is right, but you computed the whole text at once. Take a chunk at a time.",
            f"""
            if state is None:
                state = {EMPTY}
            context = query @ state + linear_attention(query, key, value)
            return context, state + key.transpose(-2, -1) @ value
            """,
        ),
        Mistake(
            "word by word",
            "The result is right, but you went word by word. Within a chunk, compute all words at "
            "once.",
            f"""
            if state is None:
                state = {EMPTY}
            contexts = []
            for word in range(query.shape[-2]):
                q, k, v = query[..., word, :], key[..., word, :], value[..., word, :]
                state = state + k[..., :, None] * v[..., None, :]
                contexts.append((q[..., None, :] @ state).squeeze(-2))
            return torch.stack(contexts, dim=-2), state
            """,
        ),
        Mistake(
            "the chunks added up",
            "You added up the contexts of all chunks. Join them end to end, along the words.",
            {"torch.cat(contexts, dim=-2)": "torch.stack(contexts).sum(dim=0)"},
        ),
        Mistake(
            "the chunks side by side",
            "You put the chunks side by side. Join them end to end, along the words.",
            {"torch.cat(contexts, dim=-2)": "torch.cat(contexts, dim=-1)"},
        ),
    ],
    alternatives=[
        Alternative(
            "with split",
            f"""
            if state is None:
                state = {EMPTY}
            parts = [x.split(chunk, dim=-2) for x in (query, key, value)]
            contexts = []
            for q, k, v in zip(*parts, strict=True):
                scores = (q @ k.transpose(-2, -1)).tril()
                contexts.append(scores @ v + q @ state)
                state = state + k.transpose(-2, -1) @ v
            return torch.cat(contexts, dim=-2), state
            """,
        ),
        Alternative(
            "into a tensor",
            """
            d_k, d_v = key.shape[-1], value.shape[-1]
            memory = key.new_zeros(*key.shape[:-2], d_k, d_v) if state is None else state
            context = torch.zeros_like(value)
            for start in range(0, key.shape[-2], chunk):
                end = min(start + chunk, key.shape[-2])
                q, k, v = (x[..., start:end, :] for x in (query, key, value))
                context[..., start:end, :] = q @ memory + linear_attention(q, k, v)
                memory = memory + torch.einsum("...nk,...nv->...kv", k, v)
            return context, memory
            """,
            excuses={
                "another argument: key → query in": SAME_TEXT,
                "another argument: key → value in *key": SAME_TEXT,
                "another argument: key → value in min": SAME_TEXT,
                "another argument: key → value in range": SAME_TEXT,
                "another argument: key → value in key.new_zeros": "only the dtype comes from it",
                **FIRST_CHUNK,
                "arguments swapped: min": "the order does not matter",
                "call dropped: min": "a slice ends at the end",
            },
        ),
    ],
    hints=[
        "A loop over the starts of the chunks: `range(0, n, chunk)`. A slice that runs past the "
        "end just stops there.",
        "For a chunk's q, k and v, `q @ state` covers the earlier chunks, and `linear_attention` "
        "covers the chunk itself.",
        "After that, add kᵀ v to the state, and go on. At the end, join the contexts along the "
        "words.",
    ],
    excuses={
        "another argument: key → value in key.new_zeros": "only the dtype comes from it",
        "another argument: key → query in key.new_zeros": "likewise; they have d_k features, too",
        "another argument: key → query in *key.shape": SAME_TEXT,
        "another argument: key → value in *key.shape": SAME_TEXT,
        "another argument: query → key in range": SAME_TEXT,
        "another argument: query → value in range": SAME_TEXT,
        **FIRST_CHUNK,
    },
)
