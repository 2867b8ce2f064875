"""Canvas: the exporter for its gradebook's "Import", and the collector for its zip of submissions.

The zip says which submissions are late, but not when they came in. Canvas's API does; without its
answer, the late ones are listed.

On import, Canvas looks a learner up by its own id, then by the two SIS ids, then by name (its
source: lib/gradebook_importer.rb). So a name like =1+1 gets an apostrophe, and the ids, which
learners.csv gives, stay as they are. A row "Points Possible" is left out, because Canvas would take
the maximum of its assignments from it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.gradebook.grades import Standing
from autograder.grading.lms.canvas_times import read_canvas_times
from autograder.grading.lms.class_grades import ClassGrade, ClassGrades, exact
from autograder.grading.lms.collector import LmsCollector
from autograder.grading.lms.downloaded_names import DownloadedName, read_canvas_name
from autograder.grading.lms.export import LmsExporter
from autograder.grading.term.read_table import TableRow, read_foreign_table, read_number
from autograder.grading.term.tables import Learner, Term, terms_of
from autograder.grading.term.write_table import as_csv

HEADER = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
EXCUSED = "EX"
POINTS_POSSIBLE = "Points Possible"  # the row of maxima in Canvas's own export


class CanvasExporter(LmsExporter):
    """Writes a column for each lesson, titled as lessons.csv says in `canvas`.

    What is missing or not graded is left blank. Lessons without a title are left out and listed,
    unless they were asked for by name. Learners whom Canvas can't find are left out and listed too.
    Canvas's own export, if it is named, says whether its maxima are the same.
    """

    system = "Canvas"
    default_to = "canvas.csv"

    def write_grades(self, grades: ClassGrades, term: Term) -> Sequence[Learner]:
        titles = self._titles(grades, term)
        for lesson, there in self._maxima(titles).items():
            self.compare_maxima(lesson, grades.most(lesson), there)
        nameless = [one for one in grades.learners if not _known_to_canvas(one)]
        self.warn_of(
            "Canvas needs a name or an id to find these learners; add one in learners.csv", nameless
        )
        rows = [
            [*_about(learner), *(_cell(grades.grades[learner.learner, name]) for name in titles)]
            for learner in grades.learners
        ]
        self.write_file(as_csv([[*HEADER, *titles.values()], *rows]))
        return nameless

    def _maxima(self, titles: Mapping[str, str]) -> dict[str, float]:
        """Return Canvas's maxima by lesson, if its export is named. Raises CourseError."""
        if not self.worksheet:
            return {}
        path = Path(self.worksheet)
        rows = read_foreign_table(path)
        row = next((one for one in rows if POINTS_POSSIBLE in one.cells.values()), None)
        if row is None:
            raise CourseError(
                f"{path.name} has no row {POINTS_POSSIBLE!r}: name the file of Canvas's Gradebook, "
                "Export, Export Entire Gradebook."
            )
        if lacking := [title for title in titles.values() if title not in row.cells]:
            raise CourseError(
                f"{path.name} has no column {lacking[0]!r}: write the title that it has there into "
                "lessons.csv, under `canvas`."
            )
        return {lesson: _maximum(row, title) for lesson, title in titles.items()}

    def _titles(self, grades: ClassGrades, term: Term) -> dict[str, str]:
        """Return the titles of the columns by lesson. Raises CourseError if there are none."""
        names = list(grades.lessons)
        titles = {name: terms_of(term, name).canvas for name in names}
        untitled = [name for name in names if not titles[name]]
        if untitled and (self.assignment or len(untitled) == len(names)):
            raise CourseError(
                f"lessons.csv has no Canvas column for {', '.join(untitled)}: fill in `canvas` "
                "with the column's title in Canvas's own export, such as Lesson 1 (4711)."
            )
        self.warn_of("Left out, because lessons.csv has no Canvas column for it", untitled)
        return {name: title for name, title in titles.items() if title}


class CanvasCollector(LmsCollector):
    """Collects from the zip of "Download Submissions", with times from the API's answer."""

    system = "Canvas"

    def read_name(self, name: str) -> DownloadedName | None:
        return read_canvas_name(name)

    def learners_by_number(self) -> Mapping[str, str]:
        return {one.canvas_id: one.learner for one in self.term.learners.values() if one.canvas_id}

    def times(self) -> Mapping[str, datetime]:
        if not self.worksheet:
            return {}
        learners = self.learners_by_number()
        found = read_canvas_times(Path(self.worksheet))
        return {learners[number]: when for number, when in found.items() if number in learners}

    def who_it_is(self, person: str) -> str:
        return (
            f"because nobody in learners.csv has canvas_id {person}: enter it in the "
            "learner's row, or add a row"
        )


def _maximum(row: TableRow, title: str) -> float:
    try:
        return read_number(row[title])
    except ValueError:
        raise row.error(f"{title} has no points, but {row[title]!r}.") from None


def _known_to_canvas(learner: Learner) -> bool:
    return any([learner.canvas_id, learner.sis_user_id, learner.sis_login_id, learner.full_name])


def _about(learner: Learner) -> list[str]:
    name = ", ".join(filter(None, [learner.last_name, learner.first_name]))
    ids = [learner.canvas_id, learner.sis_user_id, learner.sis_login_id]
    return [name or learner.learner, *ids, learner.section]


def _cell(one: ClassGrade) -> str:
    return EXCUSED if one.standing is Standing.EXCUSED else exact(one.points)
