"""The models of lesson 5 over many seeds: test errors, and how long training takes.

The plain model is trained as published (256 squares in batches of 16, 100 epochs) and as in the
lesson (256 squares in one batch, 120 epochs), and so is the better model, complete and with parts
left out. Then comes the exercise `train_completer`, on separate cases.
"""

import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from autograder.lessons.draw import Draw
from autograder.lessons.lesson import Lesson
from autograder.utils.data import generate_squares
from autograder.utils.training import evaluate, make_loader, split_squares

NAME = "05_square_corners"
TRAIN_COMPLETER = importlib.import_module(f"autograder.exercises.{NAME}.train_completer")
SEEDS, MORE_SEEDS = range(10), range(20)
LEFT_OUT: dict[str, dict[str, Any]] = {
    "no positions": {"positions": False},
    "no norm": {"norm": False},
    "no width": {"d_model": 2},
    "no width, no norm": {"d_model": 2, "norm": False},
}
AS_PUBLISHED = (256, 16, 100, 0.01)  # squares, batch size, epochs, learning rate
MOST_ERROR, MOST_SECONDS = 0.0145, 5.0  # limits for the improved model, on every seed


def report() -> None:
    """Print the test errors of all models by seed."""
    print("test error of square completers by seed (noise floor 0.01):")
    for name, errors, seconds in tqdm(results(), total=4 + len(LEFT_OUT), disable=None):
        row = " ".join(f"{error:.4f}" for error in errors)
        print(f"  {name:20} {row}  worst {max(errors):.4f}, {seconds:.1f} s a seed")
    print(f"  aim of the better model: at most {MOST_ERROR} and {MOST_SECONDS:.0f} s on every seed")
    print(f"train_completer, which may have {TRAIN_COMPLETER.MOST_ERROR}:")
    for name, errors in room(Lesson(NAME).namespace(), SEEDS):
        row = " ".join(f"{error:.4f}" for error in errors)
        print(f"  {name:52} {row}  worst {max(errors):.4f}")


def results():
    """Yield each model's name, its errors and the processor seconds of one training."""
    lesson = Lesson(NAME).namespace()
    yield "plain, as published", *measure(lesson, lesson["plain"], *AS_PUBLISHED, seeds=MORE_SEEDS)
    yield "plain", *measure(lesson, lesson["plain"])
    yield "better", *measure(lesson, lesson["better"])
    yield "no residual", *measure(lesson, lesson["without_residual"])
    for name, parts in LEFT_OUT.items():
        yield name, *measure(lesson, lambda parts=parts: lesson["better"](**parts))


def measure(
    lesson: dict[str, Any],
    build: Callable[[], nn.Module],
    n: int = 256,
    batch_size: int | None = None,
    n_epochs: int = 120,
    learning_rate: float = 0.007,
    seeds: Iterable[int] = SEEDS,
) -> tuple[list[float], float]:
    """Return the test errors over the seeds, and the processor seconds of one training."""
    train, test = (split_squares(generate_squares(n, seed=seed).points) for seed in (13, 19))
    start, errors = time.process_time(), []
    for seed in seeds:
        torch.manual_seed(seed)
        model, loader = build(), make_loader(*train, batch_size, seed)
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
        for _ in range(n_epochs):
            lesson["train_epoch"](model, loader, F.mse_loss, optimizer)
        errors.append(evaluate(model, *test))
    return errors, (time.process_time() - start) / len(errors)


def room(lesson: dict[str, Any], seeds: Iterable[int]) -> Iterator[tuple[str, list[float]]]:
    """Yield the errors of `train_completer`'s solution for each aspect, one per seed."""
    for aspect in TRAIN_COMPLETER.EXERCISE.aspects:
        errors = []
        for seed in seeds:
            case = aspect.cases[0](Draw(f"room {seed}"))
            prediction = lesson["train_completer"](**case.inputs)
            errors.append(F.mse_loss(prediction, case.goal["prediction"]).item())
        yield aspect.name, errors
