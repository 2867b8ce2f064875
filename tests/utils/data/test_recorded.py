"""Recorded measurements: tables are read whole, number by number."""

from autograder.utils.data import CURVES, LENGTHS, RUNS


def test_each_broken_run_has_its_losses():
    assert list(RUNS) == list("ABCDEF")
    assert {len(losses) for run in RUNS.values() for losses in run} == {200 // 5}
    (train, test), (_, last) = RUNS["A"], RUNS["F"]
    assert (train[0], train[-1], test[0], test[-1]) == (0.592, 0.0004, 0.594, 0.491)
    assert last[-1] == 14.9
    assert train == RUNS["D"][0] and test != RUNS["D"][1]


def test_each_scheme_has_three_seeds_for_each_task():
    assert LENGTHS == (16, 32, 40, 64, 128, 256)
    schemes = ["none", "sinusoidal", "learned", "relative", "ALiBi", "rotary"]
    assert {task: list(curves) for task, curves in CURVES.items()} == {
        "last_marked": schemes,
        "three_back": schemes,
    }
    seeds = [seed for curves in CURVES.values() for scheme in curves.values() for seed in scheme]
    assert len(seeds) == 3 * 2 * len(schemes) and {len(seed) for seed in seeds} == {len(LENGTHS)}
    assert CURVES["last_marked"]["none"][1] == [99.3, 96.3, 93.7, 81.0, 55.4, 41.4]
