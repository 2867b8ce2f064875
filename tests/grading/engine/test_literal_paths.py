"""A course directory is called as it likes."""

import pytest

from autograder.grading.engine.literal_paths import find


@pytest.fixture
def course(tmp_path):
    course = tmp_path / "course [2]"
    for student in ("ann", "ben", "[ab]"):
        (course / "submitted" / student / "lesson").mkdir(parents=True)
    (tmp_path / "course 2" / "submitted" / "other" / "lesson").mkdir(parents=True)
    return course


@pytest.mark.parametrize(
    ("students", "found"),
    [("*", ["[ab]", "ann", "ben"]), ("ann", ["ann"]), ("[ab]*n", ["ann", "ben"]), ("no", [])],
)
def test_brackets_in_its_name_are_no_pattern(course, students, found):
    paths = find(f"{course}/submitted/{students}/lesson")
    assert sorted(paths) == [f"{course}/submitted/{name}/lesson" for name in found]


def test_a_path_stays_as_it_is_written(course):
    assert find(f"{course}/./submitted/ann") == [f"{course}/./submitted/ann"]


def test_nor_in_a_students(course):
    assert find(f"{course}/submitted/[ab]/less*") == [f"{course}/submitted/[ab]/lesson"]
