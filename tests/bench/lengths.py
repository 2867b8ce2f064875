"""The models of lesson 7 by scheme, task and seed: trained on 32 tokens, tested on up to 256.

ALiBi is also trained for longer on the task that it finds hard.
"""

from typing import Any

from torch import nn
from tqdm import tqdm

from autograder.lessons.lesson import Lesson
from autograder.utils.data import CURVES, LENGTHS

NAME, SEEDS = "07_positions", range(3)


def report() -> None:
    """Print the accuracy at each length, and at the greatest with a window of 32 keys."""
    print(
        "accuracy (%) at", *LENGTHS, "; with only the last 32 keys in sight, at the last of them:"
    )
    lesson = Lesson(NAME).namespace()
    runs = [
        (task, scheme, seed)
        for task, curves in CURVES.items()
        for scheme in curves
        for seed in SEEDS
    ]
    for run in tqdm(runs, disable=None):
        found, in_window = measure(lesson, *run)
        print(f"  {run}  {' '.join(f'{number:.1f}' for number in found)} ; {in_window[-1]:.1f}")
    model = lesson["train_reader"]("ALiBi", lesson["three_back"], seed=0, n_steps=4000)
    found, _ = accuracies(lesson, "three_back", model)
    print(f"  ALiBi after 4000 steps  {' '.join(f'{number:.1f}' for number in found)}")


def measure(lesson: dict[str, Any], task: str, scheme: str, seed: int) -> tuple[list[float], ...]:
    """Train a model, and return its accuracies."""
    return accuracies(lesson, task, lesson["train_reader"](scheme, lesson[task], seed))


def accuracies(lesson: dict[str, Any], task: str, model: nn.Module) -> tuple[list[float], ...]:
    """Return the accuracy in percent by length, without and with a window."""
    return tuple(lesson["accuracy"](model, lesson[task], window) for window in (None, 32))
