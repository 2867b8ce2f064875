"""Grades for Moodle: fill in the offline grading worksheet that was downloaded from it.

In Moodle, set the maximum grade to the lesson's points: another one changes what a grade means, and
Moodle skips a grade above it. On upload, tick "Allow updating records that have been modified more
recently in Moodle" when grades change: in other languages than English, Moodle can't read its own
dates in the worksheet.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from traitlets import Bool, Unicode

from autograder.errors import CourseError
from autograder.grading.lms.class_grades import ClassGrades
from autograder.grading.lms.export import GradesExporter
from autograder.grading.lms.worksheet import Participant, Worksheet
from autograder.grading.term.tables import Learner, Term


class MoodleExporter(GradesExporter):
    """Fills in the grades of one lesson. Cells of learners without a grade stay as downloaded.

    Rows without a learner, and grades without a row, are listed.
    """

    default_to = "moodle.csv"
    worksheet = Unicode(help="The grading worksheet, as downloaded from Moodle.").tag(config=True)
    any_maximum = Bool(False, help="Fill in grades although Moodle's maximum is another.").tag(
        config=True
    )

    def write_grades(self, grades: ClassGrades, term: Term) -> Sequence[Participant | Learner]:
        lesson = self._only_lesson(grades)
        sheet = Worksheet(self._path())
        self._compare_maxima(lesson, grades.lessons[lesson].points, sheet)
        rows = sheet.match(grades.learners)
        given = {who: one.points for who, one in grades.of(lesson) if one.points is not None}
        strangers = [row for row in sheet.participants if row not in rows.values()]
        self.warn_of(
            f"No learner has the e-mail or moodle_id of these rows in {sheet.name}; add it in "
            "learners.csv",
            strangers,
        )
        lost = self._without_place(given, rows, sheet)
        placed = {rows[who.learner]: points for who, points in given.items() if who not in lost}
        self.write_file(sheet.filled(placed))
        return [*strangers, *lost]

    def _without_place(
        self, given: Mapping[Learner, float], rows: Mapping[str, Participant], sheet: Worksheet
    ) -> list[Learner]:
        """List who has a grade that the worksheet can't take, with a warning."""
        rowless = [one for one in given if one.learner not in rows]
        self.warn_of(f"With a grade, but no row of their own in {sheet.name}", rowless)
        above = [one for one in given if one not in rowless and given[one] > sheet.most]
        self.warn_of(f"Left empty: with a grade above {sheet.most:g}, Moodle's maximum", above)
        return rowless + above

    def _compare_maxima(self, lesson: str, most: float, sheet: Worksheet) -> None:
        """Raise CourseError if Moodle would take the grades for shares of another maximum."""
        if most != sheet.most and not self.any_maximum:
            raise CourseError(
                f"The maximum grade is {sheet.most:g} in Moodle, but {lesson} has {most:g} points. "
                f"Set it to {most:g} in Moodle, and download the worksheet again. To keep "
                f"{sheet.most:g}, ANY_MAXIMUM=1 (--any-maximum) fills in the grades up to that."
            )

    def _only_lesson(self, grades: ClassGrades) -> str:
        if len(grades.lessons) != 1:
            raise CourseError("A worksheet is for one assignment in Moodle: name one lesson.")
        return next(iter(grades.lessons))

    def _path(self) -> Path:
        if not self.worksheet:
            raise CourseError(
                "Name the grading worksheet that you downloaded from Moodle: WORKSHEET=… "
                "(--worksheet)."
            )
        return Path(self.worksheet)
