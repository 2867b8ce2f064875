"""Read a small CSV table that a person wrote, in an editor or in Excel.

Excel puts a byte order mark in front, and in many languages writes semicolons instead of commas. It
leaves empty columns and rows behind, separates "Unicode text" with tabs, and shortens long numbers.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.term.file_kinds import refuse_others
from autograder.grading.term.write_table import as_meant

SHORTENED = re.compile(r"[0-9](?:[.,][0-9]+)?E\+[0-9]+")  # 2.02612E+11, by Excel
NAME_A_TABLE = 'Name a table, as a CSV file; Excel calls that "CSV UTF-8".'


@dataclass(frozen=True)
class TableRow:
    """A row of a table: its cells by column, and its position."""

    table: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def error(self, problem: str) -> CourseError:
        """Make an error that says in which table, and where in it, the problem is."""
        return CourseError(f"{self.table}, line {self.line}: {problem}")


def read_table(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[TableRow]:
    """Read the rows of a table; no rows if the file is missing. A missing column is empty.

    required: columns that must be there, with a value in each row. Raises CourseError.
    """
    if not path.exists():
        return []
    header, found = _read(path)
    _check_header(path.name, header, required, optional)
    empty = dict.fromkeys([*required, *optional], "")
    rows = [_row(path.name, line, header, cells, empty) for line, cells in found]
    _check_values(rows, required)
    return rows


def read_foreign_table(path: Path) -> list[TableRow]:
    """Read a table that another program wrote, whatever its columns. Raises CourseError."""
    header, found = _read(path)
    return [_row(path.name, line, header, cells, {}) for line, cells in found]


def read_number(text: str) -> float:
    """Read a number, with a decimal point or comma. Raises ValueError."""
    return float(text.replace(",", "."))


def _read(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their lines, without empty ones."""
    text = _decoded(path)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = [name.strip() for name in next(lines, [])]
        rows = [(lines.line_num, [as_meant(cell.strip()) for cell in cells]) for cells in lines]
    except csv.Error as error:
        place = f"{path.name}, line {lines.line_num}"
        raise CourseError(f"{place}: it is not a CSV file ({error}).") from None
    while header and not header[-1]:
        header.pop()
    found = [(line, _without_tail(cells, len(header))) for line, cells in rows if any(cells)]
    return header, found


def _without_tail(cells: list[str], columns: int) -> list[str]:
    """Return the cells of a row without empty ones beyond the last column."""
    return cells if any(cells[columns:]) else cells[:columns]


def check_unique(rows: Iterable[TableRow], *columns: str) -> None:
    """Raise CourseError if two rows have the same values, not all empty, in these columns.

    Uppercase and lowercase are the same.
    """
    lines: dict[tuple[str, ...], int] = {}
    for row in rows:
        values = tuple(row[column].casefold() for column in columns)
        if values in lines and any(values):
            shown = ", ".join(f"{column} {row[column]!r}" for column in columns)
            raise row.error(f"{shown} is on line {lines[values]} too: remove one of the two.")
        lines[values] = row.line


def _decoded(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CourseError(f"{path.name} can't be read ({error.strerror}).") from error
    refuse_others(path.name, data, NAME_A_TABLE)
    try:
        coded = (
            "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        )
        return unicodedata.normalize("NFC", data.decode(coded))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CourseError(
            f"{path.name}, line {line}: the byte {data[error.start]:#04x} is not UTF-8. "
            'Save the file as UTF-8; Excel calls that "CSV UTF-8".'
        ) from None


def _delimiter(text: str) -> str:
    header = text.partition("\n")[0]
    return max(",;\t", key=header.count)


def _check_header(
    table: str, header: list[str], required: Sequence[str], optional: Sequence[str]
) -> None:
    known = [*required, *optional]
    for name in header:
        if name not in known:
            raise CourseError(
                f"{table}, line 1: there is no column {name!r}. The columns are {', '.join(known)}."
            )
        if header.count(name) > 1:
            raise CourseError(f"{table}, line 1: the column {name!r} is there twice; remove one.")
    for name in required:
        if name not in header:
            raise CourseError(f"{table}, line 1: the column {name!r} is missing; add it.")


def _row(
    table: str, line: int, header: list[str], cells: list[str], empty: dict[str, str]
) -> TableRow:
    row = TableRow(table, line, empty | dict(zip(header, cells, strict=False)))
    if len(cells) > len(header):
        raise row.error(
            f"{len(cells)} cells, but {len(header)} columns. Put a value that contains "
            'a comma or a semicolon in "quotation marks".'
        )
    if short := next(filter(SHORTENED.fullmatch, cells), None):
        raise row.error(
            f"{short} is a number that Excel has shortened. Format its column as text, enter the "
            "whole number, and save the table again."
        )
    return row


def _check_values(rows: list[TableRow], required: Sequence[str]) -> None:
    for row in rows:
        for column in required:
            if not row[column]:
                raise row.error(f"{column} is empty; fill it in, or remove the line.")
