"""Read graded submissions from the autograded notebooks. A bad one costs only a line."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from autograder.grading.report.code_print import MOST_CHARACTERS
from autograder.grading.report.untrusted import checked_run, checked_verdict
from autograder.grading.submission.cells import joined_text
from autograder.grading.worker.job import OUTCOMES, RUN
from autograder.grading.worker.judge_notebook import VERDICT

MOST_BYTES = 100_000_000
MOST_TROUBLES = 5
UNREADABLE = (OSError, ValueError, RecursionError, MemoryError)


@dataclass
class Submission:
    """One graded submission.

    graded: when the last autograded notebook was written, in seconds since 1970.
    verdicts: by exercise. sources: of the solution cells, by grade_id.
    outcome: one of `OUTCOMES`, with a reason if it is not graded; "" if the notebook does not say.
    earlier: the marks of what was handed in before, None for what had none.
    troubles: what could not be read, one sentence each.
    """

    learner: str
    graded: float | None = None
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    outcome: str = ""
    reason: str = ""
    earlier: list[float | None] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def note(self, trouble: str) -> None:
        if trouble not in self.troubles and len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(trouble)


def read_submissions(
    autograded: Path, lesson: str, notebooks: Collection[str] = ()
) -> list[Submission]:
    """Read all graded submissions to a lesson, sorted by learner.

    notebooks: the names of the graded ones; by default, one named as the lesson.
    """
    folders = sorted(autograded.glob(f"*/{lesson}"))
    bar = tqdm(folders, desc=lesson, unit="notebook", disable=None, leave=False)
    names = notebooks or [lesson]
    return [read_submission(folder.parent.name, folder, names) for folder in bar]


def read_submission(learner: str, folder: Path, notebooks: Collection[str]) -> Submission:
    """Read one graded submission, as far as possible."""
    submission = Submission(learner)
    for name in notebooks:
        _read_notebook(submission, folder / f"{name}.ipynb")
    return submission


def solution_cells(notebook: Path) -> dict[str, str]:
    """Read the sources of a notebook's solution cells by grade_id; none if it can't be read."""
    try:
        cells = _cells(_read(notebook))
        return {name: source for name, source in map(_solution, cells) if name}
    except UNREADABLE:
        return {}


def _read_notebook(submission: Submission, path: Path) -> None:
    try:
        notebook = _read(path)
    except UNREADABLE as error:
        submission.note(f"The autograded notebook can't be read ({_why(error)}).")
        return
    submission.graded = max(submission.graded or 0.0, path.stat().st_mtime)
    for cell in _cells(notebook):
        _read_cell(submission, cell)
    _read_run(submission, notebook)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"there is no file {path.name}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES / 1e6:.0f} MB")
    notebook = json.loads(path.read_bytes())
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it has no cells")
    return notebook


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and isinstance(cell.get("metadata"), dict):
            yield cell


def _read_cell(submission: Submission, cell: dict[str, Any]) -> None:
    metadata = cell["metadata"]
    if VERDICT in metadata:
        try:
            verdict = checked_verdict(metadata[VERDICT])
            submission.verdicts.setdefault(verdict["exercise"], verdict)
        except ValueError as error:
            submission.note(f"A verdict in the notebook is damaged ({error}).")
    name, source = _solution(cell)
    if name:
        submission.sources.setdefault(name, source[: MOST_CHARACTERS + 1])


def _solution(cell: dict[str, Any]) -> tuple[str, str]:
    """Return a solution cell's grade_id and source, empty ones for other cells."""
    match cell["metadata"].get("nbgrader"):
        case {"solution": True, "grade_id": str(grade_id)}:
            return grade_id, joined_text(cell.get("source"))
    return "", ""


def _read_run(submission: Submission, notebook: dict[str, Any]) -> None:
    """Read the outcome that the engine recorded, or else infer it from the verdicts."""
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict) and RUN in metadata:
        try:
            run = checked_run(metadata[RUN])
            # Of several notebooks, the worst counts.
            if OUTCOMES.index(run["outcome"]) >= OUTCOMES.index(submission.outcome or OUTCOMES[0]):
                submission.outcome, submission.reason = run["outcome"], run["reason"]
            return
        except ValueError as error:
            submission.note(f"What the notebook says of its run is damaged ({error}).")
    if submission.verdicts:
        answered = any(verdict["answered"] for verdict in submission.verdicts.values())
        submission.outcome = "graded" if answered else "unanswered"


def _why(error: BaseException) -> str:
    match error:
        case OSError():
            return error.strerror or type(error).__name__
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
        case json.JSONDecodeError():
            return "it is not valid JSON"
        case RecursionError() | MemoryError():
            return "it is nested too deeply, or too large"
    return str(error)
