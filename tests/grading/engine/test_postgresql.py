"""Grading with a PostgreSQL gradebook, on a server that lives as long as these tests."""

import pytest
from nbgrader.api import Gradebook

from tests.support import beside
from tests.support.classroom import LESSON, make_course, nbgrader, verdicts
from tests.support.servers import postgresql

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("sandbox")]
COUNT = 4


@pytest.fixture(scope="module")
def db_url():
    with postgresql() as address:
        yield address


def test_the_grades_are_the_true_ones(db_url, tmp_path):
    option = f"--CourseDirectory.db_url={db_url}"
    grades = make_course(tmp_path, COUNT, option)
    with beside.at_work(db_url) as report:
        nbgrader(tmp_path, "autograde", LESSON.name, option)
    found, by_hand = beside.grades_in(Gradebook(db_url, "attention-from-scratch"))
    assert found == grades
    assert by_hand == set(report["given"])
    assert len(verdicts(tmp_path)) == COUNT
    assert not (tmp_path / "gradebook.db").exists()
    nbgrader(tmp_path, "export", option, f"--to={tmp_path / 'grades.csv'}")
    assert len((tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()) == COUNT + 1
