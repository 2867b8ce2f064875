"""A browser that opens pages with views."""

import pytest

from tests.support.browser import new_page
from tests.utils.views.made import html


@pytest.fixture(scope="module")
def browser():
    with new_page() as page:
        yield page.context.browser


@pytest.fixture
def open_view(browser):
    """Open a page with views. An error on it, and a request to anywhere, fails the test."""
    wrong = []
    page = browser.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url))

    def opened(*names):
        page.set_content(html(*names))
        return page

    yield opened
    page.close()
    assert [what for what in wrong if not what.startswith("data:")] == []
