"""What a file is that was named in place of another: by its first bytes, whatever it is called."""

import codecs

from autograder.errors import CourseError

JSON = "JSON, like the answers of Canvas's API"
WORKBOOK = "a workbook"
BEGINNINGS = {
    b"PK\x03\x04": "a zip",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": WORKBOOK,  # of Excel before 2007
    b"<": "a web page",
    b"[": JSON,
    b"{": JSON,
}
# In the zip that a workbook of Excel or LibreOffice is.
WORKBOOKS = (b"xl/workbook", b"opendocument.spreadsheet")


def kind_of(data: bytes) -> str:
    """Return what a file is; "" if it may be a table."""
    if data.startswith(b"PK") and any(name in data for name in WORKBOOKS):
        return WORKBOOK
    start = data.removeprefix(codecs.BOM_UTF8).lstrip()
    return next((kind for first, kind in BEGINNINGS.items() if start.startswith(first)), "")


def refuse_others(name: str, data: bytes, remedy: str, wanted: str = "") -> None:
    """Raise CourseError if a file is of another kind than the one that is wanted."""
    kind = kind_of(data)
    if kind not in ("", wanted):
        raise CourseError(f"{name} is {kind}. {remedy}")
