"""What Gradescope and PrairieLearn are told of a result."""

import pytest

from autograder.grading.platforms import gradescope, prairielearn
from autograder.grading.platforms.parts import GradedPart, parts_of
from tests.grading.single.grading_one import VALIDATOR


def aspect(name, points, most=1):
    return {"name": name, "points": points, "max_points": most}


def exercise(name, *aspects, points=None, sentence="", **more):
    known = sum(one["points"] or 0 for one in aspects) if points is None else points
    about = {
        "name": name,
        "points": known,
        "max_points": sum(one["max_points"] for one in aspects),
        "answered": True,
        "judged": True,
        "sentence": sentence,
        "mistake": "",
        "rules": [],
        "aspects": [*aspects],
    }
    return about | more


def result(*exercises, **more):
    points = [one["points"] for one in exercises]
    told = {
        "version": 1,
        "lesson": "01_dot_product_attention",
        "outcome": "graded",
        "reason": "",
        "points": None if None in points else sum(points),
        "max_points": sum(one["max_points"] for one in exercises),
        "exercises": [*exercises],
        "lacking": [],
        "seconds": 1.7,
        "wall": "container",
    }
    VALIDATOR.validate(told | more)
    return told | more


RIGHT = exercise("query_scores", aspect("one score", 1), aspect("signs", 1))
WRONG = exercise(
    "softmax",
    aspect("one row", 1),
    aspect("scores above 100", 0),
    aspect("any dimension", 0),
    sentence="Use `dim`, not <b>1</b>.",
)
SKIPPED = exercise("context_vector", aspect("weights", 0), aspect("mixture", 0), answered=False)
WRITTEN = exercise("why", points=0) | {
    "points": None,
    "max_points": 3,
    "judged": False,
    "answered": None,
}


def test_the_parts_of_an_exercise():
    assert parts_of(result(RIGHT, WRONG, SKIPPED)) == [
        GradedPart("1.1", "query_scores: one score", 1, 1),
        GradedPart("1.2", "query_scores: signs", 1, 1),
        GradedPart("2.1", "softmax: one row", 1, 1),
        GradedPart("2.2", "softmax: scores above 100", 0, 1, "Use `dim`, not <b>1</b>."),
        GradedPart("2.3", "softmax: any dimension", 0, 1),
        GradedPart("3", "context_vector", 0, 2, "Not answered."),
    ]


def test_an_exercise_with_other_points_than_its_aspects_is_a_part():
    given_up = exercise("softmax", aspect("one row", 1), aspect("signs", 1), points=0)
    assert parts_of(result(given_up)) == [GradedPart("1", "softmax", 0, 2)]


def test_gradescope_gets_points_and_sentences():
    told = gradescope.results(result(RIGHT, WRONG), "after_due_date")
    assert told["score"] == 3 == sum(test["score"] for test in told["tests"])
    assert sum(test["max_score"] for test in told["tests"]) == 5
    assert told["visibility"] == "after_due_date" and told["execution_time"] == 2
    assert told["output"] == "Graded: 2 of 2 exercises answered."
    sentence = "Use <code>dim</code>, not &lt;b&gt;1&lt;/b&gt;."
    assert [test["output"] for test in told["tests"]] == ["", "", "", sentence, ""]
    assert told["test_output_format"] == told["output_format"] == "html"


def test_prairielearn_gets_points_and_sentences():
    told = prairielearn.results(result(RIGHT, WRONG), "visible")
    assert told["gradable"] and told["score"] == 3 / 5
    assert sum(test["points"] for test in told["tests"]) == 3
    assert told["tests"][3]["message"] == "Use `dim`, not <b>1</b>."


@pytest.mark.parametrize(
    ("form", "expected"), [(gradescope.results, {"score": 2.0}), (prairielearn.results, {})]
)
def test_a_question_in_words_waits(form, expected):
    told = form(result(RIGHT, WRITTEN), "visible")
    assert told | expected == told
    [*_, waits] = told["tests"]
    assert waits["name"] == "why" and "a person will" in str(waits)


def test_what_is_not_graded_says_why():
    judged = RIGHT | {"points": None, "judged": False, "answered": None, "aspects": []}
    stopped = result(judged, outcome="not graded", reason="`x` & <y> stopped it.")
    told = gradescope.results(stopped, "visible")
    assert told["score"] == 0 and told["tests"] == []
    assert told["output"] == "Not graded: <code>x</code> &amp; &lt;y&gt; stopped it."
    assert prairielearn.results(stopped, "visible") == {
        "gradable": False,
        "format_errors": ["Not graded: `x` & <y> stopped it."],
    }


def test_modules_that_the_grader_lacks_are_named():
    told = gradescope.results(result(RIGHT, lacking=["einops"]), "visible")
    assert told["output"].endswith("It ran without modules that the grader lacks: einops.")
