"""Predictions: what counts as an answer, which is right, and what the card says."""

import pytest

from autograder.errors import CourseError
from autograder.judging.card import prediction_card
from autograder.judging.prediction import Prediction

PET = Prediction("pet", right="a cat", choices={"a dog": "Dogs bark.", "a cat": "It purrs."})
SIZE = Prediction("size", right=12, because="6 + 6.")


def lines(card):
    return [line.strip() for line in repr(card).splitlines() if line.strip()]


def test_an_open_one_shows_its_choices():
    assert lines(prediction_card(PET, ...)) == [
        "○ Put a letter where the dots are, and run the cell again",
        "a: a dog",
        "b: a cat",
    ]
    assert lines(prediction_card(SIZE, ...)) == [
        "○ Put a number where the dots are, and run the cell again"
    ]


def test_a_right_one_says_why():
    assert lines(prediction_card(PET, "b")) == ["✓ You predicted b: a cat", "It purrs."]
    assert lines(prediction_card(SIZE, 12.1)) == ["✓ You predicted 12.1", "6 + 6."]


def test_a_wrong_one_says_why_not_and_what_is_right():
    assert lines(prediction_card(PET, "a")) == [
        "✗ You predicted a: a dog",
        "Dogs bark.",
        "The answer: a cat. It purrs.",
    ]
    assert lines(prediction_card(SIZE, 6)) == ["✗ You predicted 6, but it is 12", "6 + 6."]


@pytest.mark.parametrize(
    ("prediction", "answer", "words"),
    [
        (PET, "c", """'c' is none of the choices: predict("pet", "a"), say."""),
        (PET, 1, "1 is none of the choices"),
        (PET, ["a"], "['a'] is none of the choices"),
        (SIZE, "a", """'a' is no number: predict("size", 10), say."""),
        (SIZE, True, "True is no number"),
    ],
)
def test_invalid_answers_are_refused(prediction, answer, words):
    with pytest.raises(CourseError) as error:
        prediction_card(prediction, answer)
    assert words in str(error.value)
