"""A learner's progress outlives the kernel, and a course's notebooks share it."""

import pytest

from autograder.notebook import records
from autograder.notebook.records import FILE, VARIABLE, Record, keep_record, read_records, record_of


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder; the kernel runs in a lesson's folder below it."""
    monkeypatch.delenv(VARIABLE, raising=False)
    lesson = tmp_path / "01_lesson"
    lesson.mkdir()
    monkeypatch.chdir(lesson)
    monkeypatch.setattr(records, "_of_this_kernel", {})
    return tmp_path


def another_kernel(monkeypatch):
    monkeypatch.setattr(records, "_of_this_kernel", {})


def test_another_kernel_knows_the_progress(course, monkeypatch):
    keep_record("softmax", Record(points=3, most=4, hints=1))
    assert (course / FILE).exists()
    another_kernel(monkeypatch)
    assert record_of("softmax") == Record(points=3, most=4, hints=1)
    assert record_of("project") == Record()


def test_two_kernels_do_not_undo_each_other(course, monkeypatch):
    keep_record("softmax", Record(points=3, most=4))
    another_kernel(monkeypatch)
    keep_record("project", Record(points=1, most=2))
    another_kernel(monkeypatch)
    assert list(read_records()) == ["softmax", "project"]


DEEP, TEXT = b"[" * 100_000, b'{"softmax": {"points": "3"}}'


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"{", b'{"softmax": {"score": 3}}', b"\xff", DEEP, TEXT]
)
def test_a_damaged_file_counts_as_missing(course, content):
    (course / FILE).write_bytes(content)
    assert read_records() == {}
    keep_record("softmax", Record(points=3, most=4))
    assert record_of("softmax").points == 3


def test_progress_lasts_in_the_kernel_if_nothing_can_be_written(course):
    (course / FILE).mkdir()
    keep_record("softmax", Record(points=3, most=4))
    assert record_of("softmax").points == 3


def test_progress_lasts_in_the_kernel_if_its_folder_is_gone(course, monkeypatch):
    (course / "gone").mkdir()
    monkeypatch.chdir(course / "gone")
    (course / "gone").rmdir()
    keep_record("softmax", Record(points=3, most=4))
    assert record_of("softmax").points == 3


def test_no_file_is_written_if_none_is_wanted(course, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    keep_record("softmax", Record(points=3, most=4))
    assert not (course / FILE).exists() and record_of("softmax").points == 3
