"""What a name in a downloaded zip says, and whose file it is."""

from pathlib import Path

import pytest

from autograder.grading.lms.downloaded_names import (
    DownloadedName,
    read_canvas_name,
    read_moodle_name,
)
from autograder.grading.lms.whose import make_plan, read_handed

RELEASED = {"01_first.ipynb"}


def hidden(prefix, file):
    return DownloadedName(prefix=prefix, file=file)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "kingada_101_2001_01_first.ipynb",
            DownloadedName("101", "kingada_101_2001", "01_first.ipynb", attachment=2001),
        ),
        (
            "müllerobrienzoë_LATE_102_2002_01_first-1.ipynb",
            DownloadedName("102", "müllerobrienzoë_LATE_102_2002", "01_first-1.ipynb", True, 2002),
        ),
        (
            "under_score_tim_103_2003_a b (1).ipynb",
            DownloadedName("103", "under_score_tim_103_2003", "a b (1).ipynb", attachment=2003),
        ),
        ("101_2001_x.ipynb", DownloadedName("101", "101_2001", "x.ipynb", attachment=2001)),
        (
            "kingada_101_2001_102_2002_x.ipynb",
            DownloadedName("101", "kingada_101_2001", "102_2002_x.ipynb", attachment=2001),
        ),
        ("anon_aB3xZ_2001_x.ipynb", hidden("anon_aB3xZ", "anon_aB3xZ_2001_x.ipynb")),
        (
            "LATE_anon_aB3xZ_71002_x.ipynb",
            hidden("LATE_anon_aB3xZ", "LATE_anon_aB3xZ_71002_x.ipynb"),
        ),
        (
            "anon_LATE_aB3xZ_71002_x.ipynb",
            hidden("anon_LATE_aB3xZ", "anon_LATE_aB3xZ_71002_x.ipynb"),
        ),
        ("anon_aB3xZ_LATE_71002_x.ipynb", hidden("anon_aB3xZ", "anon_aB3xZ_LATE_71002_x.ipynb")),
        (
            "studenttest_LATE_19_2001_x.ipynb",
            DownloadedName("19", "studenttest_LATE_19_2001", "x.ipynb", True, 2001, is_test=True),
        ),
        ("abel_78_102_", DownloadedName("78", "abel_78_102", "", attachment=102)),
        ("kingada_101_text.html", None),
        ("notes.ipynb", None),
    ],
)
def test_canvas_names(name, expected):
    assert read_canvas_name(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ada King_1001_assignsubmission_file", DownloadedName("1001", "Ada King_1001")),
        ("Ada King_1001_assignsubmission_file_", DownloadedName("1001", "Ada King_1001")),
        (
            "Zoë Müller-O'Brien_1002_assignsubmission_file_01_first (1).ipynb",
            DownloadedName("1002", "Zoë Müller-O'Brien_1002", "01_first (1).ipynb"),
        ),
        (
            "Ada_1001_assignsubmission_file_Bob_1009_assignsubmission_file_x.ipynb",
            DownloadedName("1001", "Ada_1001", "Bob_1009_assignsubmission_file_x.ipynb"),
        ),
        ("Ada King_1001_assignsubmission_onlinetext", None),
        ("Ada King_1001", None),
    ],
)
def test_moodle_names(name, expected):
    assert read_moodle_name(name) == expected


def plan(*paths, read_name=read_moodle_name):
    handed = {Path(path): read_handed(Path(path), Path(path).parts, read_name) for path in paths}
    made = make_plan(handed, {"1001": "ada", "1002": "zoe"}, RELEASED)
    return made, {pair: str(one.path) for pair, one in made.files.items()}


ADA = "Ada King_1001_assignsubmission_file"


def test_the_outermost_name_counts():
    inside = f"submissions/{ADA}/Zoë_1002_assignsubmission_file/01_first.ipynb"
    made, files = plan(inside)
    assert files == {("ada", "01_first.ipynb"): inside}
    assert made.names == {"ada": [ADA]}


def test_a_numbered_copy_gets_the_released_name():
    copy = f"{ADA}/01_first (2).ipynb"
    assert plan(copy)[1] == {("ada", "01_first.ipynb"): copy}


def test_the_notebook_itself_counts_before_its_copy():
    copy, itself = f"{ADA}/01_first (1).ipynb", f"{ADA}/01_first.ipynb"
    made, files = plan(copy, itself)
    assert files == {("ada", "01_first.ipynb"): itself, ("ada", "01_first (1).ipynb"): copy}
    assert [learner for learner, *_ in made.twice] == ["ada"]


def test_the_same_name_again_is_left_out_and_reported():
    made, files = plan(f"{ADA}/01_first.ipynb", f"{ADA}/old/01_first.ipynb")
    assert files == {("ada", "01_first.ipynb"): f"{ADA}/01_first.ipynb"}
    assert [str(one.path) for _, one, _ in made.twice] == [f"{ADA}/old/01_first.ipynb"]


def test_other_files_are_collected_only_without_a_notebook():
    other = "Zoë_1002_assignsubmission_file/01_first.pdf"
    made, files = plan(f"{ADA}/01_first.ipynb", f"{ADA}/notes.txt", other)
    assert [*files] == [("ada", "01_first.ipynb"), ("zoe", "01_first.pdf")]
    assert made.others == [Path(f"{ADA}/notes.txt")]
    assert [*made.without] == ["zoe"]


def test_a_file_called_like_a_folder_of_the_systems_keeps_that_name():
    assert plan(ADA)[1] == {("ada", ADA): ADA}


def test_other_names_stay_as_they_are():
    mine = f"{ADA}/my work-1.ipynb"
    assert plan(mine)[1] == {("ada", "my work-1.ipynb"): mine}
