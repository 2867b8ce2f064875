"""A view of models that are wrong in one way each: what tells, and what doesn't."""

import random
from collections.abc import Sequence
from dataclasses import asdict

from autograder.utils.data import WrongModel
from autograder.utils.plots.bars import plot_bars
from autograder.utils.views.live import View

SHOWN = 8  # in the still picture
LONGEST = 80  # characters of an answer


def view_wrong_models(right: WrongModel, wrong: Sequence[WrongModel], *, caption: str) -> View:
    """Show what each model answers, and on request its loss, its logits and what is wrong with it.

    The models come in an order that gives nothing away. It begins with the one of the lowest loss.
    Raises ValueError if there is no wrong model.
    """
    if not wrong:
        raise ValueError("there are no wrong models: give at least one")
    best, *others = sorted(wrong, key=lambda model: model.loss)
    few = [right, best, *others][:SHOWN]
    random.Random(0).shuffle(others)
    models = [asdict(model) for model in (best, *others)]
    for model in models:
        model["answer"] = model["answer"][:LONGEST]
    labels = [model.mistake or "nothing wrong" for model in few]
    still = plot_bars({"loss in nats": [model.loss for model in few]}, labels, caption=caption)
    return View(still, "wrong", {"models": models, "right": asdict(right)})
