"""What has to hold for everything that reads other people's files, whatever is in them."""

import json
import logging
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
from hypothesis.strategies import SearchStrategy

from autograder.asking.sending import unpack
from autograder.errors import CourseError
from autograder.grading.feedback.feedback_page import GradedNotebook, render_page
from autograder.grading.gradebook.grades import Grade
from autograder.grading.gradebook.notebook_facts import NotebookFacts
from autograder.grading.lms.canvas_times import read_canvas_times
from autograder.grading.lms.extract import ExtractPlainFiles
from autograder.grading.lms.worksheet import Worksheet
from autograder.grading.pages.notebook import Outline, read_cells
from autograder.grading.report.submissions import read_submission
from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.submission.folder import submitted_at
from autograder.grading.submission.read_notebook import BrokenSubmission, read_notebook
from autograder.grading.submission.restore import restore
from autograder.grading.term.learner_names import is_learner_name, printable
from autograder.grading.term.roster import make_learners
from autograder.grading.term.tables import read_term
from autograder.grading.worker.job import TIMESTAMP
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.lessons.cells import grade_id_of
from autograder.sandbox.outputs import read_outputs
from tests.fuzz import strategies

MOST_BYTES = 10_000_000
QUIET = logging.getLogger("fuzz")
QUIET.disabled = True


@dataclass(frozen=True)
class Reader:
    """A reader and what has to hold for it: `check` raises AssertionError if it doesn't."""

    name: str
    inputs: SearchStrategy
    check: Callable[..., object]


def notebook(data: bytes) -> None:
    """A notebook is refused with a sentence, or restored, valid and with every cell once."""
    with suppress(BrokenSubmission):
        restored = restore(read_notebook(data, MOST_BYTES), BLUEPRINT)
        nbformat.validate(restored)
        names = [grade_id_of(cell) for cell in restored.cells if grade_id_of(cell)]
        assert sorted(names) == sorted(cell.name for cell in BLUEPRINT.cells)


def answers(text: str) -> None:
    """Answers are refused with a ValueError, or judged and shown on a card."""
    with suppress(ValueError):
        handed_in = unpack(text, strategies.QUESTION)
        verdict = judge(strategies.KEY, handed_in.answers)
        assert 0 <= verdict.points <= strategies.KEY.points
        assert verdict_card(verdict).text


def outputs(sent: bytes) -> None:
    """Outputs are valid in a notebook, and can be written."""
    found = read_outputs(sent)
    cell = nbformat.v4.new_code_cell(outputs=found)
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    json.dumps(found, allow_nan=False).encode()


def feedback(data: bytes) -> None:
    """Any readable notebook makes a page, and there is no script in it."""
    with suppress(ValueError, RecursionError):
        cells = read_cells(data)
        page = render_page(
            GradedNotebook(cells, NotebookFacts("a", "l", "n", Grade(), {}), Outline("T"))
        )
        assert "<script" not in page.lower()


def report(data: bytes) -> None:
    """The report has a line for each submission, whatever the graded notebook is."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "n.ipynb").write_bytes(data)
        found = read_submission("ada", Path(folder), ["n"])
        assert found.learner == "ada"
        assert all(len(sentence) < 2000 for sentence in found.troubles)


def timestamp(data: bytes) -> None:
    """A time is read, or refused with a sentence."""
    with tempfile.TemporaryDirectory() as folder, suppress(BrokenSubmission):
        Path(folder, TIMESTAMP).write_bytes(data)
        when = submitted_at(Path(folder))
        assert when is None or str(when)


def tables(data: bytes) -> None:
    """A table is read, or refused with a sentence that names it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "learners.csv").write_bytes(data)
        try:
            term = read_term(Path(folder))
        except CourseError as error:
            assert "learners.csv" in str(error)
        else:
            assert all(map(is_learner_name, term.learners))


def roster(data: bytes) -> None:
    """A list of people becomes learners.csv, which can be read, or is refused with a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.csv")
        path.write_bytes(data)
        with suppress(CourseError):
            assert make_learners(path, Path(folder)).replace("\n", "").isprintable()
            learners = read_term(Path(folder)).learners
            assert learners and all(map(is_learner_name, learners))


def worksheet(data: bytes) -> None:
    """A worksheet is read, and filled in nowhere but in its grades, or refused with a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "worksheet.csv")
        path.write_bytes(data)
        with suppress(CourseError):
            sheet = Worksheet(path)
            assert sheet.filled({}) == data
            assert sheet.times is not None


def times(data: bytes) -> None:
    """The answer of Canvas's API is read, or refused with a sentence that names it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "times.json")
        path.write_bytes(data)
        try:
            assert all(map(str, read_canvas_times(path)))
        except CourseError as error:
            assert path.name in str(error)


def zipped(data: bytes) -> None:
    """Whatever a zip holds, plain files within its folder come out of it."""
    with tempfile.TemporaryDirectory() as folder:
        archive, extracted = Path(folder, "archive"), Path(folder, "extracted")
        archive.mkdir()
        (archive / "all.zip").write_bytes(data)
        ExtractPlainFiles(log=QUIET).extract(str(archive), str(extracted))
        assert {path.name for path in Path(folder).iterdir()} <= {"archive", "extracted"}
        for path in extracted.rglob("*"):
            assert path.is_dir() or (path.is_file() and not path.is_symlink())


def names(name: str) -> None:
    """A name, as shown, neither colors a terminal nor starts a line."""
    assert printable(name).isprintable()
    if is_learner_name(name):
        assert not set(name) & set('<>&"/\\\n\0')


def _blueprint() -> Blueprint:
    cells = [cell for cell in strategies.SHORT["cells"] if "nbgrader" in cell["metadata"]]
    return Blueprint([_source_cell(cell) for cell in cells])


def _source_cell(cell: dict) -> SourceCell:
    facts = cell["metadata"]["nbgrader"]
    return SourceCell(
        name=facts["grade_id"],
        cell_type=cell["cell_type"],
        source="".join(cell["source"]),
        locked=facts["locked"],
        grade=facts["grade"],
        solution=facts["solution"],
        task=facts["task"],
        points=facts.get("points"),
        checksum=facts.get("checksum"),
    )


BLUEPRINT = _blueprint()
READERS = [
    Reader("notebook", strategies.NOTEBOOKS, notebook),
    Reader("answers", strategies.MESSAGES, answers),
    Reader("outputs", strategies.SENT, outputs),
    Reader("feedback", strategies.NOTEBOOKS, feedback),
    Reader("report", strategies.NOTEBOOKS, report),
    Reader("timestamp", strategies.TIMES, timestamp),
    Reader("tables", strategies.TABLES, tables),
    Reader("roster", strategies.ROSTERS, roster),
    Reader("worksheet", strategies.WORKSHEETS, worksheet),
    Reader("times", strategies.CANVAS_TIMES, times),
    Reader("zip", strategies.ZIPS, zipped),
    Reader("names", strategies.TEXT, names),
]
