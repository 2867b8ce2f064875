"""The lessons' data: squares drawn as in published notebooks."""

import numpy as np
import pytest
import torch

from autograder.utils.data import CORNERS, NOISE_FLOOR, as_you_like_it, generate_squares
from autograder.utils.data.examples import TEXTS

CALLS = [(128, 13), (256, 19), (64, 19), (1, 0)]


def legacy_draw(n, seed):
    """Draw in the call order of the published notebooks, from numpy's global random state."""
    np.random.seed(seed)
    starts = np.random.randint(4, size=n)
    directions = np.random.randint(2, size=n)
    sequences = []
    for start, direction in zip(starts, directions, strict=True):
        listed = [CORNERS[(start + i) % 4] for i in range(4)]
        corners = np.array(listed if direction == 1 else listed[::-1])
        sequences.append(corners + np.random.randn(4, 2) * 0.1)
    return sequences, directions


@pytest.mark.parametrize("call", CALLS)
def test_the_draw_is_the_legacy_one_number_by_number(call):
    squares = generate_squares(*call)
    sequences, directions = legacy_draw(*call)
    assert squares.directions.tolist() == directions.tolist()
    for points, sequence in zip(squares.points, sequences, strict=True):
        assert points.equal(torch.tensor(sequence, dtype=torch.float32))


class WindowsRandomState(np.random.RandomState):
    def randint(self, *bounds, dtype=np.int32, **options):
        return super().randint(*bounds, dtype=dtype, **options)


def test_windows_draws_the_same_in_the_same_type(monkeypatch):
    here = generate_squares(64)
    monkeypatch.setattr(np.random, "RandomState", WindowsRandomState)
    for a, b in zip(here, generate_squares(64), strict=True):
        assert a.dtype == b.dtype and a.equal(b)


def test_numpys_random_state_is_unchanged():
    np.random.seed(5)
    expected = np.random.rand(3)
    np.random.seed(5)
    generate_squares()
    assert (np.random.rand(3) == expected).all()


def test_training_and_test_squares_differ():
    train, test = generate_squares(seed=13).points, generate_squares(seed=19).points
    assert torch.cdist(train.flatten(1), test.flatten(1)).min() > 0.05


def test_every_start_and_direction_occurs_and_the_noise_is_as_said():
    points, directions = generate_squares(4000)
    corners = torch.tensor(CORNERS, dtype=torch.float32)
    ideal = points.sign()
    assert (points - ideal).square().mean().item() == pytest.approx(NOISE_FLOOR, rel=0.05)
    first = (ideal[:, :1] == corners).all(-1).int().argmax(1)
    kinds = set(zip(first.tolist(), directions.tolist(), strict=True))
    assert len(kinds) == 8
    steps = (ideal[:, None, 1] == corners).all(-1).int().argmax(1) - first
    assert ((steps % 4 == 1) == (directions == 1)).all()


def test_the_same_seed_gives_the_same_squares():
    assert generate_squares(seed=3).points.equal(generate_squares(seed=3).points)


def test_the_play_is_whole_and_its_source_is_named():
    play = as_you_like_it()
    assert len(play) == 125_179 and len(set(play)) == 68
    named = (TEXTS / "sources.md").read_text(encoding="utf-8")
    assert [file.name for file in TEXTS.glob("*.txt") if f"`{file.name}`" not in named] == []
