"""A view of a memory of fixed size: two keys write numbers into one state, and ask for them."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from autograder.utils.plots.bars import draw_bars
from autograder.utils.plots.numbers import as_labels, short
from autograder.utils.plots.picture import Picture, render
from autograder.utils.views.live import View

# What happens before a value is written: the state fades, and what the key read is taken out.
MEMORIES = {
    "adds": {"fades": False, "replaces": False},
    "replaces": {"fades": False, "replaces": True},
    "fades and replaces": {"fades": True, "replaces": True},
}
WRITES = (("A", 4), ("B", 2), ("A", 1))  # a button for each
ANGLE, BETA, DECAY = 60, 1.0, 0.8  # where the sliders begin
NEAR = 0.05  # what comes back is right if it is as near as this
DIGITS = 4  # decimals of the numbers that are drawn

Write = tuple[str, float]


def view_recall(memories: Sequence[str] = ("adds",), *, caption: str) -> View:
    """Show what two keys get back from a state of two numbers, by angle and by kind of memory.

    memories: of "adds" (linear attention), "replaces" (the delta rule) and "fades and replaces"
    (the gated delta rule). It begins with A = 4 and B = 2; where a memory replaces, A = 1 follows.
    Raises ValueError if a memory is unknown, or there is none.
    """
    names = as_labels(memories, "memories")
    if not names or not set(names) <= set(MEMORIES):
        raise ValueError(
            f"memories is {names}: give one or more of {', '.join(map(repr, MEMORIES))}"
        )
    made = len(WRITES) if any(MEMORIES[name]["replaces"] for name in names) else 2
    data = {
        "memories": [{"name": name, **MEMORIES[name]} for name in names],
        "writes": WRITES,
        "made": made,
        "near": NEAR,
        "start": {"angle": ANGLE, "beta": BETA, "decay": DECAY},
    }
    return View(plot_recall(names, WRITES[:made], caption=caption), "recall", data)


def plot_recall(memories: Sequence[str], writes: Sequence[Write], *, caption: str) -> Picture:
    """Draw what was last written with each key, and what comes back from each memory."""
    last = dict(writes)
    back = {name: recalled(name, writes) for name in memories}
    bars = {"last written": np.array(list(last.values()))}
    bars |= {
        f"comes back:\n{name}": np.array([found[key] for key in last])
        for name, found in back.items()
    }
    draw = partial(draw_bars, bars, list(last), share_y=True)
    return render(draw, caption, _summary(writes, {"last written": last} | back))


def recalled(memory: str, writes: Sequence[Write]) -> dict[str, float]:
    """Return what each key reads from a memory after these writes, where the sliders begin."""
    fades, replaces = (MEMORIES[memory][what] for what in ("fades", "replaces"))
    turn = math.radians(ANGLE)
    keys = {"A": np.array([1.0, 0.0]), "B": np.array([math.cos(turn), math.sin(turn)])}
    state = np.zeros(2)
    for name, value in writes:
        key = keys[name]
        state = state * (DECAY if fades else 1)
        state = state + (BETA * (value - key @ state) if replaces else value) * key
    return {name: round(float(key @ state), DIGITS) for name, key in keys.items()}


def _summary(writes: Sequence[Write], series: dict[str, dict[str, float]]) -> str:
    parts = [
        f"{title}: {', '.join(f'{key} {short(value)}' for key, value in values.items())}"
        for title, values in series.items()
    ]
    written = ", ".join(f"{key} = {value}" for key, value in writes)
    return (
        f"Bar chart of what was written with two keys, {ANGLE}° apart, and what comes back. "
        f"Written in this order: {written}. {'. '.join(parts)}."
    )
