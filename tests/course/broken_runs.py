"""Measure the runs that lesson 5 and its exercise `diagnose_run` show: one for each defect."""

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.lessons.lesson import Lesson
from autograder.utils.data import generate_squares

# The seeds of the runs in autograder.utils.data.recorded.
SEED_OF = {"A": 3, "B": 0, "C": 0, "D": 3, "E": 1, "F": 0}
N_EPOCHS, NOTED_EVERY = 200, 5
LEARNING_RATES = {"learning rate too small": 0.0001, "gradients not cleared": 0.01}


def broken_run(defect: str, seed: int, n_epochs: int = N_EPOCHS) -> tuple[Tensor, Tensor]:
    """Training and test losses of the better model with a defect, every fifth epoch."""
    better = Lesson("05_square_corners").namespace()["better"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train_broken(defect, better(), better(), seed, n_epochs)


def _train_broken(
    defect: str, model: torch.nn.Module, other: torch.nn.Module, seed: int, n_epochs: int
) -> tuple[Tensor, Tensor]:
    points = generate_squares(128, seed=1000 + seed).points
    test = generate_squares(128, seed=5000 + seed).points
    if defect in ("too few squares", "tested on the training squares"):
        points = points[:8]
    if defect == "tested on the training squares":
        test = points
    source, target = points[:, :2], points[:, 2:]
    if defect == "targets of other squares":
        target = target[torch.randperm(len(target))]
    trained = other if defect == "no step" else model
    learning_rate = LEARNING_RATES.get(defect, 0.005)
    optimizer = torch.optim.Adam(trained.parameters(), lr=learning_rate, fused=True)
    shifted = torch.cat([source[:, -1:], target[:, :-1]], dim=1)
    losses = []
    for epoch in range(1, n_epochs + 1):
        error = F.mse_loss(model.train()(source, shifted), target)
        if defect != "gradients not cleared":
            model.zero_grad()
        error.backward()
        optimizer.step()
        if epoch % NOTED_EVERY == 0:
            missed = F.mse_loss(model.predict(test[:, :2]), test[:, 2:])
            losses.append((error.item(), missed.item()))
    train, tested = torch.tensor(losses).T
    return train.clone(), tested.clone()
