"""Whether the answer that a check is given is the one on the screen.

A cell that fails leaves the older definition in the kernel, and a check would speak about that one.
"""

from autograder.notebook.history import CellFailure, PastRun, RunHistory
from autograder.notebook.saved_notebook import saved_notebook
from autograder.notebook.source import near_name, same_code

MOST_SHOWN = 60  # characters of a line


def not_on_screen(history: RunHistory, name: str) -> str:
    """Say why the notebook's `name` isn't what stands on the screen; "" if it may well be."""
    if history.defined_now(name):
        return ""
    older = f"I would be checking your older `{name}`."
    if attempt := failed_attempt(history, name):
        return f"{what_happened(history, attempt, name)} {older} {remedy(history, attempt, name)}"
    if changed_since(history, name):
        return (
            f"The cell with `{name}` has changed since you ran it. {older} "
            "Run that cell, then this one."
        )
    return ""


def failed_attempt(history: RunHistory, name: str) -> PastRun | None:
    """Return the last run that tried to define `name` and didn't, if no later one has."""
    index = history.definition(name)
    defining = None if index is None else history.runs[index]
    later = history.runs[0 if index is None else index + 1 :]
    attempts = [run for run in later if _is_attempt(run, name, defining, run is history.last)]
    return attempts[-1] if attempts else None


def what_happened(history: RunHistory, run: PastRun, name: str) -> str:
    """Say how a run that should have defined `name` went."""
    which = "Your last cell" if run is history.last else f"The cell with `{name}`"
    if run.failure and not run.started:
        return f"{which} didn't run: {_unreadable(run, run.failure)}.{_header_missing(run, name)}"
    if run.failure:
        return f"{which} stopped before it defined `{name}`: {_raised(run, run.failure)}."
    if near := near_name(name, run.defines):
        return f"{which} defines `{near}`, but the exercise is `{name}`."
    return f"{which} ran without defining `{name}`.{_header_missing(run, name)}"


def remedy(history: RunHistory, run: PastRun, name: str) -> str:
    """Say what to do about a run that should have defined `name`."""
    lacked = run.failure.name if run.failure else ""
    if lacked and lacked in history.namespace:
        return f"`{lacked}` is there now: run that cell again, then this one."
    fix = "Fix it" if run.failure or not near_name(name, run.defines) else "Change the name"
    return f"{fix}, run the cell, then this one."


def changed_since(history: RunHistory, name: str) -> bool:
    """Whether the notebook was saved with another text in the cell that defined `name`."""
    index = history.definition(name)
    if index is None:
        return False
    run, file = history.runs[index], saved_notebook(history.namespace)
    if file is None or run.cell not in file.cells or file.saved <= run.ended:
        return False
    return not same_code(file.cells[run.cell], run.source)


def _is_attempt(run: PastRun, name: str, defining: PastRun | None, is_last: bool) -> bool:
    if name in run.defines or run.cell == name:  # a lesson's cells have their exercise's name
        return True
    if defining and run.cell and run.cell == defining.cell:
        return run.source != defining.source
    return is_last and bool(near_name(name, run.defines))


def _header_missing(run: PastRun, name: str) -> str:
    """Say that the line is missing with which the definition begins, if it is."""
    if name in run.defines:
        return ""
    begins = f"class {name}" if name[0].isupper() else f"def {name}("
    return f" It lacks the line that begins with `{begins}`."


def _unreadable(run: PastRun, failure: CellFailure) -> str:
    """Say where Python could not read a cell, and why."""
    try:
        compile(run.source, "cell", "exec")  # of some errors, IPython only says "incomplete input"
    except SyntaxError as found:
        failure = CellFailure.of(found)
    return f"line {failure.line}, {failure.said}"


def _raised(run: PastRun, failure: CellFailure) -> str:
    """Say which error a cell raised, and in which of its lines."""
    said = f"{failure.kind}: {failure.said}".strip().rstrip(":.").splitlines()[0]
    if not run.failed_at:
        return f"`{said}`"
    return f"`{said}` (line {failure.line}, `{run.failed_at:.{MOST_SHOWN}}`)"
