"""What is said about an unreadable notebook, before and after a person gives it points."""

import pickle

import pytest

from autograder.grading.submission.read_notebook import BrokenSubmission, read_notebook


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "The file is empty."),
        (b"\xff", "The file is not a notebook, because it is not text in UTF-8 (byte 0)."),
        (b"{}", "The file is not a notebook, because it has no list of cells."),
        (b"[" * 100_000, "The notebook is nested too deeply to be read."),
        (b" " * 2000, "The notebook is too large, 0.0 MB where at most 0.0 MB are read."),
        (
            b"no notebook",
            "The notebook is damaged or cut off: it is not valid JSON (Expecting value: "
            "line 1 column 1 (char 0)).",
        ),
    ],
)
def test_a_reason_can_be_told_without_its_remedy(data, cause):
    with pytest.raises(BrokenSubmission) as broken:
        read_notebook(data, 1000 if data[:1] == b" " else 1_000_000)
    assert broken.value.cause == cause
    assert str(broken.value) == f"{cause[:-1]}: {broken.value.remedy}."


@pytest.mark.parametrize("reason", ["", "does a loop never end?", "It took: too long.", "cut off"])
def test_a_reason_without_a_remedy_stays(reason):
    assert BrokenSubmission(reason).cause == str(BrokenSubmission(reason)) == reason


def test_a_reason_survives_the_way_to_a_worker():
    broken = BrokenSubmission("It is cut off", "save it")
    sent = pickle.loads(pickle.dumps(broken))
    assert (str(sent), sent.cause) == ("It is cut off: save it.", "It is cut off.")
