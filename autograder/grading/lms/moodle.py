"""Moodle: fill in its offline grading worksheet, and collect from its zip of submissions.

The worksheet says when each submission came in.

In Moodle, set the maximum grade to the lesson's points: a different maximum changes what a grade
means, and Moodle skips a grade above it. On upload, check "Allow updating records that have been
modified more recently in Moodle" when grades change: in languages other than English, Moodle can't
read its own dates in the worksheet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.lms.class_grades import ClassGrades
from autograder.grading.lms.collector import LmsCollector
from autograder.grading.lms.downloaded_names import DownloadedName, read_moodle_name
from autograder.grading.lms.export import LmsExporter
from autograder.grading.lms.moodle_date import read_moodle_date
from autograder.grading.lms.worksheet import Participant, Worksheet
from autograder.grading.term.dates import course_zone
from autograder.grading.term.learner_names import listed
from autograder.grading.term.tables import Learner, Term

NO_DATES = (
    "These dates from Moodle can't be read, so none of these are late: {times}. Download the "
    "worksheet in English, or write the times into timestamp.txt"
)


class MoodleExporter(LmsExporter):
    """Fills in the grades of one lesson. Cells of learners without a grade stay as downloaded.

    Rows without a learner, and grades without a row, are listed.
    """

    system = "Moodle"
    default_to = "moodle.csv"

    def write_grades(self, grades: ClassGrades, term: Term) -> Sequence[Participant | Learner]:
        lesson = self._only_lesson(grades)
        sheet = Worksheet(self._path())
        self.compare_maxima(lesson, grades.most(lesson), sheet.most)
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
        """List those whose grade has no place in the worksheet, and log a warning."""
        rowless = [one for one in given if one.learner not in rows]
        self.warn_of(f"With a grade, but no row of their own in {sheet.name}", rowless)
        above = [one for one in given if one not in rowless and given[one] > sheet.most]
        self.warn_of(f"Left empty: with a grade above {sheet.most:g}, Moodle's maximum", above)
        return rowless + above

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


class MoodleCollector(LmsCollector):
    """Collects from the zip of "Download all submissions", with or without folders in it.

    The participant numbers of an assignment come from its grading worksheet, if one is given, and
    from `moodle_id`. What a group submits has the group's name and number instead.
    """

    system = "Moodle"

    def read_name(self, name: str) -> DownloadedName | None:
        about = read_moodle_name(name)
        group = about.owner.casefold() if about else ""
        return replace(about, person=group) if about and group in self._groups else about

    def learners_by_number(self) -> Mapping[str, str]:
        """Return learners by number; by a group's name, its first member."""
        learners = self.term.learners.values()
        numbers = {one.moodle_id: one.learner for one in learners if one.moodle_id}
        numbers |= {row.number: learner for learner, row in self._rows.items()}
        return numbers | {name: group[0] for name, group in self._groups.items()}

    def times(self) -> Mapping[str, datetime]:
        zone = course_zone()
        found = {who: read_moodle_date(text, zone) for who, text in self._times.items()}
        return {learner: time for learner, time in found.items() if time}

    def report(self) -> list[str]:
        known = self.times().keys() | self.kept_times.times.keys()
        lost = [f"{one} ({text})" for one, text in self._times.items() if one not in known]
        return [*super().report(), *([NO_DATES.format(times=listed(lost))] if lost else [])]

    @property
    def _times(self) -> Mapping[str, str]:
        """When learners handed in, according to the worksheet."""
        times = self._sheet.times if self._sheet else {}
        rows = self._rows.items()
        return {who: times[row.number] for who, row in rows if row.number in times}

    @property
    def _rows(self) -> Mapping[str, Participant]:
        return self._sheet.match(self.term.learners.values()) if self._sheet else {}

    @cached_property
    def _sheet(self) -> Worksheet | None:
        return Worksheet(Path(self.worksheet)) if self.worksheet else None

    def who_it_is(self, person: str) -> str:
        by_number = f"add moodle_id {person} to the learner's row in learners.csv"
        sheet = self._sheet
        if not sheet:
            return (
                "because nobody in learners.csv has its number: name the assignment's grading "
                f"worksheet (WORKSHEET=…), which has the e-mail address, or {by_number}"
            )
        row = next((row for row in sheet.participants if row.number == person), None)
        if row is None:
            again = f"has no participant {person}: download this assignment's worksheet again"
            return f"because {sheet.name} {again}, or {by_number}"
        return _who_is_in(row, sheet, sheet.fitting(row, self.term.learners.values()), by_number)


def _who_is_in(row: Participant, sheet: Worksheet, fits: Sequence[str], by_number: str) -> str:
    """Say whose row this is.

    fits: the learners it could be, if that is unclear.
    by_number: how to add the number to learners.csv.
    """
    if fits:
        return (
            f"because participant {row.number} in {sheet.name} could be {', '.join(fits)}, but "
            "more than one row or learner fits: correct email and moodle_id in learners.csv"
        )
    about = sheet.about(row)
    if not about:
        return f"because {sheet.name} hides who that is: {by_number}"
    return f"from {about}, who is not in learners.csv: add a row, or correct an e-mail address"
