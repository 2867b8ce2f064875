"""The report shows what submissions say as text: the attacks on formgrader, tried in a browser."""

import pytest

from autograder.grading.report.write_reports import write_reports
from tests.grading.formgrader.attacks import NAMES, RUN
from tests.grading.report.made import (
    LESSON,
    notebook,
    problem,
    verdict,
    write_class,
    write_gradebook,
    wrong,
)
from tests.support.browser import new_page

EVIL = [
    f"<img src=x onerror='{RUN}'>",
    f"</script><script>{RUN}</script>",
    f"<a href='javascript:{RUN}'>click</a>",
    '<div class="modal in" id="grades" style="position:fixed;inset:0;background:red">x</div>',
]
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page on a class whose verdicts, code and reasons are attacks, and some of its names."""
    course = tmp_path_factory.mktemp("course")
    made = {}
    for number, evil in enumerate(EVIL):
        made[f"wrong_{number}"] = notebook(wrong("softmax", evil, evil), verdict("attend"))
        found = [problem(exercise, evil, evil) for exercise in ("softmax", "attend")]
        made[f"not_{number}"] = notebook(*found, "not graded", evil, source=evil)
    plain = notebook(verdict("softmax"), verdict("attend"))
    made |= {name: plain for name in NAMES.values() if "/" not in name}
    write_gradebook(course / "gradebook.db", made)
    write_class(course, made)
    [(_, page)] = write_reports(LESSON, course)
    return page.as_uri()


@pytest.fixture(scope="module")
def page(address):
    with new_page() as page:
        page.goto(address, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        yield page


def test_it_does_nothing(page):
    for link in page.locator("a:not([href^='#'])").all():
        assert link.get_attribute("href").startswith(("#", "..", "%"))
    assert page.evaluate("window.evil") is None
    assert page.locator("img, .modal, [onerror], main script").count() == 0
    assert page.locator("#grades").count() == 1
    assert "onerror" in page.locator("body").text_content()


def test_only_learners_are_on_it(page):
    text = page.locator("body").text_content()
    assert NAMES["apostrophe"] in text
    assert not any(
        name in text for key, name in NAMES.items() if key != "apostrophe" and name not in EVIL
    )


def test_its_own_script_is_the_only_one_that_runs(page, address, tmp_path):
    assert page.locator("meta[http-equiv]").get_attribute("content").startswith(POLICY)
    html = page.content().replace(
        "</body>", f"<script>{RUN}</script><b onclick='{RUN}'>b</b></body>"
    )
    (tmp_path / "with.html").write_text(html, encoding="utf-8")
    page.goto((tmp_path / "with.html").as_uri())
    page.locator("b").last.evaluate("one => one.click()")
    assert page.evaluate("window.evil") is None
