"""nbgrader's exporters of marks: what they share, and a plain CSV.

They first bring the gradebook up to date with the tables of the term, so names, extensions and
penalties are those of the tables.
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nbgrader.api import Assignment, Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.lms.marks import ClassMarks, Mark, State, number, read_marks
from autograder.grading.term.gradebook import bring_up_to_date
from autograder.grading.term.learner_names import printable
from autograder.grading.term.plugins import course_directory, course_term
from autograder.grading.term.tables import Learner, Term

SEPARATOR = re.compile(rb"[,;\t\r\n]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what cells begin with that spreadsheets compute


class MarksExporter(ExportPlugin):
    """An exporter that reads the marks of a class; its subclasses write them down."""

    default_to = "grades.csv"
    strict = Bool(True, help="End with an error if somebody found no place.").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the marks to `to`. What can't be done is logged, and ends with exit status 1.

        So does the export of those who found no place, after the file was written.
        """
        try:
            self._export(gradebook)
        except CourseError as error:
            self.log.error(str(error))
            raise SystemExit(1) from None

    def write_marks(self, marks: ClassMarks, term: Term) -> Sequence[object]:
        """Write the marks to a file, and return who found no place there. Raises CourseError."""
        raise NotImplementedError

    def write_file(self, data: bytes) -> None:
        """Write the exported file. Raises CourseError."""
        path = Path(self.to or self.default_to).absolute()
        write_output(path, data)
        self.log.info("The grades are in %s", path)

    def warn_of(self, problem: str, names: Iterable[object]) -> None:
        """Log a warning that lists names, if there are any."""
        if listed := "; ".join(printable(str(name)) for name in names):
            self.log.warning("%s: %s", problem, listed)

    def _export(self, gradebook: Gradebook) -> None:
        course = course_directory(self)
        term = course_term(course)
        for change in bring_up_to_date(gradebook, term):
            self.log.info("Gradebook: %s", change)

        def submitted(learner: str, lesson: str) -> bool:
            return Path(course.format_path(course.submitted_directory, learner, lesson)).exists()

        # nbgrader reads a name like 2026 on the command line as a number.
        lessons, learners = map(str, self.assignment), map(str, self.student)
        marks = read_marks(gradebook, term, submitted, lessons, learners)
        self._warn_of_some(marks, submitted)
        if self.write_marks(marks, term) and self.strict:
            raise CourseError(
                "The file is written, but the lines above name what is missing from it."
            )

    def _warn_of_some(self, marks: ClassMarks, submitted: Callable[[str, str], bool]) -> None:
        """Name those with a mark, but no submission anymore, and those still without a mark."""
        for lesson in (assignment.name for assignment in marks.lessons):
            graded = marks.in_state(lesson, State.GRADED)
            gone = [one for one in graded if not submitted(one.learner, lesson)]
            self.warn_of(f"With a grade for {lesson}, but without a submission now", gone)
            waiting = marks.in_state(lesson, State.NOT_GRADED)
            self.warn_of(f"Without a grade for {lesson}, with work that is not graded yet", waiting)


class CsvExporter(MarksExporter):
    """Writes nbgrader's own columns and one more, `state`.

    The state is `graded`, `missing`, `not graded` or `excused`, and only `graded` has a score.
    """

    columns = (
        "assignment",
        "duedate",
        "timestamp",
        "student_id",
        "last_name",
        "first_name",
        "email",
        "raw_score",
        "late_submission_penalty",
        "score",
        "max_score",
        "state",
    )

    def write_marks(self, marks: ClassMarks, term: Term) -> Sequence[object]:
        rows = [
            _plain_row(lesson, learner, mark)
            for lesson in marks.lessons
            for learner, mark in marks.of(lesson.name)
        ]
        self.write_file(as_csv([self.columns, *rows]))
        return ()


def as_text(name: str) -> str:
    """Keep a spreadsheet from computing a name such as =1+1, with the apostrophe that it hides."""
    return f"'{name}" if name.startswith(FORMULA) else name


def as_csv(rows: Iterable[Iterable[object]]) -> bytes:
    """Write rows as CSV in UTF-8, whatever the locale; None becomes an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def write_output(path: Path, data: bytes) -> None:
    """Write a file that `--to` named. Raises CourseError if that can't be done.

    It replaces an earlier one of the same kind, and nothing else.
    """
    if not path.parent.is_dir():
        raise CourseError(f"There is no folder {path.parent}: name another file with TO=… (--to).")
    try:
        if path.exists() and not _is_same_kind(path, data):
            raise CourseError(
                f"{path} is another kind of file, and was not replaced: name another one with "
                "TO=… (--to)."
            )
        write_whole(path, data)
    except OSError as error:
        raise CourseError(
            f"{path} can't be written ({error.strerror}): name another file with TO=… (--to)."
        ) from error


def _is_same_kind(path: Path, data: bytes) -> bool:
    """Whether a file is a zip of pages or a table with the same first column, as `data` is."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            pages = all(name.endswith(".html") for name in file.namelist())
        return pages and zipfile.is_zipfile(io.BytesIO(data))
    first, ours = (SEPARATOR.split(text, maxsplit=1)[0] for text in (path.read_bytes(), data))
    return first == ours


def _plain_row(lesson: Assignment, learner: Learner, mark: Mark) -> list[object]:
    graded = mark.state is State.GRADED
    return [
        as_text(lesson.name),
        lesson.duedate,
        mark.handed_in,
        as_text(learner.learner),
        as_text(learner.last_name),
        as_text(learner.first_name),
        as_text(learner.email),
        number(mark.raw) if graded else "",
        number(mark.penalty) if graded else "",
        number(mark.score),
        number(mark.most),
        mark.state,
    ]
