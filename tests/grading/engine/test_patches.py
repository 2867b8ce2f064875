"""The patches to nbgrader: their targets still exist, and files are found in any course."""

from concurrent.futures.process import ProcessPoolExecutor

import pytest
from nbgrader import converters
from nbgrader.converters import base

from autograder.grading.engine import patches
from autograder.grading.engine.autograde import Autograde
from autograder.grading.engine.patches import find
from autograder.sandbox.inside.expect import ChangedLibrary


@pytest.fixture
def course(tmp_path):
    course = tmp_path / "course [2]"
    for learner in ("ann", "ben", "[ab]"):
        (course / "submitted" / learner / "lesson").mkdir(parents=True)
    (tmp_path / "course 2" / "submitted" / "other" / "lesson").mkdir(parents=True)
    return course


@pytest.mark.parametrize(
    ("learners", "found"),
    [("*", ["[ab]", "ann", "ben"]), ("ann", ["ann"]), ("[ab]*n", ["ann", "ben"]), ("no", [])],
)
def test_brackets_in_its_name_are_no_pattern(course, learners, found):
    paths = find(f"{course}/submitted/{learners}/lesson")
    assert sorted(paths) == [f"{course}/submitted/{name}/lesson" for name in found]


def test_a_path_stays_as_it_is_written(course):
    assert find(f"{course}/./submitted/ann") == [f"{course}/./submitted/ann"]


def test_brackets_in_a_learners_name_are_no_pattern(course):
    assert find(f"{course}/submitted/[ab]/less*") == [f"{course}/submitted/[ab]/lesson"]


def test_what_a_new_version_lacks_is_named(monkeypatch):
    monkeypatch.delattr(base, "glob")
    with pytest.raises(ChangedLibrary, match=r"nbgrader.converters.base has no glob: .* lock.txt"):
        patches.install(Autograde)


def test_what_takes_other_arguments_is_named(monkeypatch):
    monkeypatch.setattr(converters.Autograde, "_format_dest", lambda self, student: "")
    with pytest.raises(ChangedLibrary, match=r"has another _format_dest\(self, student"):
        patches.install(Autograde)


def test_what_is_no_longer_set_is_named(monkeypatch):
    monkeypatch.setattr(ProcessPoolExecutor, "__init__", lambda self: None)
    with pytest.raises(ChangedLibrary, match="sets no _call_queue, _processes"):
        patches.install(Autograde)
