"""Measuring time and memory."""

import os
from types import SimpleNamespace

import pytest
import torch

from autograder.utils import costs
from autograder.utils.costs import peak_megabytes, saved_megabytes, seconds


class Hoarder(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.powers = [x**2, x**3]
        return 2 * x

    @staticmethod
    def backward(ctx, slope):
        return 2 * slope


class Keeper(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.get = lambda: (x, result)
        return result

    @staticmethod
    def backward(ctx, slope):
        return slope * ctx.get()[1]


def test_seconds_takes_the_shortest_call_after_the_first(monkeypatch):
    clock = SimpleNamespace(now=0)
    monkeypatch.setattr(costs, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    takes = iter([1, 4, 2, 3])

    def call():
        clock.now += next(takes)

    assert seconds(call) == 2


def test_memory_counts_what_is_alive_at_one_time():
    def three_at_most_two_at_once(n):
        first, second = torch.empty(n), torch.empty(n)
        del first
        return second, torch.empty(n)

    assert peak_megabytes(three_at_most_two_at_once, 1_000_000) == pytest.approx(8, rel=0.01)


def test_memory_leaves_out_existing_tensors():
    x = torch.ones(1_000_000)
    assert peak_megabytes(torch.sum, x) < 0.1
    assert peak_megabytes(torch.neg, x) == pytest.approx(4, rel=0.01)


def test_memory_writes_nothing(capfd):
    peak_megabytes(torch.ones, 10)
    assert capfd.readouterr() == ("", "")


def test_stderr_comes_back_after_an_error(capfd):
    with pytest.raises(RuntimeError, match="negative"):
        peak_megabytes(torch.ones, -1)
    os.write(2, b"there")
    assert capfd.readouterr().err == "there"


def test_saved_memory_counts_once():
    x = torch.ones(1_000_000, requires_grad=True)
    assert saved_megabytes(torch.exp, x) == pytest.approx(4)  # its result
    assert saved_megabytes(lambda x: x * x, x) == pytest.approx(4)  # x, twice
    assert saved_megabytes(torch.neg, x) == 0
    # On `ctx`, out of autograd's sight.
    assert saved_megabytes(Hoarder.apply, x) == pytest.approx(8)
    assert saved_megabytes(Keeper.apply, x) == pytest.approx(8)  # x and the result
    assert saved_megabytes(lambda x: Keeper.apply(x).neg(), x) == pytest.approx(8)


def test_saved_memory_of_what_returns_nothing_beside_a_sparse_tensor():
    x = torch.ones(1_000_000, requires_grad=True)
    sparse = torch.eye(3).to_sparse()
    assert saved_megabytes(lambda x: None, x) == 0
    assert saved_megabytes(lambda x: sparse.to_dense(), x) == 0
