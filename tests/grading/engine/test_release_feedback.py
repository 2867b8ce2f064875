"""Pages of feedback reach the exchange, where nbgrader finds each by its submission's secret."""

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash

from autograder.grading.engine.release_feedback import ReleasePages
from tests.grading.term.made_course import COURSE_ID, FIRST

SECRETS = {"ada": "her secret", "bob [2]": "his secret"}


@pytest.fixture
def course(tmp_path):
    """A course directory with a page on everyone; `new` was never in the exchange."""
    for learner in (*SECRETS, "new"):
        page = tmp_path / "course" / "feedback" / learner / FIRST / f"{FIRST}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"page on {learner}", encoding="utf-8")
    for learner, secret in SECRETS.items():
        graded = tmp_path / "course" / "autograded" / learner / FIRST
        graded.mkdir(parents=True)
        (graded / "submission_secret.txt").write_text(secret, encoding="utf-8")
    return tmp_path / "course"


def release(course, **options):
    directory = CourseDirectory(
        root=str(course), course_id=COURSE_ID, assignment_id=FIRST, **options
    )
    exchange = course.parent / "exchange"
    exchange.mkdir(exist_ok=True)
    ReleasePages(coursedir=directory, root=str(exchange)).start()
    return {path.name: path for path in (exchange / COURSE_ID / "feedback").iterdir()}


def place(learner):
    return f"{notebook_hash(secret=SECRETS[learner], notebook_id=FIRST)}.html"


def test_each_page_is_where_nbgrader_looks(course, caplog):
    released = release(course)
    assert {name: path.read_text() for name, path in released.items()} == {
        place(learner): f"page on {learner}" for learner in SECRETS
    }
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in released.values())
    assert "Not submitted through the exchange, so not released: new" in caplog.text
    assert {path.name for path in (course / "feedback" / "ada" / FIRST).iterdir()} == {
        f"{FIRST}.html"
    }


def test_a_later_page_replaces_the_earlier_one(course):
    release(course)
    (course / "feedback" / "ada" / FIRST / f"{FIRST}.html").write_text("new page")
    assert release(course)[place("ada")].read_text() == "new page"


@pytest.mark.parametrize("options", [{"student_id": "ada"}, {"student_id_exclude": "bob [2],new"}])
def test_one_learners_page_alone(course, options):
    assert [*release(course, **options)] == [place("ada")]


def test_a_secret_may_be_any_bytes(course):
    path = course / "autograded" / "ada" / FIRST / "submission_secret.txt"
    path.write_bytes(b"\xff\x00" * 1000)
    assert len(release(course)) == 2


def test_a_shared_course_shares_them(course):
    released = release(course, groupshared=True)
    assert all(path.stat().st_mode & 0o777 == 0o664 for path in released.values())
