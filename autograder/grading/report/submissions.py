"""Read graded submissions from the autograded notebooks; a broken one only costs its own line.

A confined process reads a notebook. What it reports is small, and checked here.
"""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from autograder.grading.pages.notebook import read_whole_cells, requests_among
from autograder.grading.pages.untrusted import (
    checked_requests,
    checked_run,
    checked_verdict,
)
from autograder.grading.report.code_print import MOST_CHARACTERS, Print, code_print
from autograder.grading.submission.cells import joined_text
from autograder.grading.term.learner_names import is_learner_name
from autograder.grading.worker.graded_cells import VERDICT
from autograder.grading.worker.job import OUTCOMES, Outcome, earlier_run
from autograder.sandbox.confined import Bounds, Unfinished, confined

MOST_BYTES = 100_000_000
BOUNDS = Bounds(sent_bytes=8_000_000)
MOST_TROUBLES = 5
UNREADABLE = (OSError, ValueError, RecursionError, MemoryError)


@dataclass
class Submission:
    """One graded submission.

    graded: when the last autograded notebook was written, in seconds since 1970.
    verdicts: by exercise.
    sources: those of the solution cells, by grade_id.
    prints: of the sources that are Python and not too long.
    requests: why the learner asks for another look, by exercise.
    outcome: None if the notebook does not say.
    reason: why it is not graded.
    group: of those who hand in together; "" for none.
    earlier: the grades of earlier submissions; None for one without a grade.
    troubles: what could not be read, one sentence each.
    """

    learner: str
    graded: float | None = None
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    prints: dict[str, Print] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    outcome: Outcome | None = None
    reason: str = ""
    group: str = ""
    earlier: list[float | None] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def note(self, trouble: str) -> None:
        if trouble not in self.troubles and len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(trouble)


def read_submissions(
    graded: Path, lesson: str, notebooks: Collection[str] = ()
) -> list[Submission]:
    """Read all graded submissions to a lesson, sorted by learner.

    graded: the folder with all of them.
    notebooks: the names of the graded ones; by default, one named like the lesson.
    """
    found = sorted(graded.glob(f"*/{lesson}"))
    folders = [folder for folder in found if is_learner_name(folder.parent.name)]
    bar = tqdm(folders, desc=lesson, unit="notebook", disable=None, leave=False)
    names = notebooks or [lesson]
    return [read_submission(folder.parent.name, folder, names) for folder in bar]


def read_submission(learner: str, folder: Path, notebooks: Collection[str]) -> Submission:
    """Read what can be read of one graded submission."""
    submission = Submission(learner)
    for name in notebooks:
        _read_notebook(submission, folder / f"{name}.ipynb")
    return submission


def solution_cells(notebook: Path) -> dict[str, str]:
    """Read the sources of a notebook's solution cells, by grade_id; {} if it can't be read."""
    try:
        cells = read_whole_cells(notebook.read_bytes())
        return {cell.name: cell.source for cell in cells if cell.is_a("solution")}
    except UNREADABLE:
        return {}


def _read_notebook(submission: Submission, path: Path) -> None:
    try:
        data = _data(path)
        found = json.loads(confined(lambda ask: [_told(data)], bounds=BOUNDS)[0])
        if said := found.get("unreadable"):
            raise ValueError(said)
        _take(submission, found)
    except (OSError, ValueError, Unfinished, AttributeError, TypeError, KeyError) as error:
        submission.note(f"The autograded notebook can't be read ({_why(error)}).")
        return
    submission.graded = max(submission.graded or 0.0, path.stat().st_mtime)
    _read_run(submission, path)


def _told(data: bytes) -> bytes:
    """Read a notebook in a confined process, and return what the report needs from it."""
    try:
        cells = read_whole_cells(data)
    except UNREADABLE as error:
        return json.dumps({"unreadable": _why(error)}).encode()
    sources: dict[str, str] = {}
    for cell in cells:
        if cell.is_a("solution") and cell.name:
            sources.setdefault(cell.name, cell.source[: MOST_CHARACTERS + 1])
    prints = {name: asdict(p) for name, source in sources.items() if (p := code_print(source))}
    verdicts = [cell.metadata[VERDICT] for cell in cells if VERDICT in cell.metadata]
    requests = requests_among(cells)
    told = {"verdicts": verdicts, "sources": sources, "prints": prints, "requests": requests}
    return json.dumps(told, default=sorted).encode()


def _take(submission: Submission, found: dict[str, Any]) -> None:
    """Take what was reported, up to the first unexpected part, which raises an error."""
    for data in found["verdicts"]:
        try:
            verdict = checked_verdict(data)
            submission.verdicts.setdefault(verdict["exercise"], verdict)
        except ValueError as error:
            submission.note(f"A verdict in the notebook is damaged ({error}).")
    for name, source in found["sources"].items():
        submission.sources.setdefault(name, joined_text(source))
    submission.requests.update(checked_requests(found["requests"]))
    for name, print_ in found["prints"].items():
        submission.prints.setdefault(name, _print(**print_))


def _print(letters: str, meaning: str, statements: list[str]) -> Print:
    return Print(letters, meaning, frozenset(statements))


def _data(path: Path) -> bytes:
    if not path.is_file():
        raise ValueError(f"there is no file {path.name}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES / 1e6:.0f} MB")
    return path.read_bytes()


def _read_run(submission: Submission, path: Path) -> None:
    """Read the outcome that the engine recorded, or else infer it from the verdicts."""
    if recorded := earlier_run(path):
        try:
            run = checked_run(recorded)
            # If there are several notebooks, the worst counts.
            outcome = Outcome(run["outcome"])
            if OUTCOMES.index(outcome) >= OUTCOMES.index(submission.outcome or Outcome.GRADED):
                submission.outcome, submission.reason = outcome, run["reason"]
            return
        except ValueError as error:
            submission.note(f"What was recorded of its run is damaged ({error}).")
    if submission.verdicts:
        answered = any(verdict["answered"] for verdict in submission.verdicts.values())
        submission.outcome = Outcome.GRADED if answered else Outcome.UNANSWERED


def _why(error: BaseException) -> str:
    match error:
        case AttributeError() | TypeError() | KeyError():
            return "what was read is not what was expected"
        case OSError():
            return error.strerror or type(error).__name__
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
        case json.JSONDecodeError():
            return "it is not valid JSON"
        case RecursionError() | MemoryError():
            return "it is nested too deeply, or too large"
    return str(error)
