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


ORDER = Mistake(
    "another order",
    "The numbers are right, but return the context first, then the state.",
    {f"return {READ}, state": f"return state, {READ}"},
)
