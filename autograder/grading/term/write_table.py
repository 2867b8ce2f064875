"""Write a table as CSV in which spreadsheets find no formula."""

import csv
import io
import re
from collections.abc import Iterable

# A cell that begins so is a formula to a spreadsheet, unless it is only a number.
FORMULA = re.compile(r"[=@\t\n]|[+-](?![0-9]+(?:[.,][0-9]*)?$)")
APOSTROPHE = "'"  # says that a cell is text; spreadsheets don't show it


def as_csv(rows: Iterable[Iterable[object]]) -> bytes:
    """Write rows in UTF-8, whatever the locale; None becomes an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_never_a_formula, row) for row in rows)
    return text.getvalue().encode()


def as_meant(cell: str) -> str:
    """Return what a cell says, without the apostrophe before a formula."""
    said = cell.removeprefix(APOSTROPHE)
    return said if FORMULA.match(said) else cell


def _never_a_formula(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    said = cell.replace("\r\n", "\n").replace("\r", "\n")  # csv does not quote a lone \r
    return f"{APOSTROPHE}{said}" if FORMULA.match(said) else said
