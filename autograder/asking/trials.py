"""Trials: how a check uses what learners wrote where a plain call won't do.

Each takes the answer (a function, a class or a built module), a dict in which it notes further
facts, and a call's arguments. It returns the result.
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from autograder.asking.answer import Facts
from autograder.asking.backward_trials import apply_in_little_memory
from autograder.asking.cache_trials import (
    append_in_pieces,
    read_by_name,
    read_in_pieces,
    read_tokens,
    read_with_caches,
    read_with_memory,
    with_own_llama,
)
from autograder.asking.memory_trials import in_chunks, in_little_memory, without_keys
from autograder.asking.writing_trials import draw_again, draw_often, run_without_head, write_on


def take_a_step(
    function: Callable[..., Any],
    facts: Facts,
    maximum: Tensor,
    total: Tensor,
    output: Tensor,
    *tile: Tensor,
) -> Any:
    """Call a function whose first argument is a state of three tensors."""
    return function((maximum, total, output), *tile)


TRIALS: dict[str, Callable[..., Any]] = {
    trial.__name__: trial
    for trial in (
        append_in_pieces,
        read_by_name,
        read_in_pieces,
        read_tokens,
        read_with_caches,
        read_with_memory,
        with_own_llama,
        take_a_step,
        in_little_memory,
        in_chunks,
        apply_in_little_memory,
        without_keys,
        draw_often,
        draw_again,
        write_on,
        run_without_head,
    )
}
