"""Moodle's grading worksheet is filled in, in any language, and otherwise left as it is."""

import pytest

from tests.grading.lms.worksheets import BLIND, ENGLISH, GERMAN, MARKERS, PROFILE, SCALE
from tests.grading.term.made_course import FIRST, SECOND

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def fill(course, lms, tmp_path, capfd):
    """Fill in a worksheet; return the exit status, the new text, and what was said."""

    def run(text, encoding="utf-8", *options):
        sheet = course.write("worksheet.csv", text, encoding)
        path = tmp_path / "moodle.csv"
        places = f"--worksheet={sheet}", f"--to={path}"
        status = lms("export", "--lms=moodle", *places, FIRST, *options)
        filled = path.read_bytes().decode() if path.exists() else None
        return status, filled, capfd.readouterr().err

    return run


def test_only_those_with_grades_change(fill):
    status, filled, said = fill(ENGLISH)
    grading = '"Submitted for grading"'
    changed = ENGLISH.replace(f"org,{grading},,15.00", f"org,{grading},14.5,15.00", 1)
    assert filled == changed.replace(",8.00,", ",9,")
    assert status == 0, said
    assert "No learner has" not in said and "no row of their own" not in said


def test_another_language_with_semicolons_and_decimal_commas(fill):
    status, filled, said = fill(GERMAN)
    changed = GERMAN.replace('abgegeben";;', 'abgegeben";14,5;')
    assert filled == changed.replace(';"8,00";', ';"9";')
    assert status == 0, said


def test_a_decimal_comma_between_commas_is_put_in_quotation_marks(fill):
    text = GERMAN.replace(";", ",").replace("15,00", '"15,00"').replace('"8,00"', "8")
    assert 'abgegeben","14,5","15,00",Ja' in fill(text)[1]


def test_grades_of_several_graders_are_not_taken_for_the_grade(fill):
    filled = fill(MARKERS)[1]
    changed = MARKERS.replace(",10,12,12,15,", ",10,12,14.5,15,").replace(",8,12,12,", ",8,12,9,")
    assert filled == changed


def test_fields_of_the_profile_are_not_taken_for_the_grade(fill):
    assert fill(PROFILE)[1] == PROFILE.replace('grading",,15.00', 'grading",14.5,15.00', 1)


def test_hidden_names_need_the_number(fill):
    status, filled, said = fill(BLIND)
    assert filled == BLIND.replace("grading,,15.00", "grading,14.5,15.00", 1)
    assert status == 1
    assert "no row of their own in worksheet.csv: Zoë Müller-O'Brien (zoe)" in said
    assert "the lines above name what is missing" in said


def test_rows_and_grades_that_find_no_partner_are_listed_and_the_file_is_written(fill, course):
    course.hand_in("bob", FIRST, 10, 5)
    text = ENGLISH.replace("zoe@example.org", "other@example.org")
    status, filled, said = fill(text)
    assert status == 1 and "14.5" in filled
    assert "add it in learners.csv: Participant 1002, Zoë Müller-O'Brien" in said
    assert "no row of their own in worksheet.csv: bob; Zoë Müller-O'Brien (zoe)" in said
    assert "the lines above name what is missing" in said


def test_a_stranger_in_the_worksheet_is_listed_and_the_file_is_written(fill):
    yuri = '"Participant 2099",Yuri,yuri@example.org,"No submission",,15.00,Yes,-,-,\n'
    status, filled, said = fill(ENGLISH + yuri)
    assert status == 1 and "14.5" in filled and filled.endswith(yuri)
    assert "add it in learners.csv: Participant 2099, Yuri" in said
    assert "the lines above name what is missing" in said


def test_without_strict_lost_grades_are_warnings(course, tmp_path, capfd):
    from nbgrader.apps import ExportApp

    sheet = course.write("worksheet.csv", BLIND)
    app = ExportApp()
    app.initialize(
        [
            "--exporter=autograder.grading.lms.moodle.MoodleExporter",
            f"--to={tmp_path / 'moodle.csv'}",
            f"--CourseDirectory.root={course.root}",
            f"--MoodleExporter.worksheet={sheet}",
            "--MoodleExporter.strict=False",
            f"--assignment={FIRST}",
        ]
    )
    app.start()
    assert "14.5" in (tmp_path / "moodle.csv").read_text(encoding="utf-8")
    assert "no row of their own" in capfd.readouterr().err


def test_a_row_for_two_learners_and_two_rows_for_one_match_nobody(fill):
    double = ENGLISH.replace("Participant 1002", "Participant 1001")  # Ada's number, Zoë's e-mail
    status, filled, said = fill(double)
    assert status == 1 and filled.count("14.5") == 1 and ",8.00," in filled
    assert "own in worksheet.csv: Zoë Müller-O'Brien (zoe)" in said
    again = ENGLISH.replace("noor@example.org", "zoe@example.org")
    status, filled, said = fill(again)
    assert status == 1 and ",8.00," in filled
    assert "own in worksheet.csv: Zoë Müller-O'Brien (zoe)" in said


@pytest.mark.parametrize("most", ["10.00", "20.00"])
def test_another_maximum_in_moodle_is_an_error(fill, most):
    status, filled, said = fill(ENGLISH.replace("15.00", most))
    assert (status, filled) == (1, None)
    assert f"maximum grade is {most[:2]} in Moodle, but {FIRST} has 15 points. Set it" in said
    assert "Set it to 15 in Moodle, and download its table again" in said
    assert "ANY_MAXIMUM=1" in said


def test_unless_it_is_meant(fill):
    status, filled, said = fill(ENGLISH.replace("15.00", "20.00"), "utf-8", "--any-maximum")
    assert status == 0, said
    assert ",14.5,20.00," in filled and ",9,20.00," in filled


def test_percentages_fit_a_maximum_of_100(fill):
    status, filled, said = fill(ENGLISH.replace("15.00", "100.00"), "utf-8", "--percent")
    assert status == 0, said
    assert ",96.6667,100.00," in filled and ",60,100.00," in filled


def test_percentages_do_not_fit_another_maximum(fill):
    status, filled, said = fill(ENGLISH, "utf-8", "--percent")
    assert (status, filled) == (1, None)
    assert f"is 15 in Moodle, but {FIRST} is exported in percent. Set it to 100" in said


def test_a_grade_above_moodles_maximum_has_no_place(fill):
    status, filled, said = fill(ENGLISH.replace("15.00", "10.00"), "utf-8", "--any-maximum")
    assert status == 1
    assert ",9,10.00," in filled and "14.5" not in filled
    assert "above 10, Moodle's maximum: Ada King" in said


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (SCALE, "utf-8", "points, not to a scale"),
        (ENGLISH.splitlines()[0] + "\n", "utf-8", "lists nobody: clear the filters"),
        ("", "utf-8", "is not a grading worksheet from Moodle"),
        (ENGLISH.replace("Participant 1003", "Tim"), "utf-8", "line 6: 'Tim' doesn't end with"),
        (ENGLISH + "x,y\n", "utf-8", "line 8: 2 cells, but 10 columns"),
        (GERMAN[1:], "latin-1", "worksheet.csv is not UTF-8"),
        (
            '[{"user_id": 101}]',
            "utf-8",
            "is JSON, like the answers of Canvas's API. Moodle's grading",
        ),
    ],
    ids=["scale", "nobody", "empty", "no number", "short row", "encoding", "Canvas's"],
)
def test_an_invalid_worksheet_is_left_alone(fill, text, encoding, said):
    status, filled, err = fill(text, encoding)
    assert (status, filled) == (1, None)
    assert said in err


def test_the_worksheet_and_one_lesson_have_to_be_named(course, lms, capfd):
    sheet = course.write("worksheet.csv", ENGLISH)
    assert lms("export", "--lms=moodle", f"--worksheet={sheet}", FIRST, SECOND) == 1
    assert "name one lesson" in capfd.readouterr().err
    assert lms("export", "--lms=moodle", FIRST) == 1
    assert "downloaded from Moodle: WORKSHEET=… (--worksheet)" in capfd.readouterr().err
    assert lms("export", "--lms=moodle", "--worksheet=/nowhere.csv", FIRST) == 1
    assert "/nowhere.csv can't be read (No such file" in capfd.readouterr().err


def test_a_last_line_without_an_end_keeps_it_so(fill):
    text = ENGLISH.removesuffix("\n")
    assert fill(text)[1].endswith(text[-40:])
