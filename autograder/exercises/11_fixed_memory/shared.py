"""Words with states, beta and decays, and mistakes that steps share."""

from typing import Any

import torch

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.variants import Mistake

READ = "(query[..., None, :] @ state).squeeze(-2)"
READ_BEFORE = (
    "Your query asked before the word was written. Write first, so that a word can see itself, too."
)


def word(leading: str = "", **given: float) -> Inputs:
    """One word, and a state that already holds something.

    given: numbers for beta or log_decay, for every state of the batch alike.
    """

    def case(draw: Draw) -> dict[str, Any]:
        gates = {
            name: torch.full(draw.shape(leading), float(number)) for name, number in given.items()
        }
        if "beta" in draw.asked and "beta" not in gates:
            gates["beta"] = draw.uniform(leading, 0.1, 0.9)
        if "log_decay" in draw.asked and "log_decay" not in gates:
            gates["log_decay"] = draw.uniform(leading, -2.0, -0.1)
        return draw.arguments(leading, **gates)

    return case


def empty(leading: str = "") -> Inputs:
    """One word, and a state that holds nothing yet."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label("an empty state")
        made = word(leading)(draw)
        return made | {"state": torch.zeros_like(made["state"])}

    return case


def asked_again(leading: str = "") -> Inputs:
    """One word whose query is its key, which is longer than 1."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label("the query is the key")
        made = word(leading)(draw)
        return made | {"query": made["key"].clone()}

    return case


def of_a_step(write: str) -> list[Mistake]:
    """Mistakes of a step that ends with `state = …` and the answer to its query.

    write: what the state becomes, `state + …`.
    """
    return [
        Mistake(
            "read before write",
            READ_BEFORE,
            {f"state = {write}\n    return {READ}, state": f"return {READ}, {write}"},
        ),
        Mistake(
            "the old state lost",
            "You returned only this word's product. Add it to the state.",
            {f"state = {write}": f"state = {write.removeprefix('state + ')}"},
        ),
        Mistake(
            "the query written",
            "You wrote under the query. Write under the key, and ask with the query.",
            {"key[..., :, None]": "query[..., :, None]"},
        ),
        Mistake(
            "the key asks",
            "You asked with the key. The query asks.",
            {f"return {READ}": f"return {READ.replace('query', 'key')}"},
        ),
        Mistake(
            "another order",
            "The numbers are right, but return the context first, then the state.",
            {f"return {READ}, state": f"return state, {READ}"},
        ),
    ]


# Of both forms in chunks.
EMPTY = "key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])"
RANGE = "range(0, query.shape[-2], chunk)"
SAME_TEXT = "queries, keys and values have the same words and the same batch"
OF_CHUNKS = [
    Mistake(
        "chunks of another size",
        "Your chunks don't have `chunk` words. That's how many each of them has: not the number of "
        "chunks, and not always 64.",
        {RANGE: "range(0, query.shape[-2], 64)", "start + chunk": "start + 64"},
        {
            RANGE: "range(0, query.shape[-2], -(-query.shape[-2] // chunk))",
            "start + chunk": "start - (-query.shape[-2] // chunk)",
        },
    ),
    Mistake(
        "the rest left out",
        "You left out the words of the last chunk, which is shorter than the others.",
        {RANGE: "range(0, query.shape[-2] - chunk + 1, chunk)"},
    ),
    Mistake(
        "the last word left out",
        "Where the last chunk has only one word, you left it out. The chunks start at 0, `chunk`, "
        "2 · `chunk`, … up to the last word: `range(0, n, chunk)`.",
        {RANGE: "range(0, query.shape[-2] - 1, chunk)"},
    ),
    Mistake(
        "the state before the last chunk",
        "You returned the state as it was before the last chunk. Write that chunk, too, and then "
        "return it.",
        {f"{RANGE}:": f"{RANGE}:\n        before = state", "dim=-2), state": "dim=-2), before"},
    ),
    Mistake(
        "the given state ignored",
        "You start from zeros even where there is a `state` to go on from.",
        {"if state is None:\n        state": "state"},
    ),
    Mistake(
        "another order",
        "The numbers are right, but return the contexts first, then the state.",
        {
            "return torch.cat(contexts, dim=-2), state": (
                "return state, torch.cat(contexts, dim=-2)"
            )
        },
    ),
]
FIRST_CHUNK = {"argument dropped: key.new_zeros": "the first chunk brings the batch"}
