"""The defect of a broken run, one of the six names above."""

import csv
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import torch

from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Result
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.data import RUNS

# What to say about each defect if the run doesn't have it.
DEFECTS = {
    "no step": "Without a step, both losses stay exactly where they are. Here they move.",
    "gradients not cleared": (
        "Gradients that pile up keep pushing the way the old ones did, so the steps never get "
        "small, and the training loss ends above where it began. This run isn't like that."
    ),
    "learning rate too small": (
        "With a learning rate that is too small, both losses fall together, and are still far "
        "above the noise floor at the end. This run isn't like that."
    ),
    "too few squares": (
        "A model that knows its few squares by heart has a training loss below the noise floor "
        "and a test error far above it. This run isn't like that."
    ),
    "tested on the training squares": (
        "Tested on the very squares it was trained on, a model has a test error as far below the "
        "noise floor as its training loss. This run isn't like that."
    ),
    "targets of other squares": (
        "With targets of other squares, the training loss falls and the test error doesn't: "
        "nothing the model learns helps on new squares. This run isn't like that."
    ),
}
# Which defect and which seed each run of `RUNS` has.
DEFECT_OF = {
    "A": "too few squares",
    "B": "targets of other squares",
    "C": "no step",
    "D": "tested on the training squares",
    "E": "learning rate too small",
    "F": "gradients not cleared",
}
# Runs that only grading uses, two rows for each: its training and its test losses. They were
# measured once with tests/course/broken_runs.py, and each shows its defect clearly. Chance may blur
# a defect: of 30 seeds for each, one did not show it.
MORE_RUNS = Path(__file__).with_name("more_runs.csv")

Run = tuple[list[float], list[float]]  # training losses and test losses


@cache
def more_runs() -> dict[tuple[str, int], Run]:
    """Read the runs that only grading uses, by defect and seed."""
    with MORE_RUNS.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    losses = {(defect, int(seed), of): [*map(float, kept)] for defect, seed, of, *kept in rows}
    runs = dict.fromkeys((defect, seed) for defect, seed, _ in losses)
    return {run: (losses[*run, "training"], losses[*run, "test"]) for run in runs}


def known_run(name: str) -> Callable[[Draw], dict]:
    def case(draw: Draw) -> dict:
        draw.label(f"run {name}")
        train, test = RUNS[name]
        return {"train_losses": torch.tensor(train), "test_losses": torch.tensor(test)}

    return case


def altered(draw: Draw, run: Run, label: str, steps: Sequence[int] = (1, 2, 3, 4)) -> dict:
    """A run with all losses higher or lower by a few percent, so that none can be looked up.

    steps: of its losses, every one is noted, every second, and so on: one of these at random.
    """
    factor = 0.9 + 0.2 * torch.rand((), generator=draw.generator)
    every = steps[int(torch.randint(len(steps), (), generator=draw.generator))]
    noted = f", every {5 * every}th epoch noted" if every > 1 else ""
    draw.label(f"{label} with all losses times {factor:.3f}{noted}")
    train, test = (torch.tensor(losses)[::every] * factor for losses in run)
    return {"train_losses": train, "test_losses": test}


def altered_run(name: str) -> Callable[[Draw], dict]:
    return lambda draw: altered(draw, RUNS[name], f"run {name}", steps=(1, 2))


def thinned_run(name: str) -> Callable[[Draw], dict]:
    return lambda draw: altered(draw, RUNS[name], f"run {name}", steps=(3, 4))


def new_run(name: str) -> Callable[[Draw], dict]:
    def case(draw: Draw) -> dict:
        runs = [run for (defect, _), run in more_runs().items() if defect == DEFECT_OF[name]]
        number = int(torch.randint(len(runs), (), generator=draw.generator))
        return altered(draw, runs[number], "a new run")

    return case


def runs(points: int, title: str, *names: str) -> Aspect:
    known = [make(name) for make in (known_run, altered_run, thinned_run) for name in names]
    return Aspect(title, points, known, hidden_cases=list(map(new_run, names)))


SAME = """    if train_losses[-1] < noise_floor and test_losses[-1] < noise_floor:
        return "tested on the training squares"
"""
FEW = """    if train_losses[-1] < noise_floor:
        return "too few squares"
"""
OTHERS = """    if test_losses[-1] > 0.9:
        return "targets of other squares"
"""

EXERCISE = Exercise(
    "diagnose_run",
    returns="defect",
    parts=[Result(choices=DEFECTS)],
    also=(),
    aspects=[
        runs(2, "runs C and F", "C", "F"),
        runs(2, "runs A and D", "A", "D"),
        runs(2, "runs B and E", "B", "E"),
    ],
    mistakes=[
        Mistake(
            "everything has too few squares",
            "You gave the same answer for every run. Look at the losses.",
            'return "too few squares"',
            'return "no step"',
        ),
        Mistake(
            "flat and slow exchanged",
            "A small learning rate still moves the losses a little. What would keep them "
            "exactly where they are?",
            {'return "no step"': 'return "learning rate too small"'},
        ),
        Mistake(
            "rising taken for a defect of the data",
            "In run F the training loss rises far above where it began. Squares that don't fit "
            "together can't do that: the model could always fall back to predicting zeros, at "
            "about 1. Something must be wrong with the steps themselves.",
            {'return "gradients not cleared"': 'return "targets of other squares"'},
        ),
        Mistake(
            "below the floor taken for a good run",
            "In run D the test error is far below the noise floor. On new squares that can't "
            "happen, however many there were to train on. What squares must these be?",
            {SAME: ""},
        ),
        Mistake(
            "test taken for training squares",
            "In run A the two losses move apart: the test error stays far above the training "
            "loss. On the same squares they would be alike.",
            {FEW: FEW.replace("too few squares", "tested on the training squares")},
        ),
        Mistake(
            "few and same exchanged",
            "Runs A and D are swapped. On the training squares themselves both losses fall "
            "together; on new ones they move apart.",
            {
                'return "tested on the training squares"': 'return "few"',
                'return "too few squares"': 'return "tested on the training squares"',
                'return "few"': 'return "too few squares"',
            },
        ),
        Mistake(
            "slow taken for shuffled",
            "In run E both losses fall together, and are still falling at the end. With targets of "
            "other squares there would be nothing to learn that helps on new ones, and the test "
            "error would not stay down: in run B it rises.",
            {OTHERS: "", 'return "learning rate too small"': 'return "targets of other squares"'},
        ),
        Mistake(
            "shuffled taken for slow",
            "In run B the test error ends far above where it began, while the training loss falls: "
            "the model memorizes pairs that say nothing about new squares. A small learning rate "
            "would slow both alike.",
            {OTHERS: ""},
        ),
        Mistake(
            "floor too high",
            "Your limit for a loss that is too good to be true is too high. The noise floor is "
            "0.01: only well below that is something wrong.",
            {"noise_floor = 0.01": "noise_floor = 0.9"},
        ),
        Mistake(
            "explains too much",
            "That is none of the six names. Return one of them, exactly as written.",
            {'return "no step"': 'return "no step: the optimizer has other parameters"'},
        ),
        Mistake(
            "prints the answer",
            "The function returned None. `print` only shows a value; `return` gives it back.",
            {
                'return "learning rate too small"': 'print("learning rate too small")',
                'return "no step"': 'print("no step")\n        return None',
            },
        ),
        Mistake(
            "rises counted",
            "You ask for a fixed number of rises, but some runs have fewer losses noted. Compare "
            "the last loss with the first.",
            *(
                {"train_losses[-1] > train_losses[0]": f"(train_losses.diff() > 0).sum() > {most}"}
                for most in (10, 15, 20)
            ),
        ),
    ],
    alternatives=[
        Alternative(
            "by the gap between the losses",
            """
            start, end, test = train_losses[0], train_losses[-1], test_losses[-1]
            if torch.allclose(train_losses, start.expand_as(train_losses)):
                return "no step"
            if end > start:
                return "gradients not cleared"
            if end < 0.01:
                apart = test > 3 * end and test > 0.05
                return "too few squares" if apart else "tested on the training squares"
            apart = test > 1.35 * end or test > 0.9
            return "targets of other squares" if apart else "learning rate too small"
            """,
            excuses={"": "a rule of thumb: the runs lie far from its bounds"},
        ),
        Alternative(
            "by how far each has fallen",
            """
            fallen = (train_losses[-1] / train_losses[0]).item()
            if train_losses.std() < 1e-4:
                return "no step"
            if fallen > 1:
                return "gradients not cleared"
            if fallen < 0.02:
                small = test_losses.min() < 0.01
                return "tested on the training squares" if small else "too few squares"
            still = test_losses[-1] > 0.9
            return "targets of other squares" if still else "learning rate too small"
            """,
            excuses={"": "a rule of thumb: the runs lie far from its bounds"},
        ),
    ],
    hints=[
        "Two runs give themselves away by the training loss alone: one never moves, and one rises.",
        "Two others have a training loss below the noise floor: the model knows its few squares "
        "by heart. Does the test error tell the same story in both?",
        "Two are left. In one, both losses fall together, slowly. In the other, the training loss "
        "falls, and the test error gets worse than that of zeros.",
    ],
    excuses={
        "seed changed": "nothing is drawn in it, and the check puts the seed back",
        "another comparison": "no run lies exactly on a bound",
        "another number": "the losses of neighboring epochs are alike",
        "operands swapped: train_losses - train_losses[0]": "only the size of the change counts",
        "and for or: train_losses[-1] < noise_floor and": (
            "where the test loss is low, the training loss is, too"
        ),
        "another argument: train_losses → test_losses in": "both fall, or rise, together",
        "half precision inside": "the runs lie far from the bounds",
        "float32 inside": "likewise",
    },
)
