"""Corners 3 and 4 of test shapes, predicted by a model trained on (source, target)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from autograder.lessons.cases import Goal
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.data import CORNERS, NOISE

MOST_ERROR = 0.018
N_TRAIN, N_TEST = 256, 240
# How far each corner is from the middle. Opposite ones differ, so that no rule replaces learning.
UNEVEN_CORNERS = torch.tensor([1.3, 0.8, 1.0, 0.6])
# What the missing corners are multiplied by, so that target to source differs from source to
# target.
DRAWN_IN = 0.75


def shapes(corners: Tensor, missing: float, n: int, draw: Draw) -> Tensor:
    """Noisy shapes, [n, 4, 2]: both directions and all four starts are equally frequent.

    missing: what the last two corners are multiplied by.
    """
    kinds = torch.arange(n) % 8
    kinds = kinds[torch.randperm(n, generator=draw.generator)]
    start, direction = kinds % 4, (kinds // 4) * 2 - 1
    places = (start[:, None] + direction[:, None] * torch.arange(4)) % 4
    sequences = corners[places]
    sequences[:, 2:] *= missing
    return sequences + draw.normal_of((n, 4, 2), NOISE)


def goal(
    label: str,
    shape: Callable[[Draw], Tensor],
    missing: float = 1.0,
    repeats: bool = False,
    alone: bool = False,
) -> Callable[[Draw], Goal]:
    """A training, and shapes to complete.

    alone: whether that is a single shape, without noise.
    """

    def case(draw: Draw) -> Goal:
        corners = shape(draw)
        train, test = (shapes(corners, missing, n, draw) for n in (N_TRAIN, N_TEST))
        if alone:
            test = corners.roll(int(torch.randint(4, (), generator=draw.generator)), 0)[None]
        draw.label(label)
        inputs = {
            "source": train[:, :2],
            "target": train[:, 2:],
            "test_source": test[:, :2],
            "seed": int(torch.randint(1000, (), generator=draw.generator)),
        }
        return Goal(inputs, {"prediction": test[:, 2:]}, MOST_ERROR, repeats)

    return case


def true_squares(draw: Draw) -> Tensor:
    return torch.tensor(CORNERS, dtype=torch.float32)


def uneven_shapes(draw: Draw) -> Tensor:
    angle = 0.3 + 0.4 * torch.rand((), generator=draw.generator).item()
    turn = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return true_squares(draw) * UNEVEN_CORNERS[:, None] @ turn + torch.tensor([0.2, -0.1])


NEVER_TRAINED = (
    "These are the predictions of a model that was never trained. Does the loop run, and does the "
    "optimizer have this model's parameters?"
)

EXERCISE = Exercise(
    "train_completer",
    returns="prediction",
    builds_on=("WideMultiHeadAttention", "SquareCompleter", "train_epoch"),
    seconds=60.0,
    also=(),
    aspects=[
        Aspect(
            "other shapes to learn from",
            2,
            [goal("shapes with uneven corners, turned and moved", uneven_shapes, DRAWN_IN)],
        ),
        Aspect(
            "fresh squares, and one prediction per seed",
            1,
            [
                goal("one square to complete, without noise", true_squares, alone=True),
                goal("squares in both directions, from all starts", true_squares, repeats=True),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "not trained",
            NEVER_TRAINED,
            {"range(120)": "range(0)"},
            {
                "torch.optim.Adam(model.parameters()": "torch.optim.Adam(better().parameters()",
                "range(120)": "range(1)",
            },
        ),
        Mistake(
            "trained too briefly",
            "Your training is too short: the loss is still far above the noise floor. Look at the "
            "curve; about 120 epochs of one batch are enough.",
            {"range(120)": "range(20)"},
        ),
        Mistake(
            "the plain model",
            "These are the predictions of the plain model, which gets stuck far above the "
            "noise floor. Use the better parts.",
            {"SquareCompleter(encoder, decoder, n_source=2, n_target=2)": "plain()"},
        ),
        Mistake(
            "trained the wrong way around",
            "Your model learned the way from target to source. `make_loader` takes the source "
            "first.",
            {"make_loader(source, target)": "make_loader(target, source)"},
        ),
        Mistake(
            "called instead of predict",
            "You gave the model `test_source` as its shifted target, so it read corner 1 where it "
            "had learned to read corner 2. `model.predict` writes the corners one by one.",
            {
                "return model.predict(test_source)": (
                    "with torch.no_grad():\n        return model(test_source, test_source)"
                )
            },
        ),
        Mistake(
            "a rule about squares",
            "On squares this works, but it ignores the training shapes: uneven ones need a "
            "different answer. Train a model.",
            "return -test_source.sign()",
        ),
        Mistake(
            "a linear fit",
            "A linear fit can't follow uneven shapes: each of the eight ways around a shape needs "
            "a rule of its own. Train the model.",
            """
            def with_ones(points):
                return torch.cat([points.flatten(1), points.new_ones(len(points), 1)], dim=1)

            fit = torch.linalg.lstsq(with_ones(source), target.flatten(1)).solution
            return (with_ones(test_source) @ fit).view(-1, 2, 2)
            """,
        ),
        Mistake(
            "the training targets",
            "These are the targets of the training shapes. Predict corners for `test_source`.",
            "return target[: len(test_source)]",
        ),
        Mistake(
            "predictions for the training shapes",
            "You predicted the training shapes. Predict corners for `test_source`, which has a "
            "different number of shapes.",
            {"range(120)": "range(1)", "model.predict(test_source)": "model.predict(source)"},
        ),
        Mistake(
            "the last corner repeated",
            "You repeated the last corner. Train a model, and predict with it.",
            "return test_source[:, 1:].repeat(1, 2, 1)",
        ),
        Mistake(
            "the model",
            "You returned the model. Return the corners that it predicts for `test_source`.",
            {"range(120)": "range(1)", "return model.predict(test_source)": "return model"},
        ),
    ],
    alternatives=[
        Alternative(
            "nearest training shapes",
            """
            # No network at all: the mean over the 24 training shapes with the nearest source.
            distance = torch.cdist(test_source.flatten(1), source.flatten(1))
            return target[distance.topk(24, largest=False).indices].mean(1)
            """,
        ),
        Alternative(
            "a feed-forward net",
            """
            torch.manual_seed(seed)
            net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4)).to(source.dtype)
            optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
            for _ in range(500):
                error = F.mse_loss(net(source.flatten(1)), target.flatten(1))
                optimizer.zero_grad()
                error.backward()
                optimizer.step()
            return net(test_source.flatten(1)).detach().view(-1, 2, 2)
            """,
        ),
    ],
    hints=[
        "The function `test_error` above does nearly all of it: seed, model, loader, optimizer, "
        "epochs.",
        "`better()` makes the model and `make_loader` the loader, from `source` and `target`.",
        "At the end call the model's `predict` on the test sources, and return what it gives.",
    ],
)
