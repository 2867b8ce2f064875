"""nbgrader's exporters of grades: what they share, and a plain CSV.

They first bring the gradebook up to date with the tables of the term, so names, extensions and
penalties are those of the tables.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Unicode

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.engine.plugins import course_directory, course_term
from autograder.grading.engine.stale_grades import stale_grades
from autograder.grading.gradebook.course_files import files_of
from autograder.grading.gradebook.follow_tables import bring_up_to_date
from autograder.grading.gradebook.grades import Standing
from autograder.grading.gradebook.opening import Gradebook, reading
from autograder.grading.lms.class_grades import ClassGrade, ClassGrades, exact, read_class_grades
from autograder.grading.term.learner_names import printable
from autograder.grading.term.tables import Learner, Term
from autograder.grading.term.write_table import as_csv

SEPARATOR = re.compile(rb"[,;\t\r\n]")


class GradesExporter(ExportPlugin):
    """An exporter that reads the grades of a class; its subclasses write them down."""

    default_to = "grades.csv"
    strict = Bool(True, help="End with an error if somebody found no place.").tag(config=True)

    def __init__(self, **options: Any) -> None:
        """Look for a gradebook first, because nbgrader would make a missing one."""
        super().__init__(**options)
        with self._telling():
            for lesson in map(str, self.assignment or [""]):
                with reading(course_directory(self).db_url, lesson):
                    pass

    def export(self, gradebook: Gradebook) -> None:
        """Write the grades to `to`. Errors are logged, and end with exit status 1.

        If `strict`, grades that could not be placed count as an error, after the file is written.
        """
        with self._telling():
            self._export(gradebook)

    def write_grades(self, grades: ClassGrades, term: Term) -> Sequence[object]:
        """Write the grades to a file, and return those left without a place. Raises CourseError."""
        raise NotImplementedError

    def prepared(self, grades: ClassGrades) -> ClassGrades:
        """Return the grades as they will be exported."""
        return grades

    def write_file(self, data: bytes) -> None:
        """Write the exported file. Raises CourseError."""
        path = Path(self.to or self.default_to).absolute()
        write_output(path, data)
        self.log.info("The grades are in %s", path)

    def warn_of(self, problem: str, names: Iterable[object]) -> None:
        """Log a warning that lists names, if there are any."""
        if listed := "; ".join(printable(str(name)) for name in names):
            self.log.warning("%s: %s", problem, listed)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Log a CourseError, and end with exit status 1."""
        try:
            yield
        except CourseError as error:
            self.log.error(str(error))
            raise SystemExit(1) from None

    def _export(self, gradebook: Gradebook) -> None:
        course = course_directory(self)
        term = course_term(course)
        for change in bring_up_to_date(gradebook, term):
            self.log.info("Gradebook: %s", change)

        def submitted(learner: str, lesson: str) -> bool:
            return Path(course.format_path(course.submitted_directory, learner, lesson)).exists()

        # nbgrader reads a name like 2026 on the command line as a number.
        lessons, learners = map(str, self.assignment), map(str, self.student)
        grades = read_class_grades(gradebook, term, submitted, lessons, learners)
        self._warn_of_some(grades, submitted)
        among = {one.learner for one in grades.learners}
        for told in (stale_grades(files_of(course), one, among) for one in grades.lessons):
            if told:
                self.log.warning(told)
        if self.write_grades(self.prepared(grades), term) and self.strict:
            raise CourseError(
                "The file is written, but the lines above name what is missing from it."
            )

    def _warn_of_some(self, grades: ClassGrades, submitted: Callable[[str, str], bool]) -> None:
        """Warn about grades that no longer have a submission, and submissions without a grade."""
        for lesson in grades.lessons:
            graded = grades.standing(lesson, Standing.GRADED)
            gone = [one for one in graded if not submitted(one.learner, lesson)]
            self.warn_of(f"With a grade for {lesson}, but without a submission now", gone)
            waiting = grades.standing(lesson, Standing.NOT_GRADED)
            self.warn_of(f"Without a grade for {lesson}, with work that is not graded yet", waiting)


class LmsExporter(GradesExporter):
    """An exporter for a system that has a maximum for each lesson, which grades have to fit."""

    system = ""
    worksheet = Unicode(help="The table of grades, as downloaded from the system.").tag(config=True)
    any_maximum = Bool(False, help="Export grades although the system's maximum is another.").tag(
        config=True
    )
    percent = Bool(False, help="Export percentages of the lesson's points.").tag(config=True)

    def prepared(self, grades: ClassGrades) -> ClassGrades:
        return grades.in_percent() if self.percent else grades

    def compare_maxima(self, lesson: str, most: float, there: float) -> None:
        """Raise CourseError if the system would read the grades as shares of another maximum.

        there: the system's maximum.
        """
        if most != there and not self.any_maximum:
            has = "is exported in percent" if self.percent else f"has {most:g} points"
            raise CourseError(
                f"The maximum grade is {there:g} in {self.system}, but {lesson} {has}. Set it to "
                f"{most:g} in {self.system}, and download its table again. To keep {there:g}, "
                "ANY_MAXIMUM=1 (--any-maximum) exports the grades that fit, as they are; PERCENT=1 "
                "(--percent) exports percentages, for a maximum of 100."
            )


class CsvExporter(GradesExporter):
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

    def write_grades(self, grades: ClassGrades, term: Term) -> Sequence[object]:
        rows = [
            _plain_row(name, lesson.due, learner, one)
            for name, lesson in grades.lessons.items()
            for learner, one in grades.of(name)
        ]
        self.write_file(as_csv([self.columns, *rows]))
        return ()


def write_output(path: Path, data: bytes) -> None:
    """Write a file that `--to` named. Raises CourseError if that can't be done.

    It only ever replaces an earlier file of the same kind.
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


def _plain_row(
    lesson: str, due: datetime | None, learner: Learner, one: ClassGrade
) -> list[object]:
    graded = one.standing is Standing.GRADED
    return [
        lesson,
        due,
        one.grade.submitted,
        learner.learner,
        learner.last_name,
        learner.first_name,
        learner.email,
        exact(one.grade.before_penalty) if graded else "",
        exact(one.grade.penalty) if graded else "",
        exact(one.points),
        exact(one.most),
        one.standing,
    ]
