"""A small trainer that can be watched, interrupted, killed and resumed.

The learner writes what happens in an epoch (`train_epoch`); this is the rest. A run that is
interrupted or killed and then resumed ends with the same weights as one that is not: a checkpoint
holds everything that the rest of the run depends on, and an unfinished epoch is undone.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from autograder.utils.watching import watched

Pair = tuple[Float[Tensor, "n n_source 2"], Float[Tensor, "n n_target 2"]]
LEARNING_RATE = 0.007
TrainEpoch = Callable[[nn.Module, Iterable, Callable, torch.optim.Optimizer], float]


def split_squares(points: Float[Tensor, "n n_corners 2"]) -> Pair:
    """Split squares into source and target: the first two corners, and the others."""
    return points[:, :2], points[:, 2:]


def make_loader(
    source: Tensor, target: Tensor, batch_size: int | None = None, seed: int = 0
) -> DataLoader:
    """Make batches of (source, target), reshuffled each epoch; by default, one batch of everything.

    The order depends only on `seed`, whatever else draws random numbers.
    """
    generator = torch.Generator().manual_seed(seed)
    data = TensorDataset(source, target)
    if batch_size is None:
        # Taken all at once: gathering it square by square would take longer than a step.
        whole = TensorDataset(source[None], target[None])
        return DataLoader(whole, batch_size=None, generator=generator)
    return DataLoader(data, batch_size, shuffle=True, generator=generator)


@contextlib.contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put the model in evaluation mode, without gradients, and restore its mode afterwards."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def evaluate(model: nn.Module, source: Tensor, target: Tensor) -> float:
    """Return the mean squared error of `model.predict(source)`, which has not seen the target.

    Raises ValueError if the shapes differ: subtraction would broadcast them, which is meaningless.
    """
    with evaluating(model):
        prediction = model.predict(source)  # type: ignore[operator]  # to torch, a tensor or module
    if prediction.shape != target.shape:
        raise ValueError(
            f"the model predicts {list(prediction.shape)} for targets of {list(target.shape)}"
        )
    return F.mse_loss(prediction, target).item()


def steps_of(n_steps: int) -> Iterator[int]:
    """Count the steps of a training from 1, with a progress bar if someone watches."""
    for number in watched(range(n_steps), "step"):
        yield number + 1


@dataclass
class History:
    """Losses by epoch: training with teacher forcing, and predicting the test set."""

    train: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)


class Trainer:
    """Trains a model epoch by epoch and keeps the losses.

    train_epoch: runs one epoch and returns the mean loss.
    loader: yields batches of (source, target); see `make_loader`.
    test: source and target of squares that the model is not trained on.
    """

    def __init__(
        self, model: nn.Module, train_epoch: TrainEpoch, loader: Iterable, test: Pair
    ) -> None:
        self.model, self.train_epoch, self.loader, self.test = model, train_epoch, loader, test
        self.optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE, fused=True)
        self.history = History()
        self._start = _digest(model)

    @property
    def epochs_done(self) -> int:
        return len(self.history.test)

    def run(self, n_epochs: int, checkpoint: str | Path | None = None) -> History:
        """Train until `n_epochs` are done in total; with a checkpoint, continue from there.

        The checkpoint is written after each epoch. An interruption undoes only the unfinished
        epoch: run again to continue.
        Raises ValueError if the checkpoint belongs to a run that began with other weights.
        """
        if checkpoint is not None and Path(checkpoint).exists():
            self.load(checkpoint)
        for _ in watched(range(self.epochs_done, n_epochs), "epoch"):
            self._epoch()
            if checkpoint is not None:
                self.save(checkpoint)
        return self.history

    def save(self, path: str | Path) -> None:
        """Write a checkpoint. The file is always complete, even if this is killed."""
        temporary = Path(f"{path}.part")
        torch.save(self._state(), temporary)
        os.replace(temporary, path)

    def load(self, path: str | Path) -> None:
        """Restore the state in a checkpoint. Raises ValueError if it is from another run.

        Reads only tensors and numbers: a checkpoint can't run code.
        """
        state = torch.load(path, weights_only=True)
        if state["start"] != self._start:
            raise ValueError(
                f"{path} is the checkpoint of a run that began with other weights: remove it, "
                "give another path, or build the model with the seed of that run"
            )
        self._restore(state)

    def _epoch(self) -> None:
        before = deepcopy(self._state())
        try:
            loss = self.train_epoch(self.model, self.loader, F.mse_loss, self.optimizer)
            error = evaluate(self.model, *self.test)
        except BaseException:  # the interrupt button too
            self._restore(before)
            raise
        self.history.train.append(float(loss))
        self.history.test.append(error)

    def _state(self) -> dict[str, Any]:
        """Return everything that the rest of the run depends on."""
        return {
            "start": self._start,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "train": list(self.history.train),
            "test": list(self.history.test),
            "order": self._order.get_state() if self._order else None,
            "random": torch.get_rng_state(),
        }

    def _restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.history.train[:], self.history.test[:] = state["train"], state["test"]
        if self._order:
            self._order.set_state(state["order"])
        torch.set_rng_state(state["random"])

    @property
    def _order(self) -> torch.Generator | None:
        return getattr(self.loader, "generator", None)


def _digest(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        digest.update(name.encode() + value.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def _take_a_step() -> None:
    """Take an optimizer's first step before any check: it makes torch import for seconds."""
    parameter = nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    torch.optim.Adam([parameter]).step()


_take_a_step()
