"""The trainer: watched, interrupted, killed or resumed, it ends with the same weights."""

import sys
import time
import types

import pytest
import torch
from torch import nn

from autograder.utils.data import generate_squares
from autograder.utils.training import Trainer, evaluate, evaluating, make_loader, split_squares
from autograder.utils.watching import someone_watches
from tests.support.commands import FORKS
from tests.support.waiting import wait_until


class Completer(nn.Module):
    """A small model with dropout, so that every random state matters."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 4)
        )

    def forward(self, source, shifted_target):
        return self.layers(source).view(-1, 2, 2)

    def predict(self, source):
        return self(source, None)


def train_epoch(model, loader, loss, optimizer):
    model.train()
    losses = []
    for source, target in loader:
        error = loss(model(source, None), target)
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        losses.append(error.item())
    return sum(losses) / len(losses)


def trainer(seed=0, epoch=train_epoch):
    torch.manual_seed(seed)
    train, test = (split_squares(generate_squares(64, seed=s).points) for s in (13, 19))
    return Trainer(Completer(), epoch, make_loader(*train, 16, seed), test)


def ran(n_epochs, seed=0):
    """Start training at once: draws in between would change the model's random state."""
    run = trainer(seed)
    run.run(n_epochs)
    return run


def assert_same_run(one, other):
    assert one.history == other.history
    for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert a.equal(b)


def test_it_learns_and_keeps_both_losses():
    history = trainer().run(30)
    assert len(history.train) == len(history.test) == 30
    assert history.train[-1] < 0.6 * history.train[0]
    assert history.test[-1] < 0.6 * history.test[0]


def test_a_seed_fixes_the_run():
    one, again, other = ran(3), ran(3), ran(3, seed=1)
    assert_same_run(one, again)
    assert one.history != other.history


def test_the_order_of_the_squares_comes_from_the_seed_alone():
    source, target = split_squares(generate_squares(32).points)
    one = make_loader(source, target, 8, seed=4)
    first = [batch.clone() for batch, _ in one]
    torch.rand(10)
    again = [batch for batch, _ in make_loader(source, target, 8, seed=4)]
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    assert not all(a.equal(b) for a, (b, _) in zip(first, one, strict=True))  # next epoch


def test_a_loader_without_a_batch_size_gives_all_at_once():
    source, target = split_squares(generate_squares(32).points)
    ((all_sources, all_targets),) = make_loader(source, target)
    assert all_sources.equal(source) and all_targets.equal(target)


def test_run_continues_from_where_it_is():
    whole, parts = ran(6), ran(2)
    parts.run(6)
    assert_same_run(whole, parts)
    assert parts.run(6) is parts.history and parts.epochs_done == 6


def test_a_checkpoint_resumes_the_run(tmp_path):
    whole = ran(6)
    trainer().run(2, tmp_path / "run.pt")
    second = trainer()
    second.run(6, tmp_path / "run.pt")
    assert_same_run(whole, second)


@pytest.mark.parametrize("where", [5, 6, 7, 8])
def test_interrupting_loses_nothing(where):
    whole, batches = ran(4), 0

    def interrupted(model, loader, loss, optimizer):
        def counted(prediction, target):
            nonlocal batches
            batches += 1
            if batches == where:
                raise KeyboardInterrupt
            return loss(prediction, target)

        return train_epoch(model, loader, counted, optimizer)

    run = trainer(epoch=interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.run(4)
    assert run.epochs_done == 1 == len(run.history.train)
    run.run(4)
    assert_same_run(whole, run)


def train_until(stop, checkpoint):
    """Train; wait for ever after `stop` epochs and one more, which is not saved."""

    def epoch(*arguments):
        loss = train_epoch(*arguments)
        if run.epochs_done == stop:
            checkpoint.with_name("there").touch()
            time.sleep(1e6)
        return loss

    run = trainer(epoch=epoch)
    run.run(stop + 1, checkpoint)


def test_a_run_that_was_killed_and_resumed_ends_with_the_same_weights(tmp_path):
    checkpoint = tmp_path / "run.pt"
    process = FORKS.Process(target=train_until, args=(17, checkpoint))
    process.start()
    wait_until((tmp_path / "there").exists)
    process.kill()
    process.join()
    assert len(torch.load(checkpoint)["test"]) == 17
    resumed = trainer()
    resumed.run(40, checkpoint)
    assert_same_run(ran(40), resumed)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    trainer().run(1, tmp_path / "run.pt")
    other = trainer(seed=1)
    with pytest.raises(ValueError, match="began with other weights: remove it"):
        other.run(2, tmp_path / "run.pt")
    assert other.epochs_done == 0


def test_a_checkpoint_that_was_cut_short_leaves_the_last_whole_one(tmp_path, monkeypatch):
    run, path = trainer(), tmp_path / "run.pt"
    run.run(1, path)
    before = path.read_bytes()
    monkeypatch.setattr(torch, "save", lambda state, file: file.write_bytes(b"half") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run.save(path)
    assert path.read_bytes() == before


def test_evaluation_takes_no_gradients_and_restores_the_mode():
    model, seen = Completer(), []
    model.predict = lambda source: (
        seen.append((model.training, torch.is_grad_enabled())) or source * 0
    )
    source, target = split_squares(generate_squares(8).points)
    assert evaluate(model.train(), source, target) == pytest.approx(target.square().mean().item())
    assert seen == [(False, False)] and model.training and torch.is_grad_enabled()
    with evaluating(model.eval()):
        pass
    assert not model.training


def test_evaluation_refuses_shapes_that_would_broadcast():
    model = Completer()
    model.predict = lambda source: source[:, :1]
    with pytest.raises(ValueError, match=r"\[8, 1, 2\] for targets of \[8, 2, 2\]"):
        evaluate(model, *split_squares(generate_squares(8).points))


def test_the_bar_is_silent_where_nobody_watches(capfd):
    assert not someone_watches()
    trainer().run(3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("watched", [True, False])
def test_a_notebook_that_someone_has_open_shows_the_bar(watched, monkeypatch, capfd):
    shell = types.SimpleNamespace(kernel=types.SimpleNamespace(_allow_stdin=watched))
    ipython = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    trainer().run(3)
    assert ("training" in capfd.readouterr().out) == watched
