"""Lesson 12's model, broken in each way: its loss, how far its logits are off, what it answers.

Prints utils/data/wrong_models.csv; it needs the real weights.
"""

import contextlib
import csv
import sys
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.lessons.lesson import Lesson
from autograder.utils.data import WrongModel, plain_paragraphs
from autograder.utils.models import MISTAKES, broken, smollm2

NAME = "12_inside_a_real_model"
QUESTION = "What is the capital of France?"
PIECES = [8, 1, 1, 4, 6]  # tokens of the first paragraph
N_NEW = 24


def report() -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(WrongModel.__dataclass_fields__)
    for model in measured():
        writer.writerow(astuple(model))


def measured(*mistakes: str) -> Iterator[WrongModel]:
    """Measure the right model, and broken ones: those named, or all."""
    lesson = Lesson(NAME).namespace()
    lesson["real"] = smollm2()
    llama = lesson["load"](smollm2())
    texts = [torch.tensor([smollm2().tokens(text)]) for text in plain_paragraphs()]
    right = logits(lesson, llama, texts)
    for mistake in ("", *(mistakes or MISTAKES)):
        with broken(llama, mistake) if mistake else contextlib.nullcontext():
            found = logits(lesson, llama, texts)
            said = lesson["answer"](llama, QUESTION, N_NEW)
        off, off_in_pieces = (
            max((a - b).abs().max().item() for a, b in zip(*both, strict=True))
            for both in zip(found, right, strict=True)
        )
        losses = [
            F.cross_entropy(logits[0, :-1], text[0, 1:]).item()
            for logits, text in zip(found[0], texts, strict=True)
        ]
        mean = sum(losses) / len(losses)
        yield WrongModel(mistake, round(mean, 3), round(off, 4), round(off_in_pieces, 4), said)


@torch.inference_mode()
def logits(lesson: dict[str, Any], llama: Any, texts: list[Tensor]) -> tuple[list[Tensor], ...]:
    """The logits of all texts at once, and those of a beginning in pieces."""
    caches = [lesson["Cache"]() for _ in llama.blocks]
    pieces = texts[0][:, : sum(PIECES)].split(PIECES, dim=1)
    return [llama(text) for text in texts], [llama(piece, caches) for piece in pieces]
