"""Tables that we write: a spreadsheet computes nothing in them, and we read what was written."""

import csv
from io import StringIO

import pytest

from autograder.grading.term.read_table import read_table
from autograder.grading.term.write_table import as_csv

COMPUTED = ["=1+1", '=HYPERLINK("http://x","y")', "@SUM(1)", "+cmd|' /C calc'!A0", "-2+3", "--1"]
PLAIN = ["Ada", "-3", "+4912345", "-0.5", "-0,5", "'t Hart", "a=b", "", "O'Brien"]


def cells(data):
    return list(csv.reader(StringIO(data.decode())))


@pytest.mark.parametrize("said", [*COMPUTED, "\t=1", "\n=1"])
def test_no_cell_is_a_formula(said):
    assert cells(as_csv([["Ada", said]])) == [["Ada", f"'{said}"]]


@pytest.mark.parametrize("said", PLAIN)
def test_other_cells_stay_as_they_are(said):
    assert cells(as_csv([["Ada", said]])) == [["Ada", said]]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_end_in_a_cell_is_read_again(end):
    assert cells(as_csv([["Ada", f"a{end}b"]])) == [["Ada", "a\nb"]]


@pytest.mark.parametrize("said", [*COMPUTED, *PLAIN])
def test_what_was_written_is_what_is_read(said, tmp_path):
    path = tmp_path / "learners.csv"
    path.write_bytes(as_csv([["learner", "section"], ["ada", said]]))
    assert [row["section"] for row in read_table(path, ["learner"], ["section"])] == [said]
