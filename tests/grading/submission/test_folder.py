"""A submission is read from plain files only, whatever else is in the folder."""

import os
import socket
from datetime import datetime

import pytest

from autograder.grading.submission.folder import files_beside, read_submitted, submitted_at
from autograder.grading.submission.plain_files import MOST_ENTRIES, MOST_NOTEBOOK_BYTES
from autograder.grading.submission.read_notebook import BrokenSubmission


@pytest.fixture
def folder(tmp_path):
    """The folder for a learner's submission."""
    folder = tmp_path / "learner" / "lesson"
    folder.mkdir(parents=True)
    return folder


def of_size(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def refused(path, sole=False):
    with pytest.raises(BrokenSubmission) as told:
        read_submitted(path, sole)
    return str(told.value)


def test_a_notebook_is_read_up_to_its_limit(folder):
    path = of_size(folder / "a.ipynb", MOST_NOTEBOOK_BYTES)
    assert len(read_submitted(path)) == MOST_NOTEBOOK_BYTES
    of_size(path, MOST_NOTEBOOK_BYTES + 1)
    assert "a.ipynb has 10 MB; 10 MB are allowed: clear its outputs" in refused(path)


def test_no_link_is_followed_to_a_notebook(folder, tmp_path):
    of_size(folder / "a.ipynb", 1)
    (folder / "b.ipynb").symlink_to(folder / "a.ipynb")
    assert "b.ipynb is a link" in refused(folder / "b.ipynb")
    (folder / "c.ipynb").symlink_to("nowhere")
    assert "c.ipynb is a link" in refused(folder / "c.ipynb")
    (tmp_path / "learner" / "other").symlink_to(folder)
    assert "other is a link" in refused(tmp_path / "learner" / "other" / "a.ipynb")
    (tmp_path / "friend").symlink_to(folder.parent)
    assert "friend is a link" in refused(tmp_path / "friend" / "lesson" / "a.ipynb")


@pytest.mark.parametrize("place", ["secret.txt", "other/lesson/a.ipynb", "learner/lesson/b.ipynb"])
def test_no_hard_link_is_followed_to_a_notebook(folder, tmp_path, place):
    os.link(of_size(tmp_path / place, 1), folder / "a.ipynb")
    said = "a.ipynb is the same file as another one (a hard link); hand in a copy"
    assert refused(folder / "a.ipynb") == said


def test_a_missing_notebook_is_reported_with_the_others(folder, tmp_path):
    assert refused(folder / "a.ipynb") == "there is no a.ipynb in the submission"
    nowhere = tmp_path / "learner" / "nowhere" / "a.ipynb"
    assert refused(nowhere) == "there is no a.ipynb in the submission"
    of_size(folder / "b.ipynb", 1)
    assert refused(folder / "a.ipynb").endswith("; there is b.ipynb: give it that name")
    for name in "gfedc":
        of_size(folder / f"{name}.ipynb", 1)
    said = "; there are b.ipynb, c.ipynb, d.ipynb, e.ipynb, f.ipynb and 1 more: "
    assert refused(folder / "a.ipynb").endswith(f"{said}give the right one that name")
    assert refused(folder / "a.ipynb", sole=True).endswith(
        f"{said}keep one of them and give it that name"
    )


def test_files_that_are_not_notebooks_are_reported(folder):
    for name in ("timestamp.txt", "submission_secret.txt", ".DS_Store"):
        of_size(folder / name, 1)
    missing = "there is no a.ipynb in the submission"
    assert refused(folder / "a.ipynb") == missing
    of_size(folder / "essay.pdf", 1)
    assert refused(folder / "a.ipynb", sole=True) == f"{missing}; there is essay.pdf"
    of_size(folder / "notes.docx", 1)
    assert refused(folder / "a.ipynb") == f"{missing}; there are essay.pdf, notes.docx"


def test_a_sole_notebook_may_have_any_name(folder):
    (folder / "a (1).ipynb").write_bytes(b"here")
    assert read_submitted(folder / "a.ipynb", sole=True) == b"here"
    assert "give it that name" in refused(folder / "a.ipynb")


def test_a_sole_notebook_may_have_an_undecodable_name(folder):
    with open(os.fsencode(folder) + b"/\xff.ipynb", "wb") as file:
        file.write(b"here")
    assert read_submitted(folder / "a.ipynb", sole=True) == b"here"
    assert "there is �.ipynb" in refused(folder / "a.ipynb")


def test_what_is_not_a_file_is_not_a_notebook(folder):
    (folder / "a.ipynb").mkdir()
    assert refused(folder / "a.ipynb") == "a.ipynb is a folder, not a file"
    os.mkfifo(folder / "b.ipynb")
    assert refused(folder / "b.ipynb") == "b.ipynb is a named pipe, not a file"
    with socket.socket(socket.AF_UNIX) as listener:
        home = os.open(folder, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{home}/s.ipynb")
        os.close(home)
        assert refused(folder / "s.ipynb") == "s.ipynb is a socket, not a file"
    below = of_size(folder / "c", 1) / "c.ipynb"
    assert refused(below) == "c.ipynb can't be read (Not a directory)"


def test_a_swarm_of_files_hides_no_notebook(folder):
    for number in range(MOST_ENTRIES):
        (folder / f"{number:05}.txt").touch()
    (folder / "a.ipynb").write_bytes(b"here")
    assert read_submitted(folder / "a.ipynb", sole=True) == b"here"
    assert files_beside(folder) == {}


def test_a_notebook_is_not_beside_itself(folder):
    of_size(folder / "a.ipynb", 1)
    of_size(folder / "data" / "b.ipynb", 1)
    of_size(folder / "data" / "c.txt", 1)
    assert files_beside(folder) == {"data/c.txt": b"\0"}
    (folder.parent / "all").symlink_to(folder)
    assert files_beside(folder.parent / "all") == {}
    assert files_beside(folder.parent / "none") == {}


def test_the_time_of_a_submission(folder):
    stamp = folder / "timestamp.txt"
    assert submitted_at(folder) is None and submitted_at(folder / "nowhere") is None
    stamp.write_text("2026-10-05 13:00 +02:00\n")
    assert submitted_at(folder) == datetime(2026, 10, 5, 11)
    stamp.write_text("\n")
    assert submitted_at(folder) is None


def test_an_unreadable_time_is_refused(folder):
    stamp = folder / "timestamp.txt"
    stamp.write_text("tomorrow")
    with pytest.raises(BrokenSubmission, match="says 'tomorrow', which is not a time"):
        submitted_at(folder)
    with pytest.raises(BrokenSubmission, match=r"can't be read \(Not a directory\)"):
        submitted_at(stamp)
    stamp.rename(folder / "other.txt")
    stamp.symlink_to("other.txt")
    with pytest.raises(BrokenSubmission, match="can't be read, because it is a link"):
        submitted_at(folder)
