"""Say what to run where a cell lacks a name that the course, or a cell above, would give it."""

import re
import sys
from collections.abc import Mapping
from typing import Any

from IPython.display import display

from autograder.judging.card import note_card
from autograder.notebook.history import COURSE, PastRun, RunHistory
from autograder.notebook.on_screen import failed_attempt, remedy, what_happened
from autograder.notebook.saved_notebook import VS_CODE, saved_notebook
from autograder.notebook.source import bound_names, near_name
from autograder.references import store


def show_missing(history: RunHistory) -> None:
    """Show a card that says what the last run lacked, if the course knows where it comes from."""
    if sentence := explain_missing(history):
        display(note_card("Before you go on", sentence))


def explain_missing(history: RunHistory) -> str:
    """Say what the last run lacked and where that comes from; "" if the course doesn't know."""
    run = history.runs[-1]
    if run.failure and run.failure.name:
        return _missing(history, run, run.failure.name)
    return _taken(history, run)


def _missing(history: RunHistory, run: PastRun, name: str) -> str:
    exercises = store.exercises()
    if name in exercises:
        return _missing_exercise(history, name)
    if stopped := _stopped_before(history, name):
        return stopped
    if name in COURSE or _comes_from_above(history, run, name):
        general = f"{_not_run(history, name)} {_run_above(history.namespace)}"
        return _stopped_above(history) or general
    if near := near_name(name, exercises | COURSE):
        return f"There is no `{name}` here. Did you mean `{near}`?"
    return ""


def _missing_exercise(history: RunHistory, name: str) -> str:
    if attempt := failed_attempt(history, name):
        happened = what_happened(history, attempt, name)
        return f"{happened} So there is no `{name}` yet. {remedy(history, attempt, name)}"
    where = f"Run the cell with your `{name}` first, then this one again."
    if _nothing_ran(history):
        return f"{_not_run(history, name)} {_run_above(history.namespace)}"
    general = f"There is no `{name}` yet: its cell has not run since the kernel started. {where}"
    return _stopped_above(history) or general


def _stopped_before(history: RunHistory, name: str) -> str:
    """Say that the last cell to make a name failed before it did; "" if none has."""
    makers = [run for run in history.runs[:-1] if name in bound_names(run.source)]
    if not makers or not makers[-1].failure or name in makers[-1].bound:
        return ""
    return f"{what_happened(history, makers[-1], name)} {remedy(history, makers[-1], name)}"


def _stopped_above(history: RunHistory) -> str:
    """Say where a run of several cells stopped: in a cell above, right before this run."""
    file = saved_notebook(history.namespace)
    if file is None or _nothing_ran(history):
        return ""
    *_, before, this = history.runs
    if not before.failure or before.cell not in file.above(this.cell):
        return ""
    return (
        f"The run stopped above, at `{before.failed_at}`, so the cells below that have not run. Go "
        "on from there, cell by cell, with Shift+Enter."
    )


def _nothing_ran(history: RunHistory) -> bool:
    """Whether no cell has come to its end since the kernel started."""
    return all(run.failure for run in history.runs)


def _not_run(history: RunHistory, name: str) -> str:
    if _nothing_ran(history):
        return "The kernel has just started, and no cell above this one has run."
    return f"The cell above that makes `{name}` has not run since the kernel started."


def _comes_from_above(history: RunHistory, run: PastRun, name: str) -> bool:
    """Whether a cell above binds the name, and has not run."""
    file = saved_notebook(history.namespace)
    if file is None:
        return False
    ran = {each.cell for each in history.runs}
    above = file.above(run.cell).items()
    return any(cell not in ran and name in bound_names(source) for cell, source in above)


def _run_above(namespace: Mapping[str, Any]) -> str:
    """Say how to run the cells above, in the words of the front end."""
    if VS_CODE in namespace:
        how = "Click “Execute Above Cells” on this cell"
    elif "google.colab" in sys.modules:
        how = "Choose Runtime > Run before"
    else:
        how = "Choose Run > Run All Above Selected Cell"
    return f"{how}, then run this one again."


def _taken(history: RunHistory, run: PastRun) -> str:
    """Say how to get back a name of the course that the notebook has given to something else."""
    for name in sorted(COURSE & history.namespace.keys()):
        if not callable(history.namespace[name]) and re.search(rf"\b{name}\s*\(", run.source):
            kind = type(history.namespace[name]).__name__
            return (
                f"A cell has made `{name}` the name of something else ({kind}). "
                f"`from autograder import {name}` brings back the course's."
            )
    return ""
