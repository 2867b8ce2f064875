"""Groups: what one member hands in is everybody's, in Canvas and in Moodle."""

import pytest

from tests.grading.lms.conftest import LEARNERS
from tests.grading.lms.test_collect import NOTEBOOK, give_feedback, pages, submitted
from tests.grading.lms.worksheets import ENGLISH
from tests.grading.term.made_course import FIRST

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
GROUPS = {"ada": "Team A", "zoe": "team a", "tim": "", "new": "Team A", "ill": "B"}


@pytest.fixture
def course(course):
    header, *lines = LEARNERS.splitlines()
    rows = [f"{line},{GROUPS[line.partition(',')[0]]}" for line in lines]
    course.write("learners.csv", "\n".join([f"{header},group", *rows]))
    return course


def files(course):
    return {name.partition("/")[0]: text for name, text in submitted(course).items()}


def test_canvas_names_a_group_after_one_member(course, lms, zipped, tmp_path, capfd):
    names = f"teama_102_2002_{NOTEBOOK}", f"tim_103_2003_{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(*names)) == 0
    assert files(course) == {who: names[0] for who in ("ada", "zoe", "new")} | {"tim": names[1]}
    assert "zoe handed in for the group: ada, new got the same" in capfd.readouterr().err
    give_feedback(course, "ada", "zoe", "new", "tim")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 0
    assert pages(path) == {
        f"teama_102_2002_{FIRST}.html": "<p>zoe</p>",
        f"tim_103_2003_{FIRST}.html": "<p>tim</p>",
    }


def test_moodle_has_the_name_and_the_number_of_the_group(course, lms, zipped, tmp_path):
    # The group's number is also a participant's.
    names = (
        f"Team A_1003_assignsubmission_file/{NOTEBOOK}",
        f"Tim_1003_assignsubmission_file/{NOTEBOOK}",
    )
    sheet = f"--worksheet={course.write('sheet.csv', ENGLISH)}"
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names), sheet) == 0
    found = submitted(course)
    assert {found[f"{who}/{FIRST}/{NOTEBOOK}"] for who in ("ada", "zoe", "new")} == {names[0]}
    assert found[f"tim/{FIRST}/{NOTEBOOK}"] == names[1]
    times = {found[f"{who}/{FIRST}/timestamp.txt"] for who in ("ada", "zoe", "new")}
    assert len(times) == 1
    give_feedback(course, "ada", "zoe", "tim")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=moodle", f"--to={path}", sheet) == 0
    numbers = {page.split("_")[1]: text for page, text in pages(path).items()}
    assert numbers == {"1001": "<p>ada</p>", "1002": "<p>zoe</p>", "1003": "<p>tim</p>"}


def test_members_who_handed_in_apart_keep_their_own(course, lms, zipped, capfd):
    names = f"ada_101_2001_{NOTEBOOK}", f"zoe_102_2002_{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(*names)) == 0
    assert files(course) == {"ada": names[0], "zoe": names[1]}
    told = "ada, zoe are in one group and handed in separately, so new got nothing"
    assert told in capfd.readouterr().err


def test_what_a_member_has_already_is_not_replaced(course, lms, zipped, capfd):
    mine = course.write(f"submitted/new/{FIRST}/{NOTEBOOK}", "mine")
    name = f"teama_102_2002_{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(name)) == 1
    assert "these learners have files in submitted/ already: new." in capfd.readouterr().err
    assert mine.read_text() == "mine" and [*files(course)] == ["new"]


def test_a_newer_zip_replaces_everybodys(course, lms, zipped):
    for number, who in ((2002, 102), (2009, 101)):
        name = f"teama_{who}_{number}_{NOTEBOOK}"
        assert lms("collect", FIRST, "--lms=canvas", "--force", zipped(name)) == 0
        assert files(course) == dict.fromkeys(("ada", "zoe", "new"), name)
