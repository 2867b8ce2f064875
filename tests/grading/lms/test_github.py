"""Submissions come from clones of learners' repositories on GitHub."""

import pytest

from tests.grading.lms.test_collect import submitted
from tests.grading.term.made_course import FIRST
from tests.support.clones import clone

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NOTEBOOK = f"{FIRST}.ipynb"


@pytest.fixture
def clones(course, tmp_path):
    """A folder as `gh classroom clone student-repos` makes it, and users in learners.csv."""
    course.write("learners.csv", "learner,github\nada,AdaKing\nzoe,mary-ann\ntim,ann\nill,\n")
    folder = tmp_path / "lesson-1-submissions"
    folder.mkdir()
    return folder


def collect(lms, clones, *more):
    return lms("collect", FIRST, "--lms=github", clones, *more)


def test_each_clone_is_its_users(course, lms, clones, capfd):
    clone(clones, "lesson-1-adaking", {NOTEBOOK: "ada's", "README.md": "x"})
    clone(clones, "lesson-1-mary-ann", {f"{FIRST} (1).ipynb": "zoe's"})
    assert collect(lms, clones) == 0
    found = submitted(course)
    assert found[f"ada/{FIRST}/{NOTEBOOK}"] == "ada's"
    assert found[f"zoe/{FIRST}/{NOTEBOOK}"] == "zoe's"
    assert found[f"ada/{FIRST}/timestamp.txt"].startswith("2026-10-05 21:59:00")
    assert not [name for name in found if name.startswith("tim/")], "ann is not mary-ann"
    assert f"Collected {FIRST} from 2 learners" in capfd.readouterr().out


def test_without_git_nobody_knows_when(course, lms, clones, capfd, monkeypatch):
    clone(clones, "lesson-1-adaking", {NOTEBOOK: "ada's"})
    monkeypatch.setenv("PATH", "")
    assert collect(lms, clones) == 1
    assert "git tells when something was handed in: install it first." in capfd.readouterr().err


def test_unknown_users_are_named(course, lms, clones, capfd):
    clone(clones, "lesson-1-adaking", {NOTEBOOK: "ada's"})
    clone(clones, "lesson-1-stranger", {NOTEBOOK: "?"})
    assert collect(lms, clones) == 1
    assert "nobody in learners.csv has github stranger" in capfd.readouterr().err


def test_a_folder_with_another_name_mistakes_nobody(course, lms, clones, capfd):
    clone(clones, "lesson-1-adaking", {NOTEBOOK: "ada's"})
    renamed = clones.rename(clones.with_name("work"))
    assert collect(lms, renamed) == 2
    assert "such as lesson-1-submissions" in capfd.readouterr().err


def test_what_is_no_notebook_is_named(course, lms, clones, capfd):
    clone(clones, "lesson-1-adaking", {NOTEBOOK: "ada's"})
    clone(clones, "lesson-1-ann", {"answers.py": "1"})
    linked = clone(clones, "lesson-1-mary-ann", {"README.md": "x"})
    (linked / NOTEBOOK).symlink_to("/etc/passwd")
    assert collect(lms, clones) == 1
    said = capfd.readouterr().err
    assert "tim handed in answers.py, but not a notebook that can be read" in said
    assert f"mary-ann/{NOTEBOOK} is a link; hand in the file itself" in said
    assert "passwd" not in str(submitted(course))


@pytest.mark.parametrize(
    ("name", "said"), [("no", "There is no folder "), ("empty", "There are no clones in ")]
)
def test_what_it_refuses(course, lms, clones, capfd, name, said):
    (clones / "empty").mkdir()
    assert collect(lms, clones / name) == 2
    assert said in capfd.readouterr().err
