"""The cards of hints, predictions, progress and solutions, in HTML and in plain text."""

from bs4 import BeautifulSoup

from autograder.judging.verdict import Verdict
from autograder.notebook.cards import Progress, hint_card, link, progress_card, solution_card
from autograder.utils.palette import PARTLY, RIGHT
from tests.judging.test_card import color, lines


def test_hints_are_shown_up_to_the_latest():
    hints = ["First.", "Use `exp`.", "Third."]
    assert lines(hint_card("softmax", hints, 2)) == [
        "Hint 2 of 3 for softmax",
        "1. First.",
        "2. Use `exp`.",
        "Run the cell again for another (1 left).",
    ]
    last = lines(hint_card("softmax", hints, 3))
    assert last[-2] == "3. Third."
    assert last[-1].startswith("That was the last hint.") and 'give_up("softmax")' in last[-1]


COURSE = {
    "01_one": [Progress("one", 1, 1), Progress("<b>", 0, 2), Progress("two", 0, 3, given_up=True)],
    "02_two": [Progress("three", None, 2), Progress("four", 1, 2)],
    "03_three": [Progress("five", None, 4)],
}


LINKS = {
    "01_one": link("1. One", "../01_one/01_one.ipynb"),
    "02_two": link("2. Two & more", ""),
    "03_three": link("3. Three", ""),
}


def test_progress_lists_every_lesson_and_the_exercises_of_this_one():
    predicted = {"01_one": [1, None, 0], "02_two": [1]}
    card = progress_card(COURSE, predicted, {"01_one"}, LINKS)
    assert lines(card) == [
        "2 of 10 points in 2 lessons, each exercise as last checked",
        "1. One: 1 of 6 points",
        "✓ one: 1 of 1 point",
        "✗ <b>: 0 of 2 points",
        "○ two: 0 of 3 points, given up",
        "3 predictions: 1 right, of 2 made",
        "2. Two & more: 1 of 4 points",
        "3. Three: not started",
    ]
    assert color(card) == PARTLY
    rows = BeautifulSoup(card.html, "html.parser").find_all("tr")
    assert rows[0].find("a")["href"] == "../01_one/01_one.ipynb" and not rows[5].find("a")
    assert [row.find("td").text for row in rows][2:4] == ["✗ <b>", "○ two"]
    done, left = rows[0].find_all("td")[2].find("span").find_all("span")
    assert "width:17px" in done["style"] and "width:83px" in left["style"]


def test_progress_before_the_first_check():
    course = {"01_one": [Progress("one", None, 1)]}
    assert lines(progress_card(course, {}, (), LINKS))[0] == "Nothing checked yet"


def test_progress_is_green_when_everything_is_done():
    done = {"01_one": [Progress("one", 1, 1)]}
    assert color(progress_card(done, {}, (), LINKS)) == RIGHT
    both = done | {"02_two": [Progress("two", None, 1)]}
    card = progress_card(both, {"01_one": []}, {"01_one"}, LINKS)
    assert color(card) == RIGHT and lines(card)[-1] == "Next: 2. Two & more"


def test_progress_counts_no_challenges():
    states = {"open": None, "begun": 1, "solved": 2}
    dares = [Progress(name, points, 2, challenge=True) for name, points in states.items()]
    asked = {"01_one": [Progress("one", 1, 1), *dares]}
    card = progress_card(asked, {"01_one": []}, {"01_one"}, LINKS)
    title = "1 of 1 point in 1 lesson, each exercise as last checked"
    assert lines(card)[0] == title and color(card) == RIGHT
    assert lines(card)[3:] == [
        "○ open: a challenge",
        "○ begun: a challenge, not solved yet",
        "✓ solved: a challenge, solved",
    ]


def test_hints_of_a_challenge_mention_no_points():
    assert "point" not in hint_card("softmax", ["First."], 1, points=False).text


def test_a_solution_is_folded_below_its_verdict():
    given_up = Verdict("softmax", "01", [], sentence="Go on.", given_up=True)
    card = solution_card(given_up, "def softmax(x):\n    return x < 1")
    assert lines(card)[1:] == ["Go on.", "def softmax(x):", "return x < 1"]
    folded = BeautifulSoup(card.html, "html.parser").find("details")
    assert folded.summary.text == "the course's solution" and "x < 1" in folded.pre.text
    assert not folded.has_attr("open")
