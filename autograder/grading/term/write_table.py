"""Write a table as CSV."""

import csv
import io
from collections.abc import Iterable


def as_csv(rows: Iterable[Iterable[object]]) -> bytes:
    """Write rows in UTF-8, whatever the locale; None becomes an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
