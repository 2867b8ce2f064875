"""Predictions: what counts as an answer, which is right, and what the card says."""

import pytest
from bs4 import BeautifulSoup

from autograder.errors import CourseError
from autograder.judging.prediction import Prediction
from autograder.notebook.cards import choices_html, prediction_card

PET = Prediction("pet", right="a cat", choices={"a dog": "Dogs bark.", "a cat": "It purrs."})
SIZE = Prediction("size", right=12, because="6 + 6.")


def lines(card):
    return [line.strip() for line in repr(card).splitlines() if line.strip()]


def test_an_open_one_shows_its_choices():
    assert lines(prediction_card(PET, ...)) == [
        "○ What do you expect? Click on your answer",
        "a: a dog",
        "b: a cat",
        "To keep your answer, put its letter in quotes where the dots are, and run the cell again.",
    ]
    assert lines(prediction_card(SIZE, ...)) == [
        "○ What number do you expect?",
        "To keep your answer, put your number where the dots are, and run the cell again.",
    ]


def test_a_click_on_a_choice_says_whether_it_is_right():
    dog, cat = BeautifulSoup(choices_html(PET), "html.parser").find_all("details")
    assert dog["name"] == cat["name"]  # so that one at a time is open
    assert (dog.summary.text, cat.summary.text) == ("a: a dog", "b: a cat")
    assert dog.text.endswith("✗ Dogs bark.The answer: a cat. It purrs.")
    assert cat.text.endswith("✓ It purrs.")
    [number] = BeautifulSoup(choices_html(SIZE), "html.parser").find_all("details")
    assert number.text == "Show the answer12. 6 + 6."


def test_a_right_one_says_why():
    assert lines(prediction_card(PET, "b")) == ["✓ You predicted a cat", "It purrs."]
    assert lines(prediction_card(SIZE, 12.1)) == ["✓ You predicted 12.1", "6 + 6."]


def test_a_wrong_one_says_why_not_and_what_is_right():
    assert lines(prediction_card(PET, "a")) == [
        "✗ You predicted a dog",
        "Dogs bark.",
        "The answer: a cat. It purrs.",
    ]
    assert lines(prediction_card(SIZE, 6)) == ["✗ You predicted 6, but it is 12", "6 + 6."]


@pytest.mark.parametrize("answer", ["b", "B", " b", "a cat", "A cat.", "cat", "“a cat”"])
def test_a_choice_is_a_letter_or_its_words(answer):
    assert PET.is_right(answer)


@pytest.mark.parametrize("answer", ["√d_k", "sqrt(d_k)", "b"])
def test_a_choice_may_have_signs_and_stand_in_another(answer):
    choices = {"d_k": "", "√d_k": "", "1, as before": "", "1, or √d_k": ""}
    roots = Prediction("scale", right="√d_k", choices=choices)
    assert roots.chosen(answer) == "√d_k"
    with pytest.raises(CourseError, match="'1' fits several of the choices"):
        roots.chosen("1")


@pytest.mark.parametrize("answer", [12, 12.0, "12", " 11.9 ", "24/2"])
def test_a_number_may_stand_in_quotes(answer):
    assert SIZE.is_right(answer)


@pytest.mark.parametrize(
    ("prediction", "answer", "words"),
    [
        (PET, "c", """'c' is none of the choices: "a" (a dog); "b" (a cat)."""),
        (PET, "", "'' is none of the choices"),
        (PET, 1, "1 is none of the choices"),
        (PET, ["a"], "['a'] is none of the choices"),
        (SIZE, "a", """'a' is not a number to compare with: predict("size", 10), say."""),
        (SIZE, True, "True is not a number"),
        (SIZE, 10**400, "000 is not a number"),
        (SIZE, None, "None is not a number"),
    ],
)
def test_invalid_answers_are_refused(prediction, answer, words):
    with pytest.raises(CourseError) as error:
        prediction_card(prediction, answer)
    assert words in str(error.value)
