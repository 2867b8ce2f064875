"""The models of lesson 10 over several seeds: the writer's loss, and how well copiers copy."""

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import torch
from tqdm import tqdm

from autograder.lessons.lesson import Lesson
from autograder.utils.data import as_you_like_it

NAME, SEEDS = "10_tiny_language_model", range(3)
PERIODS, MORE_STEPS = (8, 10, 12, 14, 16, 20), 3000
AIM = 2.0  # nats on the test text, on every seed


def report() -> None:
    """Print writers' losses, and how often copiers are right, also with heads taken out."""
    lesson = Lesson(NAME).namespace()
    train, test = texts(lesson)
    lesson["one_text"] = one_text(lesson)
    print(f"loss on the test text by seed (aim {AIM} after 1,200 steps), and seconds:")
    for name, length, n_steps in (
        ("the play", len(train), 1200),
        ("2,000 characters", 2000, 400),
        ("2,000 characters", 2000, 800),
    ):
        first = 0 if length == len(train) else 20_000
        for seed in tqdm(SEEDS, disable=None):
            start = process_time()
            _, losses = lesson["train_writer"](
                train[first : first + length], test, n_steps, seed=seed
            )
            lowest, last = losses[1].min(), losses[1, -1]
            print(
                f"  {name:16} {n_steps:5} steps: lowest {lowest:.2f}, last {last:.2f}, "
                f"{process_time() - start:.0f} s"
            )
    print("copiers by seed: right (%) where a token can be known, and scores by layer and head:")
    for name, n_layers, periods, n_steps in (
        ("two layers", 2, range(8, 17), 500),
        ("always 12", 2, [12], 300),
        ("one layer", 1, range(8, 17), 500),
        ("one layer", 1, range(8, 17), MORE_STEPS),
    ):
        for seed in tqdm(SEEDS, disable=None):
            copier, _, weights = lesson["train_copier"](n_layers, list(periods), n_steps, seed)
            print(f"  {name}, {n_steps} steps:", *lines(lesson, copier, weights[-1]), sep="\n    ")


def texts(lesson: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens to train on and to test with, as the lesson's cells make them."""
    play = as_you_like_it()
    lesson["letters"] = sorted(set(play))
    lesson["n_tokens"] = len(lesson["letters"])
    tokens = lesson["to_tokens"](play)
    return tokens[: len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10 :]


def lines(lesson: dict[str, Any], copier: Any, weights: torch.Tensor) -> Iterator[str]:
    """Yield the lines about a copier.

    weights: those for `one_text`.
    """
    by_period = [percent_right(lesson, copier, [period]) for period in PERIODS]
    yield "period " + " ".join(f"{p}: {r:.0f}" for p, r in zip(PERIODS, by_period, strict=True))
    for score in ("previous_token_score", "induction_score"):
        found = [lesson[score](heads, lesson["one_text"]).tolist() for heads in weights]
        yield f"{score}: {[[round(value, 2) for value in heads] for heads in found]}"
    without = lesson["without_head"]
    parts = {
        f"{layer}.{head}": without(copier, layer, head)
        for layer in range(len(weights))
        for head in range(2)
    }
    parts |= {
        str(layer): without(without(copier, layer, 0), layer, 1) for layer in range(len(weights))
    }
    found = {name: percent_right(lesson, model, range(8, 17)) for name, model in parts.items()}
    yield "without " + ", ".join(f"{name}: {value:.0f}" for name, value in found.items())


def one_text(lesson: dict[str, Any]) -> torch.Tensor:
    """Return the text of period 12 whose weights `train_copier` keeps."""
    generator = torch.Generator().manual_seed(1)
    return lesson["repeating_texts"](1, [12], generator)[0][0, :24]


def percent_right(lesson: dict[str, Any], model: Any, periods: Sequence[int]) -> float:
    """Return how often a copier is right, in percent, on 256 texts."""
    generator = torch.Generator().manual_seed(5)
    tokens, known = lesson["repeating_texts"](256, [*periods], generator)
    with torch.no_grad():
        return 100 * lesson["copy_accuracy"](model(tokens), tokens, known).item()
