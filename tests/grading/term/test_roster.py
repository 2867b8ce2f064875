"""learners.csv from what Canvas, Moodle and Excel write."""

import errno
from itertools import permutations
from pathlib import Path

import pytest

from autograder.course.__main__ import main
from autograder.errors import CourseError
from autograder.grading.term.roster import make_learners
from autograder.grading.term.tables import Learner, read_learners

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lesson 1 (4711),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,19,(read only)
"King, Countess ""of"" Lovelace, Ada",101,007,aking@example.org,A; morning,18,94.7
"Müller, Zoë",102,008,zmueller,B,,
"Student, Test",9999,,,A,,
"""
MOODLE = "\ufeffVorname,Nachname,E-Mail-Adresse,Gruppen\nAda,King,ada@example.org,A\n"
EXCEL = "Name\tE-Mail\t\t\nZoë Müller\tzoe@example.org\t\t\n  \t \t\t\n"


def table(tmp_path, text, encoding="utf-8", name="roster.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def made(tmp_path, text, encoding="utf-8"):
    said = make_learners(table(tmp_path, text, encoding), tmp_path)
    return said, read_learners(tmp_path / "learners.csv")


def test_canvas(tmp_path):
    said, learners = made(tmp_path, CANVAS)
    assert said == "learners.csv has 2 learners now, 2 of them new."
    assert learners["zmueller"] == Learner(
        "zmueller", "Müller", "Zoë", "", "B", "102", "008", "zmueller"
    )
    assert learners["aking"].canvas_id == "101" and learners["aking"].section == "A; morning"


def test_moodles_participants_join_those_from_canvas(tmp_path):
    made(tmp_path, CANVAS.replace("aking@example.org", "ada").replace("Student, Test", "X, Y"))
    (tmp_path / "learners.csv").write_text(
        "learner,last_name,email,canvas_id\nlovelace,King,ADA@example.org,101\n", encoding="utf-8"
    )
    said, learners = made(tmp_path, MOODLE)
    assert learners["lovelace"].canvas_id == "101" and learners["lovelace"].first_name == "Ada"
    assert said == "learners.csv has 1 learner now, 0 of them new."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_excels_tables_have_tabs_and_empty_columns(tmp_path, encoding):
    _, learners = made(tmp_path, EXCEL, encoding)
    assert learners["zoe"].full_name == "Zoë Müller" and len(learners) == 1


def test_a_full_disk_leaves_the_old_table(tmp_path, monkeypatch, capsys):
    made(tmp_path, CANVAS)
    before = (tmp_path / "learners.csv").read_bytes()

    def fail(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", fail)
    monkeypatch.setattr(Path, "unlink", fail)
    assert main(["learners", str(tmp_path / "roster.csv"), f"--course={tmp_path}"]) == 1
    told = f"{tmp_path / 'learners.csv'} can't be read or written (No space left on device)."
    assert told in capsys.readouterr().err
    assert (tmp_path / "learners.csv").read_bytes() == before


def test_who_left_is_named_and_stays(tmp_path):
    made(tmp_path, CANVAS)
    said, learners = made(tmp_path, MOODLE)
    assert "Not in the roster, and still in learners.csv: aking, zmueller" in said
    assert [*learners] == ["aking", "zmueller", "ada"]


def test_two_of_one_name_get_two_folders(tmp_path):
    _, learners = made(tmp_path, "Name\nAda King\nAda King\n../x\n")
    assert [*learners] == ["ada_king", "ada_king_2", "x"]


NAMES = "First name,Last name\nAda,Lovelace\nZoë,Müller\n"


def test_a_table_with_only_names_doubles_nobody(tmp_path):
    made(tmp_path, NAMES)
    said, learners = made(tmp_path, NAMES.replace("ë", "e\u0308") + "Bo,Ek\n")
    assert [*learners] == ["ada_lovelace", "zoë_müller", "bo_ek"]
    assert said == (
        "learners.csv has 3 learners now, 1 of them new. "
        "Recognized by name alone: ada_lovelace, zoë_müller."
    )


IDS = 'Student,ID\n"Lovelace, Ada",101\n"Müller, Zoë",102\n'
ADDRESSES = "Full name,Email\nAda Lovelace,a@b.c\nZoë Müller,z@b.c\n"


@pytest.mark.parametrize(("first", "then"), [*permutations([NAMES, IDS, ADDRESSES], 2)])
def test_a_name_tells_who_it_is_where_nothing_else_can(tmp_path, first, then):
    _, before = made(tmp_path, first)
    said, learners = made(tmp_path, then)
    assert [*learners] == [*before] and "Not in the roster" not in said
    assert made(tmp_path, then)[1] == learners


@pytest.mark.parametrize("other", ["Student,ID\nAda King,2\n", "Username,Name\nking,Ada King\n"])
def test_a_name_tells_nothing_where_something_else_does(tmp_path, other):
    made(tmp_path, "Student,ID\nAda King,1\n")
    said, learners = made(tmp_path, other)
    assert len(learners) == 2 and "1 of them new" in said and "by name" not in said


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        ("Name\nAda King\nAda King\n", "Name\nBo\nAda King\n", "3: Ada King could be {0} or {0}_2"),
        ("Name\nAda King\n", IDS + "Ada King,1\nAda King,2\n", "5: {1} {0}, and so could line 4"),
    ],
)
def test_a_name_that_could_be_two_peoples_changes_nothing(tmp_path, first, then, words):
    _, before = made(tmp_path, first)
    told = "line " + words.format("ada_king", "Ada King could be") + ". Add a column `learner`"
    with pytest.raises(CourseError, match=told):
        made(tmp_path, then)
    assert read_learners(tmp_path / "learners.csv") == before


def test_a_folder_tells_who_it_is(tmp_path):
    made(tmp_path, "Name\nAda King\nAda King\n")
    said, learners = made(tmp_path, "Name,learner\nAda King,ada_king_2\nAda King,\nAda King,ada3\n")
    assert [*learners] == ["ada_king", "ada_king_2", "ada3"] and "1 of them new" in said


PAIR = "First name,Last name,Email\nAnna,van der Berg,a@b.c\n小龙,李,li@b.c\n"


def test_a_full_name_does_not_cut_a_known_one_anew(tmp_path):
    _, before = made(tmp_path, PAIR)
    assert (
        made(tmp_path, "Full name,Email\nanna van der  Berg,a@b.c\n李 小龙,li@b.c\n")[1] == before
    )
    _, learners = made(tmp_path, "Name,Email\nAnna Berg,a@b.c\n")
    assert (learners["a"].last_name, learners["a"].first_name) == ("Berg", "Anna")


def test_a_pair_replaces_a_guess(tmp_path):
    made(tmp_path, "Name,Email\nAnna van der Berg,a@b.c\n")
    assert made(tmp_path, PAIR)[1]["a"].last_name == "van der Berg"


def test_a_name_with_several_commas_is_a_guess_too(tmp_path):
    made(tmp_path, 'ID,First name,Last name\n101,Ada,"King, Countess ""of"" Lovelace"\n')
    _, learners = made(tmp_path, CANVAS)
    assert [one.first_name for one in learners.values()] == ["Ada", "Zoë"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Name,ID\nAda,2.02612E+11\n", "roster.csv, line 2: 2.02612E+11 is a number that Excel"),
        ("Mark\n3\n", "roster.csv, line 2: nobody is named here"),
        ("Name\n", "roster.csv names nobody"),
        ('Name\n"Ada\n', "line 2: it is not a CSV file"),
    ],
)
def test_what_is_no_roster(tmp_path, text, words):
    with pytest.raises(CourseError, match=words.replace("+", r"\+")):
        made(tmp_path, text)
    assert not (tmp_path / "learners.csv").exists()


def test_a_name_is_the_same_in_whatever_form_its_accents_are(tmp_path):
    made(tmp_path, "Username,Email\njosé,jose@example.org\n")
    said, learners = made(tmp_path, "Username,Email\njose\u0301,jose@example.org\n")
    assert [*learners] == ["josé"] and "0 of them new" in said


def test_the_command(tmp_path, capsys):
    assert main(["learners", f"--course={tmp_path}", str(table(tmp_path, CANVAS))]) == 0
    assert "2 learners" in capsys.readouterr().out
    assert main(["learners", f"--course={tmp_path}", "nowhere.csv"]) == 2
    assert "nowhere.csv can't be read (No such file" in capsys.readouterr().err
