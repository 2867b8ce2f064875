"""A view of a model that completes squares."""

from collections.abc import Callable, Mapping
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from autograder.utils.plots.squares import plot_predictions
from autograder.utils.views.live import View

LOW, HIGH, N_PLACES = -1.5, 1.5, 7  # the grid of each coordinate that a corner may be moved to
SCALE = 100  # answers are kept as whole hundredths

Completion = tuple[Float[Tensor, "batch 2 2"], Float[Tensor, "batch 2 2"]]
Completes = Callable[[Float[Tensor, "batch 2 2"]], Completion]


def view_square(
    completes: Completes,
    square: Float[Tensor, "4 2"],
    moments: Mapping[int, Completion],
    *,
    caption: str,
) -> View:
    """Show how a model completes a square during its training, and from corners that are moved.

    completes: returns corners 3 and 4, and how much each of them looks at corners 1 and 2. It is
    asked once for each place of both corners on a grid; the view interpolates in between.
    moments: epoch → its answers for this square then; the last is the present one.
    """
    source = square[:2]
    places = torch.linspace(LOW, HIGH, N_PLACES).tolist()
    corners, weights = completes(torch.tensor(list(product(places, repeat=4))).view(-1, 2, 2))
    answers = torch.cat([corners.flatten(1), weights.flatten(1)], dim=1)
    *_, (last, _) = moments.values()
    still = plot_predictions(source[None], square[None, 2:], last, caption=caption)
    data = {
        "source": _rounded(source),
        "moments": [
            {"epoch": epoch, "corners": _rounded(corners[0]), "weights": _rounded(weights[0])}
            for epoch, (corners, weights) in moments.items()
        ],
        "grid": {
            "low": LOW,
            "high": HIGH,
            "n": N_PLACES,
            "scale": SCALE,
            "answers": (answers * SCALE).round().int().flatten().tolist(),
        },
        "names": ["1", "2", "3", "4"],
    }
    return View(still, "square", data)


def _rounded(values: Tensor) -> list:
    return [[round(number, 3) for number in row] for row in values.tolist()]
