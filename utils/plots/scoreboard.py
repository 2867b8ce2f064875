"""A scoreboard: which patients a learner's tests find, and where they raise a false alarm."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import nn

from autograder.utils.models.patients import PATIENTS, Patient
from autograder.utils.palette import BLUE, GRAY, RED
from autograder.utils.plots.numbers import listed
from autograder.utils.plots.picture import Picture, render

FOUND, MISSED, ALARM, QUIET, NOT_ASKED = "found", "missed", "false alarm", "quiet", ""
LOOKS = {  # a cell's fill, ink and sign
    FOUND: (BLUE, "white", "✓"),
    MISSED: (RED, "white", "×"),
    ALARM: ("white", RED, "!"),
    QUIET: ("white", GRAY, "·"),
    NOT_ASKED: ("white", GRAY, ""),
}
CELL = 0.33  # inches

PatientTest = Callable[[nn.Module], bool]


def plot_scoreboard(
    tests: Mapping[str, PatientTest], patients: Mapping[str, Patient] = PATIENTS, *, caption: str
) -> Picture:
    """Draw what each test says about each patient: one row per test, one column per patient.

    tests: disease → a function that says whether a module has it.
    A test that isn't written yet is left out, and the description says so.
    """
    results = {disease: outcomes(test, disease, patients) for disease, test in tests.items()}
    return render(partial(draw_scoreboard, results, list(patients)), caption, summary(results))


def outcomes(
    test: PatientTest, disease: str, patients: Mapping[str, Patient] = PATIENTS
) -> dict[str, str]:
    """Return each patient's outcome, in a word; nothing if the test isn't written yet."""
    try:
        return {name: _outcome(test, disease, patient) for name, patient in patients.items()}
    except NotImplementedError:
        return {}


def _outcome(test: PatientTest, disease: str, patient: Patient) -> str:
    if not patient.counts_for(disease):
        return NOT_ASKED
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        says = bool(test(patient.make()))
    if disease in patient.diseases:
        return FOUND if says else MISSED
    return ALARM if says else QUIET


def draw_scoreboard(results: Mapping[str, Mapping[str, str]], names: list[str]) -> Figure:
    """Draw `results`, disease → patient → outcome."""
    size = (CELL * len(names) + 1.2, CELL * (len(results) + 1) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    for row, found in enumerate(results.values()):
        for column, name in enumerate(names):
            _draw_cell(ax, column, row, found.get(name, NOT_ASKED))
    ax.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(results) - 0.5, -0.5))
    ax.set_aspect("equal")
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(results)), list(results))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def _draw_cell(ax: Axes, x: int, y: int, outcome: str) -> None:
    fill, ink, sign = LOOKS[outcome]
    if outcome != NOT_ASKED:
        ax.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fc=fill, ec=GRAY, lw=0.6))
    ax.text(x, y, sign, ha="center", va="center", color=ink, fontsize=11)


def summary(results: Mapping[str, Mapping[str, str]]) -> str:
    """Describe the scoreboard in words."""
    return " ".join(_sentence(disease, found) for disease, found in results.items())


def _sentence(disease: str, found: Mapping[str, str]) -> str:
    if not found:
        return f"The test for “{disease}” isn't written yet."
    by_outcome = {o: [name for name, is_ in found.items() if is_ == o] for o in LOOKS}
    kills, missed, alarms = (by_outcome[outcome] for outcome in (FOUND, MISSED, ALARM))
    parts = [f"finds {listed(kills) or 'nobody'}"]
    parts += [f"misses {listed(missed)}"] if missed else []
    alarm = f"a false alarm for {listed(alarms)}" if alarms else "no false alarm"
    return f"The test for “{disease}” {', '.join(parts)}, and raises {alarm}."
