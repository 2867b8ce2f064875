"""Moodle's offline grading worksheet, in any language: read, and filled in.

Its columns are, from Moodle's source (mod/assign/gradingtable.php):

- the identifier: the word for a participant, and a number
- the full name and fields such as the e-mail address, unless names are hidden
- the status and others
- the grade
- the maximum grade, or a scale
- in some assignments, a workflow state
- whether the grade can be changed
- dates, texts and comments

Headings, decimal signs and dates are in the teacher's language, so the grade is found by its place.

Only grades are replaced. Every other character stays, byte by byte: delimiter, quotes, line ends.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.lms.class_grades import exact
from autograder.grading.lms.moodle_date import YEAR
from autograder.grading.term.file_kinds import refuse_others
from autograder.grading.term.read_table import read_number
from autograder.grading.term.tables import Learner

NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
NO_TIME = {"", "-"}
BYTE_ORDER = "\ufeff"  # Moodle begins the file with this character
AGAIN = "Download it again in Moodle, and don't save it in another program."


@dataclass(frozen=True)
class SheetCell:
    """A cell's value, and where it is in the text, with its quotation marks."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Participant:
    """A row of the worksheet.

    number: Moodle's for this learner in this assignment.
    """

    number: str
    cells: tuple[SheetCell, ...]

    def __str__(self) -> str:
        return ", ".join(cell.value for cell in self.cells[:2])


class Worksheet:
    """A worksheet as it was downloaded. Raises CourseError if it can't be read or has no grades.

    most: the maximum grade in Moodle.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._text = self._decoded(path)
        header, *rows = self._rows()
        if not rows:
            raise CourseError(f"{self.name} lists nobody: clear the filters in Moodle. {AGAIN}")
        self.participants = [self._participant(cells, len(header)) for cells in rows]
        self._header = [cell.value for cell in header]
        self._grade = self._grade_column(len(header))
        self.most = self._numbers(self._grade + 1)[0]

    def match(self, learners: Iterable[Learner]) -> dict[str, Participant]:
        """Find the rows of learners, by participant number or e-mail address.

        A row that fits two learners matches nobody, and neither do two rows that fit the same one.
        """
        learners, found = list(learners), []
        for row in self.participants:
            fits = self.fitting(row, learners)
            found += [(fits[0], row)] if len(fits) == 1 else []
        rows = Counter(learner for learner, _ in found)
        return {learner: row for learner, row in found if rows[learner] == 1}

    def fitting(self, row: Participant, learners: Iterable[Learner]) -> list[str]:
        """List the learners who have the number or the e-mail address of a row."""
        shown = {cell.value.casefold() for cell in row.cells[1 : self._grade]} - {""}
        return [
            one.learner
            for one in learners
            if one.moodle_id == row.number or one.email.casefold() in shown
        ]

    def about(self, row: Participant) -> str:
        """Return the name and the e-mail address in a row; "" if Moodle hides them."""
        known = [cell.value for cell in row.cells[1 : self._grade]]
        emails = [value for value in known if "@" in value]
        return ", ".join(dict.fromkeys([*known[:1], *emails[:1]])) if emails else ""

    @cached_property
    def times(self) -> dict[str, str]:
        """When people handed in, as Moodle writes it, by participant number; {} if unknown.

        Right of the grade are two columns with headings like "Last modified (submission)" and
        "Last modified (grade)", in this order. If there is only one, it could be either.
        """
        columns = range(self._grade + 2, len(self._header))
        dates = [column for column in columns if self._has_dates(column)]
        for first, second in combinations(dates, 2):
            alike = {self._header[column].rpartition("(")[0] for column in (first, second)}
            if len(alike) == 1 and alike != {""}:
                found = {row.number: row.cells[first].value for row in self.participants}
                return {number: text for number, text in found.items() if text not in NO_TIME}
        return {}

    def filled(self, grades: Mapping[Participant, float]) -> bytes:
        """Return the worksheet with the grades of its rows, as the bytes of a file."""
        pieces, end = [], 0
        for row in self.participants:
            if row in grades:
                cell = row.cells[self._grade]
                pieces += [self._text[end : cell.start], self._written(grades[row], cell)]
                end = cell.end
        return "".join([*pieces, self._text[end:]]).encode()

    def _decoded(self, path: Path) -> str:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CourseError(f"The worksheet {path} can't be read ({error.strerror}).") from error
        refuse_others(self.name, data, f"Moodle's grading worksheet is a CSV file. {AGAIN}")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CourseError(f"The worksheet {path} is not UTF-8. {AGAIN}") from None

    def _rows(self) -> list[list[SheetCell]]:
        """Split the text into rows of cells. Raises CourseError if it has no columns."""
        delimiters = {sign: _split(self._text, sign) for sign in ",;\t"}
        self._delimiter = max(delimiters, key=lambda sign: len(delimiters[sign][0]))
        rows = delimiters[self._delimiter]
        if len(rows[0]) < 4:
            raise CourseError(f"{self.name} is not a grading worksheet from Moodle. {AGAIN}")
        return [row for row in rows if any(cell.value for cell in row)]

    def _participant(self, cells: list[SheetCell], width: int) -> Participant:
        line = self._text.count("\n", 0, cells[0].start) + 1
        if len(cells) != width:
            raise CourseError(
                f"{self.name}, line {line}: {len(cells)} cells, but {width} columns. {AGAIN}"
            )
        found = re.search(r"\d+$", cells[0].value)
        if not found:
            raise CourseError(
                f"{self.name}, line {line}: {cells[0].value!r} doesn't end with a participant "
                f"number. {AGAIN}"
            )
        return Participant(found[0], tuple(cells))

    def _grade_column(self, width: int) -> int:
        """Find the last column that can be the grade. Raises CourseError if there is none.

        To its right is the same number in each row, the maximum, and then words. Fields of the
        learners' profiles can look alike, but come earlier.
        """
        for column in range(width - 3, 0, -1):
            if self._looks_like_grade(column):
                return column
        raise CourseError(
            f"{self.name} has no column for grades: in Moodle, set the assignment's grade to "
            "points, not to a scale, and download the worksheet again."
        )

    def _looks_like_grade(self, column: int) -> bool:
        grades, most = self._numbers(column), self._numbers(column + 1)
        words = [row.cells[column + 2].value for row in self.participants]
        blanks = sum(not row.cells[column].value for row in self.participants)
        return (
            len(grades) + blanks == len(most) == len(self.participants)
            and len(set(most)) == 1
            and max([0.0, *grades]) <= most[0] > 0
            and all(any(letter.isalpha() for letter in word) for word in words)
        )

    def _has_dates(self, column: int) -> bool:
        """Whether a column has only dates; text without a year is not a date."""
        values = (row.cells[column].value for row in self.participants)
        return all(value in NO_TIME or YEAR.search(value) for value in values)

    def _numbers(self, column: int) -> list[float]:
        values = (row.cells[column].value for row in self.participants)
        return [read_number(v) for v in values if NUMBER.fullmatch(v)]

    def _written(self, grade: float, cell: SheetCell) -> str:
        """Write a grade with the worksheet's own decimal sign and quotation marks."""
        columns = (self._grade, self._grade + 1)
        comma = any("," in row.cells[c].value for row in self.participants for c in columns)
        value = exact(grade).replace(".", "," if comma else ".")
        quoted = self._text[cell.start : cell.end].startswith('"') or self._delimiter in value
        return f'"{value}"' if quoted else value


def _split(text: str, delimiter: str) -> list[list[SheetCell]]:
    """Split CSV into rows of cells, with their places, which Python's csv module doesn't give."""
    end = f"({delimiter}|\r\n|\r|\n|\\Z)"
    pattern = re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{delimiter}\r\n]*){end}')
    rows: list[list[SheetCell]] = [[]]
    place = len(BYTE_ORDER) if text.startswith(BYTE_ORDER) else 0
    while cell := pattern.match(text, place):
        rows[-1].append(SheetCell(_value(cell[1]), *cell.span(1)))
        place = cell.end()
        if not cell[2]:
            break
        if cell[2] != delimiter:
            rows.append([])
    return rows


def _value(raw: str) -> str:
    return raw[1:-1].replace('""', '"').strip() if raw.startswith('"') else raw.strip()
