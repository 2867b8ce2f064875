"""A browser that opens pages with views."""

import pytest

from tests.support.browser import new_page
from tests.utils.views.made import html


@pytest.fixture(scope="module")
def browser():
    with new_page() as page:
        yield page.context.browser


@pytest.fixture(scope="module")
def watched(browser):
    """A page for one test after another, and the list of its errors and requests."""
    page, wrong = browser.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url))
    return page, wrong


@pytest.fixture
def open_view(watched):
    """Open a page with views. An error on it, and a request to anywhere, fails the test."""
    page, wrong = watched
    page.mouse.move(0, 0)
    page.emulate_media(color_scheme="light")
    page.goto("about:blank")
    wrong.clear()

    def opened(*names):
        page.set_content(html(*names))
        return page

    yield opened
    page.evaluate("0")  # what went wrong so far is told before the answer
    assert [what for what in wrong if not what.startswith("data:")] == []
