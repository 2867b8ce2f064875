"""Measurements that take minutes, so they were made once and are now read from CSV files.

broken_runs.csv: six broken runs of lesson 5, with their training and test losses at every fifth
epoch of 200. Everyone diagnoses the same six; which is which is for the learner to find out.
tests/course/test_lesson_05.py measures them again.

longer_texts.csv: how well six models of lesson 7 read longer texts than they were trained on, as
accuracies in percent at each length. `make bench BENCH=lengths` measures them again, and
tests/course/test_lesson_07.py some of them.

capital_of_france.csv: a chat with lesson 12's model, token by token, and the eight tokens that it
found likeliest to come after each, with their probabilities. tests/course/test_lesson_12.py asks
it again.

wrong_models.csv: the same model, broken in each of the ways of `autograder.utils.models.MISTAKES`.
`make bench BENCH=wrong_models` measures it again, and tests/course/test_lesson_12.py a part of it.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

Losses = list[float]


@dataclass(frozen=True)
class WrongModel:
    """What becomes of lesson 12's model when one thing is wrong.

    mistake: what is wrong; "" for the right model.
    loss: on three plain paragraphs, in nats.
    off, off_in_pieces: how far a logit is off at most: for texts at once, for pieces and caches.
    answer: to the question for the capital of France.
    """

    mistake: str
    loss: float
    off: float
    off_in_pieces: float
    answer: str


def _rows(name: str) -> list[list[str]]:
    path = Path(__file__).parent / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _broken_runs() -> dict[str, tuple[Losses, Losses]]:
    runs: dict[str, tuple[Losses, Losses]] = {}
    for name, _, *losses in _rows("broken_runs.csv")[1:]:
        for series, loss in zip(runs.setdefault(name, ([], [])), losses, strict=True):
            series.append(float(loss))
    return runs


def _longer_texts() -> tuple[tuple[int, ...], dict[str, dict[str, list[list[float]]]]]:
    (_, _, _, *lengths), *rows = _rows("longer_texts.csv")
    curves: dict[str, dict[str, list[list[float]]]] = {}
    for task, scheme, _, *accuracies in rows:
        seeds = curves.setdefault(task, {}).setdefault(scheme, [])
        seeds.append([float(accuracy) for accuracy in accuracies])
    return tuple(map(int, lengths)), curves


def _chat() -> tuple[list[str], list[dict[str, float]]]:
    tokens: list[str] = []
    likeliest: list[dict[str, float]] = []
    for place, token, following, probability in _rows("capital_of_france.csv")[1:]:
        if int(place) == len(tokens):
            tokens.append(token)
            likeliest.append({})
        likeliest[-1][following] = float(probability)
    return tokens, likeliest


def _models() -> list[WrongModel]:
    return [
        WrongModel(mistake, float(loss), float(off), float(off_in_pieces), answer)
        for mistake, loss, off, off_in_pieces, answer in _rows("wrong_models.csv")[1:]
    ]


RUNS = _broken_runs()  # name → training and test losses
LENGTHS, CURVES = _longer_texts()  # task → scheme → for each seed, a number for each length
RIGHT_MODEL, *WRONG_MODELS = _models()
# The tokens, and for each of them those likeliest to come next → their probabilities.
CAPITAL_OF_FRANCE = _chat()
