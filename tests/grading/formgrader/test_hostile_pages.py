"""Nothing in a submission acts on formgrader's pages, and points are entered beside it."""

import urllib.request
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.grading.formgrader.attacks import BROKEN, NAMES, attacks
from tests.grading.formgrader.made import (
    graded_names,
    make_hostile_course,
    notebook_with,
    points_given,
    submission_ids,
)
from tests.support.browser import new_page
from tests.support.classroom import LESSON
from tests.support.formgrader import formgrader_at
from tests.support.sharing import every
from tests.support.waiting import wait_until

GRADED = graded_names()
ATTACKS = attacks(GRADED[0])
NOTEBOOKS = {
    **{learner: notebook_with(cells) for learner, cells in ATTACKS.items()},
    **BROKEN,
    "lost": None,
    **dict.fromkeys(NAMES.values(), notebook_with([])),
}
TOPMOST = """field => {
    const {x, y, width, height} = field.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) === field;
}"""
# Names that a submission's content has, and ways out of its box.
TRESPASSES = """() => [...document.querySelectorAll(".inert *")].flatMap(one => [
    one.id, one.getAttribute("name"), one.dataset.call, one.getAttribute("onclick"),
    getComputedStyle(one).position === "static" ? null : "moved",
    getComputedStyle(one).transform === "none" ? null : "transformed"].filter(Boolean))"""
# What could act when clicked; the course's own links lead out of the page.
ACTS = ".inert a:not([href^='https://']), .inert b"
LISTS = ("gradebook/{lesson}/{lesson}", "manage_submissions/{lesson}", "manage_students")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    make_hostile_course(course, NOTEBOOKS)
    return course


@pytest.fixture(scope="module")
def ids(course):
    return submission_ids(course)


@pytest.fixture(scope="module")
def address(course):
    with formgrader_at(course) as address:
        yield f"{address}/formgrader"


@pytest.fixture(scope="module")
def page(address):
    with new_page() as page:
        yield page


def wait_for_list(page):
    wait_until(lambda: page.evaluate("typeof models === 'object' && models.loaded"))


def ran(page):
    return page.evaluate("window.evil") is not None


@pytest.mark.parametrize("learner", every(3, NOTEBOOKS))
def test_points_are_entered_beside_it(page, address, course, ids, learner):
    reply = page.goto(f"{address}/submissions/{ids[learner]}/", wait_until="load")
    assert reply.status == (404 if learner == "lost" else 200)
    fields = page.locator("input.score")
    assert fields.evaluate_all("fields => fields.map(field => field.id)") == GRADED
    assert page.evaluate(TRESPASSES) == []
    for link in page.locator(ACTS).all():
        link.evaluate("link => link.click()")
    wait_until(lambda: page.evaluate("formgrader.grades && formgrader.grades.loaded"))
    field = fields.first
    field.focus()
    expect(field).to_be_focused()
    assert field.evaluate(TOPMOST)
    field.fill("0.5")
    with page.expect_response(lambda reply: reply.request.method == "PUT") as saved:
        field.press("Tab")
    assert saved.value.ok and points_given(course, learner, GRADED[0]) == 0.5
    assert not ran(page)
    broken = learner in BROKEN or learner == "lost"
    assert page.locator("#trouble").count() == (broken and learner != "odd-cells")


@pytest.mark.parametrize("place", LISTS)
def test_names_in_lists_are_text(page, address, place):
    page.goto(f"{address}/{place.format(lesson=LESSON.name)}", wait_until="load")
    wait_for_list(page)
    assert not ran(page)
    text = page.locator("#main-table").text_content()
    assert all(name in text for name in NAMES.values()) or "manage_submissions" in place


@pytest.mark.parametrize("name", NAMES.values())
def test_the_pages_of_a_learner_show_the_name_as_text(page, address, name):
    page.goto(f"{address}/manage_students/{quote(name, safe='')}", wait_until="load")
    page.wait_for_load_state("networkidle")
    assert name in page.locator(".breadcrumb").text_content() and not ran(page)


def policy_of(address):
    try:
        with urllib.request.urlopen(address) as reply:
            return reply.headers["Content-Security-Policy"]
    except HTTPError as error:
        return error.headers["Content-Security-Policy"]


def test_each_page_has_a_policy_of_its_own(address, ids, course):
    first = next(iter(ids.values()))
    (course / "autograded" / "img" / LESSON.name).mkdir(parents=True, exist_ok=True)
    pages = ["manage_assignments", "gradebook", "manage_students", f"submissions/{first}/", "none"]
    nonces = set()
    for place in pages:
        policy = policy_of(f"{address}/{place}")
        assert policy.startswith("default-src 'none'; script-src 'nonce-"), place
        assert "img-src 'self' data:" in policy and "connect-src 'self'" in policy
        assert "frame-ancestors 'self'" in policy
        nonces.add(policy.partition("'nonce-")[2].partition("'")[0])
    assert len(nonces) == len(pages)


@pytest.mark.parametrize("place", ["api/students", "api/grades", "submissions/{id}/x.html"])
def test_responses_other_than_pages_can_do_nothing(address, ids, place):
    policy = policy_of(f"{address}/{place.format(id=next(iter(ids.values())))}")
    assert policy.startswith("default-src 'none'") and "sandbox" in policy
    assert "script-src" not in policy


def test_a_page_beside_a_notebook_runs_nothing(page, address, course, ids):
    folder = course / "autograded" / "script" / LESSON.name
    html = "<p>shown</p><script>document.querySelector('p').textContent = 'evil'</script>"
    (folder / "x.html").write_text(html, encoding="utf-8")
    page.goto(f"{address}/submissions/{ids['script']}/x.html")
    assert page.locator("p").text_content() == "shown"


def test_no_link_opens_a_learners_folder_as_a_course(page, address, course):
    """nbgrader runs the nbgrader_config.py that it finds there."""
    folder = course / "submitted" / "mallory" / LESSON.name
    folder.mkdir(parents=True)
    for config in (folder, folder.parent):
        trace = f"open({str(course / 'ran.txt')!r}, 'w')"
        (config / "nbgrader_config.py").write_text(trace, encoding="utf-8")
    for path in (folder, folder.parent, f"submitted/mallory/{LESSON.name}", "/"):
        reply = page.goto(f"{address}?path={path}")
        assert reply.status == 403 and str(course) in page.locator("p").last.text_content()
    assert not (course / "ran.txt").exists()
    assert page.goto(f"{address}?path={course}").status == 200


def test_no_markdown_is_promised_for_comments(page, address, ids):
    page.goto(f"{address}/submissions/{ids['script']}/", wait_until="load")
    hint = "Comment for the learner, shown as you write it"
    expect(page.locator("textarea.comment").first).to_have_attribute("placeholder", hint)


def test_buttons_and_shortcuts_work(page, address, ids):
    page.goto(f"{address}/manage_students", wait_until="load")
    page.get_by_role("link", name="Add new student").click()
    expect(page.locator("#add-student-modal")).to_be_visible()
    page.goto(f"{address}/gradebook/{LESSON.name}/{LESSON.name}", wait_until="load")
    wait_for_list(page)
    page.get_by_role("button", name="Show All Names").click()
    expect(page.locator("a.name-shown", has_text=NAMES["apostrophe"])).to_be_visible()
    page.goto(f"{address}/submissions/{ids[NAMES['apostrophe']]}/", wait_until="load")
    page.locator(".glyphicon-eye-open").click()
    expect(page.locator("a.name-shown")).to_have_text(NAMES["apostrophe"])
    page.locator(".help").click()
    expect(page.locator("#help-dialog")).to_contain_text("Flag the submission")


def test_buttons_for_points_can_be_read(page, address, ids):
    page.goto(f"{address}/submissions/{ids['script']}/", wait_until="load")
    assert Axe().run(page, context=".scoring-buttons").response["violations"] == []
