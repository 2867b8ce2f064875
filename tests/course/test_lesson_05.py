"""Published values of lesson 5, and what its text says about training, over several seeds."""

import importlib

import pytest
import torch
import torch.nn.functional as F

from autograder.lessons.lesson import Lesson
from autograder.utils.data import RUNS, generate_squares
from autograder.utils.training import Trainer, make_loader, split_squares
from tests.bench.squares import AS_PUBLISHED, LEFT_OUT, MOST_ERROR, measure
from tests.course.broken_runs import SEED_OF, broken_run

pytestmark = pytest.mark.usefixtures("one_thread")

DIAGNOSE_RUN = importlib.import_module("autograder.exercises.05_square_corners.diagnose_run")
SQUARE = torch.tensor([[[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]])
TRAIN, TEST = (split_squares(generate_squares(256, seed=seed).points) for seed in (13, 19))


@pytest.fixture(scope="module")
def lesson_5():
    return Lesson("05_square_corners").namespace()


@pytest.fixture(scope="module")
def improved(lesson_5):
    """Test errors of the improved model over ten seeds."""
    return measure(lesson_5, lesson_5["better"])[0]


@pytest.fixture(scope="module")
def failed(lesson_5):
    """Test errors of the plain model over the three seeds of the lesson."""
    return measure(lesson_5, lesson_5["plain"], seeds=range(3))[0]


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def encoded(lesson_5):
    torch.manual_seed(11)
    encoder = lesson_5["Encoder"](3, 2, 10, 2)
    return encoder, encoder(SQUARE[:, :2])


# ---------------------------------------------------------------- published values


def test_the_encoder_after_seed_11(lesson_5):
    encoder, states = encoded(lesson_5)
    published = torch.tensor([[[-0.0498, 0.2193], [-0.0642, 0.2258]]])
    torch.testing.assert_close(states, published, rtol=0, atol=5.1e-5)
    assert count(encoder) == 120


def test_the_decoder_after_seed_13(lesson_5):
    _, states = encoded(lesson_5)
    torch.manual_seed(13)
    decoder = lesson_5["Decoder"](3, 2, 10, 2)
    shifted = lesson_5["shift_target"](SQUARE, 2)
    decoder(shifted, states, target_keep=lesson_5["causal_keep"](2))
    weights = decoder.self_attention.attn_weights
    assert weights.shape == (3, 1, 2, 2) and count(decoder) == 188
    assert weights[:, :, 0].equal(torch.tensor([1.0, 0.0]).expand(3, 1, 2))


def test_baselines_of_128_squares():
    source, target = split_squares(generate_squares(128, seed=19).points)
    guesses = (-source.sign(), torch.zeros_like(target), source[:, 1:].expand_as(target))
    errors = [F.mse_loss(guess, target).item() for guess in guesses]
    assert errors == pytest.approx([0.0098, 1.02, 3.05], rel=0.01)


# ---------------------------------------------------------------- what does not move


@pytest.mark.parametrize("build", ["plain", "better"])
def test_the_first_corner_is_bitwise_the_same_whatever_comes_after(lesson_5, build):
    source, target = TEST
    for seed in range(20):
        torch.manual_seed(seed)
        model = lesson_5[build]().eval()
        first = None
        with torch.no_grad():
            for second in (target[:, :1], -target[:, :1], torch.full_like(target[:, :1], 1e6)):
                out = model(source, torch.cat([source[:, 1:], second], dim=1))
                first = out[:, 0] if first is None else first
                assert out[:, 0].equal(first)


@pytest.mark.parametrize("build", ["plain", "better"])
def test_a_longer_prediction_begins_with_the_shorter_one(lesson_5, build):
    for seed in range(20):
        torch.manual_seed(seed)
        model = lesson_5[build]()
        two = model.predict(TEST[0])
        model.n_target = 1
        assert model.predict(TEST[0]).equal(two[:, :1])


def test_the_mask_passed_as_the_sources_moves_the_first_corner(lesson_5):
    _, states = encoded(lesson_5)
    shifted, keep = lesson_5["shift_target"](SQUARE, 2), lesson_5["causal_keep"]
    for seed in range(20):
        torch.manual_seed(seed)
        decoder = lesson_5["Decoder"](3, 2, 10, 2)
        wrong = [decoder(shifted[:, :n], states, keep(n))[0, 0] for n in (1, 2)]
        right = [decoder(shifted[:, :n], states, target_keep=keep(n))[0, 0] for n in (1, 2)]
        assert not torch.allclose(*wrong, atol=1e-6)
        torch.testing.assert_close(*right, rtol=0, atol=1e-7)


def test_predicting_restores_the_mode(lesson_5):
    model = lesson_5["plain"]()
    for training in (True, False):
        model.train(training)
        assert not model.predict(TEST[0]).requires_grad
        assert model.training == training


# ---------------------------------------------------------------- what the text says about training


@pytest.mark.long
def test_the_improved_model_reaches_the_floor_on_every_seed(improved):
    assert max(improved) <= MOST_ERROR


@pytest.mark.long
def test_the_plain_model_fails_on_every_seed_of_the_lesson(failed):
    assert min(failed) > 0.4  # more than forty times the noise floor


@pytest.mark.long
def test_the_plain_model_fails_as_published_too(lesson_5):
    """Check a seed that fails."""
    errors, _ = measure(lesson_5, lesson_5["plain"], *AS_PUBLISHED, seeds=[1])
    assert min(errors) > 0.1


@pytest.mark.long
def test_one_residual_connection_alone_makes_every_seed_succeed(lesson_5):
    around_cross_attention = 3
    fails = {0: [0], 1: [0], 2: [4], 4: [0]}  # the others, each with a seed on which it fails

    def errors(kept, seeds):
        return measure(lesson_5, lambda: only_residual(lesson_5, kept), seeds=seeds)[0]

    assert max(errors(around_cross_attention, range(3))) < 0.014
    assert min(error for kept, seeds in fails.items() for error in errors(kept, seeds)) > 0.02


def only_residual(lesson, kept):
    """The better model with only one of its residual connections, counted from the encoder."""
    model, without = lesson["better"](), lesson["without_residual"]()
    for part, replaced, first in (
        (model.encoder, without.encoder, 0),
        (model.decoder, without.decoder, 2),
    ):
        if first <= kept < first + len(part.around):
            replaced.around[kept - first] = part.around[kept - first]
        part.around = replaced.around
    return model


@pytest.mark.long
def test_what_each_change_contributes(lesson_5, improved):
    """Leave one out, over the five seeds of the lesson."""
    seeds = range(5)
    without, _ = measure(lesson_5, lesson_5["without_residual"], seeds=seeds)
    assert max(without) > 0.2 and min(without) < 0.02
    errors = {
        name: measure(lesson_5, lambda parts=parts: lesson_5["better"](**parts), seeds=seeds)[0]
        for name, parts in LEFT_OUT.items()
    }
    assert max(errors["no positions"]) <= MOST_ERROR
    assert max(improved[:5]) < min(errors["no norm"]) and max(errors["no norm"]) < 0.02
    assert min(errors["no width"]) > 0.5 and max(errors["no width"]) > 0.9
    assert max(errors["no width, no norm"]) > 4 * min(errors["no width, no norm"])


def unmasked(lesson_5, build):
    model = lesson_5[build]()
    model.forward = lambda source, shifted: model.decoder(shifted, model.encoder(source))
    return model


@pytest.mark.long
def test_without_the_mask_training_copies_corner_3_and_predicting_fails(lesson_5):
    torch.manual_seed(0)
    model = unmasked(lesson_5, "better")
    history = Trainer(model, lesson_5["train_epoch"], make_loader(*TRAIN), TEST).run(300)
    with torch.no_grad():
        shifted = torch.cat([TEST[0][:, -1:], TEST[1][:, :1]], dim=1)
        corner_3, corner_4 = (model(TEST[0], shifted) - TEST[1]).square().mean((0, 2))
    assert corner_3 < 0.009 < corner_4 and history.test[-1] > 0.1


@pytest.mark.parametrize(
    ("build", "least", "most"), [("better", 0.1, 10), ("plain", 0.0, 1e-5)], ids=["better", "plain"]
)
def test_a_leak_shows_only_where_a_change_gets_through(lesson_5, build, least, most):
    for seed in range(3):
        torch.manual_seed(seed)
        model = unmasked(lesson_5, build)
        seen = torch.cat([TRAIN[0][:, -1:], TRAIN[1][:, :1]], dim=1)
        changed = torch.cat([seen[:, :1], torch.randn(256, 1, 2)], dim=1)
        with torch.no_grad():
            moved = (model(TRAIN[0], changed) - model(TRAIN[0], seen))[:, 0].abs().max()
        assert least <= moved < most


@pytest.mark.long
def test_the_better_model_fits_the_noise_later(lesson_5):
    torch.manual_seed(0)
    loader, train_epoch = make_loader(*TRAIN), lesson_5["train_epoch"]
    trainer = Trainer(lesson_5["better"](), train_epoch, loader, TEST)
    history = trainer.run(500)
    train, test = history.train, history.test
    noise = F.mse_loss(TRAIN[1].sign(), TRAIN[1]).item()
    assert train[299] < noise < train[119] and test[299] < test[119]
    assert test[499] > 0.95 * test[299]  # nothing is gained


@pytest.mark.long
def test_more_squares_and_more_steps_bring_the_error_closer_to_the_floor(lesson_5, improved):
    errors, _ = measure(lesson_5, lesson_5["better"], n=2048, n_epochs=300, seeds=[1])
    assert max(errors) < 0.011 < min(improved)


def test_the_padding_mask_hides_what_pads_a_source(lesson_5):
    encoder, states = encoded(lesson_5)
    padded = torch.cat([SQUARE[:, :2], torch.full((1, 2, 2), 9.0)], dim=1)
    real = torch.arange(4) < torch.tensor([2])[:, None, None]
    torch.testing.assert_close(encoder(padded, real)[:, :2], states)
    assert (encoder(padded)[:, :2] - states).abs().max() > 0.5


@pytest.mark.long
def test_a_wrong_scale_trains_as_well(lesson_5):
    errors, _ = measure(lesson_5, lesson_5["unscaled"], seeds=range(3))
    assert max(errors) <= MOST_ERROR


def test_unscaled_is_attention_without_the_scale(lesson_5):
    torch.manual_seed(0)
    model = lesson_5["unscaled"]()
    head = model.encoder.attention.heads[0]
    x = torch.randn(2, 3, 16)
    context, _ = lesson_5["masked_attention"](head["query"](x), head["key"](x), head["value"](x))
    torch.manual_seed(0)
    head = lesson_5["better"]().encoder.attention.heads[0]
    scores = head["query"](x) @ head["key"](x).mT
    torch.testing.assert_close(context, scores.softmax(-1) @ head["value"](x))


@pytest.mark.long
def test_the_trained_model_asks_the_opposite_corner(lesson_5):
    torch.manual_seed(0)
    model = lesson_5["better"]()
    Trainer(model, lesson_5["train_epoch"], make_loader(*TRAIN), TEST).run(120)
    with torch.no_grad():
        model.eval()(TEST[0][:1], torch.cat([TEST[0][:1, 1:], TEST[1][:1, :1]], dim=1))
    weights = model.decoder.cross_attention.attn_weights[:, 0]
    assert weights.diagonal(dim1=1, dim2=2).min() > 0.85


# ---------------------------------------------------------------- exercises graded by what they do


@pytest.mark.long
def test_the_runs_come_from_their_defects():
    defect_of = DIAGNOSE_RUN.DEFECT_OF
    known = [(defect_of[name], seed, RUNS[name], 3) for name, seed in SEED_OF.items()]
    more = [(*which, run, 1) for which, run in DIAGNOSE_RUN.more_runs().items()]
    for defect, seed, run, noted in [*known, *more]:
        # Rounding errors grow with every epoch, so only the beginning is the same everywhere.
        begun = broken_run(defect, seed, n_epochs=5 * noted)
        for kept, measured in zip(run, begun, strict=True):
            torch.testing.assert_close(torch.tensor(kept[:noted]), measured, rtol=0.02, atol=0)
