"""Measurements that take minutes, so they were made once and are now read from CSV files.

broken_runs.csv: six broken runs of lesson 5, with their training and test losses at every fifth
epoch of 200. Everyone diagnoses the same six; which is which is for the learner to find out.
tests/course/test_lesson_05.py measures them again.

longer_texts.csv: how well six models of lesson 7 read longer texts than they were trained on, as
accuracies in percent at each length. `make bench BENCH=lengths` measures them again, and
tests/course/test_lesson_07.py some of them.
"""

import csv
from pathlib import Path

Losses = list[float]


def _rows(name: str) -> list[list[str]]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))


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


RUNS = _broken_runs()  # name → training and test losses
LENGTHS, CURVES = _longer_texts()  # task → scheme → for each seed, a number for each length
