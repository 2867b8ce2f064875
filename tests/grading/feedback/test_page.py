"""What the page tells a learner: the grade, exercises, mistakes, comments, answers, the rest."""

import dataclasses
from datetime import timedelta
from itertools import pairwise

import pytest
from nbformat.v4 import new_output

from autograder.asking.answer import Answer
from autograder.asking.problem import Problem, ProblemKind
from autograder.grading.feedback.feedback_page import (
    GradedNotebook,
    NotGraded,
    render_page,
    why_not_graded,
)
from autograder.grading.pages.notebook import Outline
from autograder.grading.pages.template import duration
from autograder.grading.pages.untrusted import LONGEST_TEXT
from autograder.grading.submission.read_notebook import FRESH_COPY, BrokenSubmission
from autograder.grading.submission.restore import WHY_EMPTY
from autograder.grading.worker.graded_cells import NOT_RUN, VERDICT
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.references.store import find
from autograder.utils.palette import PARTLY, RIGHT, WRONG
from tests.grading.feedback.made import (
    LESSON,
    MISTAKE,
    MONDAY,
    POINTS,
    TWO,
    asserting,
    code,
    exercise,
    facts,
    markdown,
    notebook,
    page,
    parsed,
    rows,
    shown,
    solution,
    task,
    words,
    written,
)
from tests.support.accessible import barriers

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def header(soup):
    return words(soup.header)


def answers(soup):
    return [words(section) for section in soup.select("section.answer")]


def rest(soup):
    return words(soup.select_one(".rest"))


def test_on_top_is_who_what_and_how_much():
    soup = page(TWO, facts(POINTS))
    assert soup.html["lang"] == "en"
    assert soup.title.string == "1. Of two exercises: feedback for Ada King"
    assert words(soup.h1) == "1. Of two exercises"
    assert header(soup) == "Feedback for Ada King 1. Of two exercises 5 of 8 points"


def test_a_source_without_a_title_has_a_name():
    assert words(page(TWO, facts(POINTS), title="").h1) == "01 of two exercises"


def test_late_and_when(monkeypatch):
    known = facts(POINTS, penalty=1.5, submitted=MONDAY, late=timedelta(hours=27))
    soup = page(TWO, known)
    assert "3.5 of 8 points 5 points for your answers, less 1.5 for handing in late." in header(
        soup
    )
    assert "Handed in 21 September 2026, 14:05 UTC, 1 day 3 hours late." in header(soup)
    ruled = header(page(TWO, dataclasses.replace(known, late_percent=12.5)))
    assert "less 1.5 for handing in late (12.5% for each day that has begun)." in ruled
    monkeypatch.setenv("COURSE_TIME_ZONE", "Europe/Berlin")
    soup = page(TWO, known)
    assert "Handed in 21 September 2026, 16:05 CEST, 1 day 3 hours late." in header(soup)
    assert rows(soup)[-1] == ["handed in late", "−1.5", "1 day 3 hours"]


def test_a_penalty_never_takes_more_than_there_is():
    assert "0 of 8 points 5 points" in header(page(TWO, facts(POINTS, penalty=9)))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (20, "less than a minute"),
        (60, "1 minute"),
        (7_260, "2 hours 1 minute"),
        (86_400, "1 day"),
        (200_000, "2 days 7 hours"),
    ],
)
def test_durations(seconds, said):
    assert duration(seconds) == said


def test_each_exercise_has_its_points_its_state_and_its_mistake():
    cells = [
        *exercise("all", 4),
        *exercise("some", 1, MISTAKE),
        *exercise("none", 0, "It is *always* zero."),
        *exercise("open", 0, "`open` is not answered yet.", answered=False),
        *exercise("lost", 0, "The notebook stopped.", problems=(Problem(ProblemKind.NOT_RUN),)),
    ]
    known = {"all": 4, "some": 1, "none": 0, "open": 0, "lost": None}
    soup = page(cells, facts({f"check_{name}": (4, given, None) for name, given in known.items()}))
    assert rows(soup) == [
        ["all", "4 of 4", "✓ all points"],
        ["some", "1 of 4", "◐ some points Where is exp ?"],
        ["none", "0 of 4", "✗ no points It is *always* zero."],
        ["open", "0 of 4", "○ not answered"],
        ["lost", "– of 4", "… not graded yet The notebook stopped."],
    ]
    assert soup.select_one("table code").string == "all"
    assert "5 of 20 points so far" in header(soup)
    assert "1 of 5 exercises waits for your instructor, for up to 4 points." in header(soup)


def test_the_table_can_be_read_aloud():
    table = page(TWO, facts(POINTS)).select_one("table.exercises")
    assert [cell["scope"] for cell in table.find_all("th")] == ["col"] * 3 + ["row"] * 2
    assert all(sign["aria-hidden"] == "true" for sign in table.select(".state > span"))


def test_links_lead_to_the_answers_and_back():
    soup = page([*TWO, markdown("The end.")], facts(POINTS))
    targets = [link["href"][1:] for link in soup.find_all("a")]
    assert targets.count("answer-1") == targets.count("answer-2") == 2
    assert all(soup.find(id=target) for target in targets)


def test_exercises_come_in_the_order_of_the_lesson():
    order = ["softmax", "check_softmax", "attend", "check_attend"]
    soup = page([*TWO[2:], *TWO[:2]], facts(POINTS), order=order)
    assert [row[0] for row in rows(soup)] == ["softmax", "attend"]


def test_an_answer_is_code_and_its_card():
    soup = page(TWO, facts(POINTS))
    _, attend = soup.select("section.answer")
    assert words(attend.h3) == "attend"
    assert attend.select_one("pre .f").string == "attend"
    assert "✗ attend: 1 of 4 points" in words(attend.select_one(".shown"))
    assert "check(attend)" not in words(attend)


def test_a_cards_signs_have_colors_of_the_page():
    style = page(TWO, facts(POINTS)).style.string
    assert all(f'b[style*="{color}"]' in style for color in (RIGHT, PARTLY, WRONG))


def test_points_by_hand_and_extra_credit_are_named():
    soup = page(TWO, facts({**POINTS, "check_attend": (4, 1, 2, 0.5)}))
    said = "Your instructor gave 2 of 4 points; the check gave 1."
    extra = "Your instructor added 0.5 points of extra credit."
    assert rows(soup)[1] == ["attend", "2.5 of 4", f"◐ some points Where is exp ? {said} {extra}"]
    assert said in answers(soup)[1] and extra in answers(soup)[1]
    assert "6.5 of 8 points" in header(soup)


@pytest.mark.parametrize(
    ("given", "points", "said"),
    [
        ((4, None, 3), "3 of 4", ["Your instructor gave 3 of 4 points."]),
        ((4, 1, 1), "1 of 4", []),
        ((4, 4, None, 1), "5 of 4", ["Your instructor added 1 point of extra credit."]),
        ((4, 4, None, -1), "3 of 4", ["Your instructor took 1 point off."]),
        ((4, 1, None, 0, False, 4), "4 of 4", ["Your instructor adjusted this to 4 of 4 points."]),
        ((4, 4, None, 0, False, 4), "4 of 4", []),
        ((4, 1 / 3, 2 / 3), "0.67 of 4", ["gave 0.67 of 4 points; the check gave 0.33."]),
    ],
)
def test_what_a_person_changed(given, points, said):
    [row] = rows(page(exercise("softmax", 4), facts({"check_softmax": given})))
    assert row[1] == points
    assert all(sentence in row[2] for sentence in said) and row[2].count("Your") == len(said)


def test_comments_are_on_top_and_at_the_exercise():
    soup = page(
        [*TWO, solution("helper", "y = 1")],
        facts(POINTS, {"attend": "Look at row i.", "helper": "Not needed."}),
    )
    on_top = words(soup.select_one(".said"))
    assert on_top.startswith("On attend Look at row i.")
    assert on_top.endswith("On a cell in the rest of your notebook Not needed.")
    assert "Your instructor says: Look at row i." in answers(soup)[1]
    assert "Your instructor says: Not needed." in rest(soup)


def test_a_comment_is_shown_as_it_was_written():
    said = "# `__init__`: 2*3*4\n\n\t$5 and $6, <b>not</b> &lt;\r\n- [x](y)"
    soup = page(TWO, facts(POINTS, {"attend": f"\n{said}\n"}))
    for comment in soup.select(".said dd, .comment"):
        [plain] = comment.select(".plain")
        assert plain.get_text() == said.replace("\r", "") and not plain.find(True)
    assert len(soup.select(".plain")) == 2
    assert "white-space: pre-wrap" in soup.style.string.split(".plain")[1]


def test_without_comments_there_is_no_place_for_them():
    said = words(page(TWO, facts(POINTS)))
    assert "Your instructor says" not in said and "From your instructor" not in said


def test_a_notebook_that_could_not_be_graded_says_why():
    cells = exercise(
        "softmax", 0, "The notebook stopped.", problems=(Problem(ProblemKind.NOT_RUN),)
    )
    known = facts({"check_softmax": (4, None, None)})
    soup = page(cells, known, why="`while True` took too long")
    assert "No grade yet" in header(soup) and "of 4 points" not in header(soup)
    assert "This notebook could not be graded: while True took too long" in header(soup)
    assert "Your instructor still has to look at it." in header(soup)
    assert rows(soup) == [["softmax", "– of 4", "… not graded yet"]]


def test_the_page_of_a_damaged_notebook_says_so_once():
    why = "The file is empty: save it again."
    told = markdown(f"**This notebook could not be graded**: {why}", **{WHY_EMPTY: True})
    cells = exercise(
        "softmax", 0, f"The check did not run: {why}", problems=(Problem(ProblemKind.NOT_RUN),)
    )
    known = facts({"check_softmax": (4, None, None)})
    soup = page([told, *cells], known, why=why)
    assert words(soup).count(why) == 1
    assert "0 of 4" not in words(soup)
    assert soup.select_one(".rest") is None


def unread(name, why):
    """Make the cells of an exercise in a notebook that could not be read."""
    said = f"The check of `{name}` did not run: {why}"
    _, check = exercise(name, 0, said, problems=(Problem(ProblemKind.NOT_RUN, why),))
    return [solution(name, ""), check]


def test_what_has_nothing_to_show_has_no_section_and_no_link():
    why = "The file is empty: save the notebook and hand it in again."
    cells = [*unread("softmax", why), *unread("attend", why)]
    nothing = {"check_softmax": (4, None, None), "check_attend": (4, None, None)}
    soup = page(cells, facts(nothing), why=why)
    assert answers(soup) == [] and "Your answers" not in words(soup)
    assert soup.table.a is None and [row[0] for row in rows(soup)] == ["softmax", "attend"]
    soup = page(cells, facts(nothing, {"attend": "Come and see me."}), why=why)
    assert [words(section.h3) for section in soup.select("section.answer")] == ["attend"]
    assert all(soup.find(id=link["href"][1:]) for link in soup.find_all("a"))


def test_a_damaged_notebook_graded_by_hand_has_its_points_and_no_cards():
    broken = BrokenSubmission("The notebook is cut off: it is not valid JSON", FRESH_COPY)
    why = str(broken)
    cells = [*unread("softmax", why), *unread("attend", why)]
    known = facts({"check_softmax": (4, None, 4), "check_attend": (4, None, 0)}, {"softmax": "Hi"})
    soup = page(cells, known, why=why, cause=broken.cause)
    assert rows(soup) == [
        ["softmax", "4 of 4", "✓ all points Your instructor gave 4 of 4 points."],
        ["attend", "0 of 4", "✗ no points Your instructor gave 0 of 4 points."],
    ]
    assert words(soup).count("valid JSON") == 1 and "hand that in" not in words(soup)
    assert not soup.select(".shown") and len(answers(soup)) == 1


def test_a_part_that_was_not_judged_has_no_card():
    lost = exercise(
        "attend", 0, "It stopped.", problems=(Problem(ProblemKind.NOT_RUN, "It stopped."),)
    )
    known = facts({**POINTS, "check_attend": (4, None, None)})
    soup = page([*TWO[:2], *lost], known, why="It stopped.")
    assert [len(section.select(".shown")) for section in soup.select("section.answer")] == [1, 0]
    assert "def attend" in answers(soup)[1] and words(soup).count("It stopped.") == 1


def test_a_test_that_was_not_run_says_why_once():
    error = new_output("error", ename=NOT_RUN, evalue="It is cut off.", traceback=[])
    known = facts({"test_x": (2, None, None)})
    soup = page([asserting("test_x", "assert x", 2, error)], known, why="It is cut off.")
    assert rows(soup) == [["test_x", "– of 2", "… not graded yet"]]


def test_a_part_that_could_not_be_graded_says_why():
    known = facts({**POINTS, "check_attend": (4, None, None)})
    soup = page(TWO, known, why="it was cut off")
    assert "A part of this notebook could not be graded: it was cut off" in header(soup)
    assert "4 of 8 points so far" in header(soup)


def test_points_by_hand_end_the_waiting():
    known = facts({"check_softmax": (4, None, 3)})
    soup = page(exercise("softmax", 0), known, why="it was cut off")
    assert "This notebook could not be graded: it was cut off" in header(soup)
    assert "Your instructor gave the points by hand." in header(soup)
    assert "3 of 4 points" in header(soup) and "so far" not in header(soup)


def test_an_instructors_own_lesson():
    error = new_output("error", ename="AssertionError", evalue="x is `1`", traceback=["Trace", "x"])
    cells = [
        solution("x", "x = 2"),
        asserting("test_x", "assert x == 1", 2, error),
        asserting("test_type", "assert type(x) is int", 1),
        written("why", "Because *of* $x$.", 3),
        written("how", "I would", 2),
        task("plot", "Plot it.", 5),
        code("plot(x)"),
    ]
    known = {"test_x": (2, 0, None), "test_type": (1, 1, None), "why": (3, None, 2)}
    soup = page(cells, facts({**known, "how": (2, None, None), "plot": (5, None, None)}))
    assert rows(soup) == [
        ["test_x", "0 of 2", "✗ no points The test stopped with AssertionError : x is '1'"],
        ["test_type", "1 of 1", "✓ all points"],
        ["why", "2 of 3", "◐ some points"],
        ["how", "– of 2", "… not graded yet Your instructor grades this one."],
        ["plot", "– of 5", "… not graded yet Your instructor grades this one."],
    ]
    first, second, third, _, last = answers(soup)
    assert "x = 2 The test: assert x == 1 Trace x" in first
    assert "x = 2" not in second and "The test: assert type(x) is int" in second
    assert "Because of x ." in third
    assert "The task: Plot it. What you did is in the rest of your notebook ." in last
    assert "plot(x)" in rest(soup)


def test_a_written_answer_may_look_like_a_check():
    about = written("why", "", 3).metadata
    soup = page([code("check(softmax)", **about)], facts({"why": (3, None, None)}))
    assert rows(soup)[0][0] == "why" and "check(softmax)" in answers(soup)[0]


def test_what_came_back_as_it_was_handed_out_is_not_answered():
    cells = [solution("x", ""), asserting("test_x", "assert x", 2), written("why", "", 3)]
    known = {"test_x": (2, 0, None), "why": (3, 0, None)}
    soup = page(cells, facts(known, untouched=("x", "why")))
    assert [row[2] for row in rows(soup)] == ["○ not answered"] * 2


def test_a_test_that_did_not_run_says_so():
    error = new_output("error", ename=NOT_RUN, evalue="It took too long.", traceback=[])
    soup = page([asserting("test_x", "assert x", 2, error)], facts({"test_x": (2, None, None)}))
    [row] = rows(soup)
    assert row[2] == "… not graded yet The notebook stopped before this test. It took too long."


def test_cells_without_a_name_are_counted():
    name = "cell-0123456789abcdef"
    soup = page([asserting(name, "assert x", 0)], facts({name: (0, 0, None)}))
    assert rows(soup) == [["Part 1", "0 of 0", "– without points"]]


def test_a_graded_cell_that_is_not_in_the_notebook_counts_all_the_same():
    soup = page(TWO[:2], facts(POINTS))
    assert [row[0] for row in rows(soup)] == ["softmax", "check_attend"]


def test_a_second_cell_of_the_same_name_does_not_count():
    soup = page([*TWO, *TWO[2:]], facts(POINTS))
    assert len(rows(soup)) == 2


def test_without_exercises_there_is_a_page():
    soup = page([markdown("Hello")], facts({}))
    assert "Nothing in this notebook is graded." in words(soup.main) and "Hello" in rest(soup)


def test_the_rest_is_folded_in_order():
    cells = [markdown("# One\n\n### Two"), *TWO, code("a = 1", [new_output("stream", text="out")])]
    soup = page(cells, facts(POINTS))
    assert not soup.details.has_attr("open")
    assert words(soup.details) == (
        "The other 2 cells One Two softmax is shown above. attend is shown above. a = 1 out"
    )
    assert [title.name for title in soup.details.find_all(["h2", "h3", "h4", "h5"])] == ["h3", "h4"]


def test_what_the_course_shows_is_named_once():
    picture = {
        "text/html": '<img alt="a" src="data:image/png;base64,AAAA">',
        "text/plain": "A dot.",
    }
    cells = [shown("plot()", new_output("display_data", picture)), shown("1", new_output("stream"))]
    soup = page([*TWO, *cells], facts(POINTS))
    assert rest(soup).count("the course's own") == 1
    assert "A dot." in words(soup.select_one(".courses-own")) and not soup.find("img")
    assert "course's own" not in words(page(TWO, facts(POINTS)))


def test_headings_have_no_gaps():
    cells = [markdown("### deep\n\n# high\n\n###### deepest"), written("why", "#### a\n\n# b", 1)]
    soup = page([*TWO, *cells], facts({**POINTS, "why": (1, 1, None)}, {"why": "##### c"}))
    levels = [int(title.name[1]) for title in soup.find_all(["h1", "h2", "h3", "h4", "h5", "h6"])]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize(
    "damage",
    [
        "no dictionary",
        {},
        {"aspects": [], "answered": True, "points": float("nan")},
        {"aspects": [[1]], "answered": 1},
        {"aspects": [], "answered": True, "exercise": ["x"], "points": 1, "max_points": 1},
        None,
    ],
    ids=repr,
)
def test_a_damaged_verdict_does_not_break_the_page(damage):
    cells = exercise("softmax", 4)
    cells[1].metadata[VERDICT] = damage
    soup = page(cells, facts({"check_softmax": (4, 3, None)}))
    [row] = rows(soup)
    assert row == ["softmax", "3 of 4", "◐ some points What the check found can't be read here."]
    assert "softmax: 4 of 4 points" in answers(soup)[0]


def test_damaged_facts_about_the_run_do_not_break_the_page():
    run = {"outcome": "not graded", "reason": "it was cut off"}
    assert why_not_graded(run) == NotGraded("it was cut off", "it was cut off")
    advised = run | {"reason": "it was cut off: save it.", "cause": "it was cut off."}
    assert why_not_graded(advised) == NotGraded("it was cut off: save it.", "it was cut off.")
    for damaged in (
        {},
        {"outcome": 3, "reason": None},
        {"outcome": "graded", "reason": ""},
        run | {"cause": 3},
    ):
        assert why_not_graded(damaged) == NotGraded()


def test_a_notebook_that_can_not_be_shown_costs_no_points():
    reason = "it took more than 20 seconds of processor time"
    html = render_page(GradedNotebook((), facts(POINTS), Outline("Two"), unshown=reason))
    said = words(parsed(html))
    assert "5 of 8 points" in said
    assert f"Your notebook can't be shown here: {reason}." in said


def test_everybody_can_use_the_page(tmp_path):
    key = find("masked_softmax").keys["masked_softmax"]
    wrong = [
        Answer({name: 1 + value for name, value in case.expected.items()}) for case in key.cases
    ]
    card = verdict_card(judge(key, wrong))
    cells = [
        *TWO,
        code("check(masked_softmax)", [shows("text/html", card.html)]),
        code("plot()", [shows("image/png", PIXEL), new_output("error", traceback=["\x1b[31mE"])]),
        markdown("# More\n\n$$x^2$$\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        written("why", "Because.", 3),
    ]
    known = facts(POINTS | {"why": (3, None, None)}, {"why": "Why?"})
    path = tmp_path / "page.html"
    path.write_text(
        render_page(GradedNotebook(notebook(*cells), known, Outline("Two"))), encoding="utf-8"
    )
    assert barriers(path) == []


def shows(kind, data):
    return new_output("display_data", {kind: data, "text/plain": "in words"})


def test_a_sentence_has_a_limit():
    soup = page(exercise("softmax", 0, "word " * 10_000), facts({"check_softmax": (4, 0, None)}))
    assert len(rows(soup)[0][2]) < LONGEST_TEXT + 20


def test_another_notebook_of_a_lesson_is_named():
    known = facts(POINTS)
    object.__setattr__(known, "notebook", "problem 2")
    assert f"{LESSON}, notebook problem 2" in header(page(TWO, known))
