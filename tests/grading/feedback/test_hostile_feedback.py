"""The attacks on formgrader, tried on feedback pages in a browser."""

import pytest

from autograder.grading.feedback.feedback_page import GradedNotebook, render_page
from autograder.grading.pages.notebook import Outline, read_cells
from tests.grading.feedback.made import facts
from tests.grading.formgrader.attacks import NAMES, attacks
from tests.grading.formgrader.made import graded_names, notebook_with
from tests.support.browser import new_page
from tests.support.sharing import every

GRADED = graded_names()
ATTACKS = attacks(GRADED[0])
POINTS = {name: (4, 2, None) for name in GRADED}
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
TOPMOST = """mark => {
    const {x, y, width, height} = mark.getBoundingClientRect();
    return mark.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
TWICE = """() => [...document.querySelectorAll("[id]")].map(one => one.id)
    .filter((id, place, all) => all.indexOf(id) !== place)"""
INSIDE = ".box, .shown, .printed, .source"


@pytest.fixture(scope="module")
def page():
    with new_page() as page:
        yield page


def show(page, folder, cells, learner="ada"):
    known = facts(POINTS, learner=learner)
    html = render_page(GradedNotebook(read_cells(notebook_with(cells)), known, Outline(learner)))
    (folder / "page.html").write_text(html, encoding="utf-8", errors="replace")
    page.goto((folder / "page.html").as_uri(), wait_until="load")


@pytest.mark.parametrize("attack", every(3, ATTACKS))
def test_it_does_nothing(page, tmp_path, attack):
    show(page, tmp_path, ATTACKS[attack])
    assert page.locator("meta[http-equiv]").get_attribute("content") == POLICY
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    # The course's own links lead out of the page.
    for link in page.locator(f":is({INSIDE}) :is(a:not([href^='https://']), b)").all():
        link.evaluate("link => link.click()")
    assert page.evaluate("window.evil") is None
    assert page.evaluate(TWICE) == []
    assert page.locator("p.grade strong").evaluate(TOPMOST)


@pytest.mark.parametrize("name", NAMES.values())
def test_a_name_is_text(page, tmp_path, name):
    show(page, tmp_path, [], name)
    assert page.locator("header bdi").text_content() == name
    assert page.evaluate("window.evil") is None


def test_the_policy_stops_a_script_that_got_by(page, tmp_path):
    show(page, tmp_path, [])
    html = page.content().replace("</body>", "<script>window.evil = 1</script></body>")
    (tmp_path / "with.html").write_text(html, encoding="utf-8")
    page.goto((tmp_path / "with.html").as_uri())
    assert page.evaluate("window.evil") is None
