"""Grading with the mouse: nbgrader's formgrader in a browser, as `make formgrader` starts it."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.support import asking
from tests.support.browser import new_page
from tests.support.classroom import LESSON, gradebook, hand_in, make_course
from tests.support.formgrader import configure, formgrader_at

pytestmark = pytest.mark.usefixtures("sandbox")
COUNT = 6
STUDENT = "learner_004"  # answers exercise 1, and has a syntax error in exercise 2
WRITER = "writer"  # answers only the question that a person grades


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course directory with the course's own settings, a question, and a few submissions."""
    course = tmp_path_factory.mktemp("course")
    configure(course)
    make_course(course, COUNT - 1)
    notebook = nbformat.read(asking.ask(course).released_path, as_version=4)
    asking.cell_of(notebook, asking.NAME).source = "Because **variance** grows."
    hand_in(course, WRITER, notebook)
    return course


@pytest.fixture(scope="module")
def address(course):
    """The address of a Jupyter server in the course directory."""
    with formgrader_at(course) as address:
        yield address


def grade(page, address, learner):
    """Grade a submission with the button; return its row in the list of submissions."""
    page.goto(address)
    page.get_by_role("link", name=str(COUNT), exact=True).click()  # its submissions
    expect(page.locator("tbody tr")).to_have_count(COUNT)
    row = page.locator("tbody tr").filter(has_text=learner)
    expect(row).to_contain_text("needs autograding")
    row.locator(".autograde a").click()
    dialog = page.locator(".modal-body")
    expect(dialog).to_contain_text("Successfully autograded")
    expect(dialog).to_contain_text("1 graded, 0 unanswered, 0 not graded")
    page.get_by_role("button", name="OK").click()
    return row


def test_without_an_exchange_nothing_looks_wrong_or_graded(address, tmp_path):
    with new_page() as page:
        page.goto(address)
        row = page.locator("tbody tr").filter(has_text=LESSON.name)
        expect(row.locator(".status")).to_have_text("in notebooks/")
        expect(page.get_by_text("Release and Collect need nbgrader's exchange")).to_be_visible()
        expect(page.locator(".alert-warning")).to_have_count(0)
        page.screenshot(path=tmp_path / "lessons.png")
        page.goto(f"{address.split('/formgrader')[0]}/formgrader/manage_students/{STUDENT}")
        row = page.locator("tbody tr").filter(has_text=LESSON.name)
        expect(row.locator(".name")).to_have_text(f"{LESSON.name} (not graded yet)")
        expect(row.locator(".score")).to_have_text("–")
        page.screenshot(path=tmp_path / "learner.png")


def test_the_button_grades_and_points_and_card_are_seen(address, tmp_path):
    with new_page() as page:
        row = grade(page, address, STUDENT)
        most = sum(exercise.points for exercise in LESSON.exercises) + asking.POINTS
        expect(row).to_contain_text(f"2 / {most}")
        page.screenshot(path=tmp_path / "list.png")
        row.get_by_role("link").first.click()
        page.get_by_role("link", name=LESSON.name, exact=True).last.click()
        card = page.get_by_text("query_scores: 2 of 2 points")
        expect(card).to_be_visible()
        expect(page.get_by_text("softmax: 0 of 5 points")).to_be_visible()
        expect(page.locator("input.score").first).to_have_attribute("placeholder", "2")
        card.scroll_into_view_if_needed()
        page.screenshot(path=tmp_path / "card.png")


@pytest.mark.long
def test_an_answer_in_words_is_graded_beside_its_mark_scheme(address, course, tmp_path):
    def saved():
        with gradebook(course) as book:
            given = book.find_grade(asking.NAME, LESSON.name, LESSON.name, WRITER)
            return given.manual_score, given.needs_manual_grade

    with new_page() as page:
        row = grade(page, address, WRITER)
        expect(row).to_contain_text("needs manual grading")
        row.get_by_role("link").first.click()
        page.get_by_role("link", name=LESSON.name, exact=True).last.click()
        answer = page.locator(".text_cell", has=page.locator(f"input#{asking.NAME}"))
        expect(answer).to_contain_text("Because variance grows.")
        question = answer.locator("xpath=preceding-sibling::*[1]")
        expect(question).to_contain_text(asking.RUBRIC)
        points = answer.locator("input.score")
        points.scroll_into_view_if_needed()
        points.fill("3")
        with page.expect_response(lambda reply: reply.request.method == "PUT"):
            points.press("Tab")
            expect(answer.locator(".score-saved")).to_be_visible()
        assert saved() == (3, False)
        page.screenshot(path=tmp_path / "answer.png")
