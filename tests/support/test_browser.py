"""The tests' browser reaches only this machine."""

from http.server import HTTPServer, SimpleHTTPRequestHandler
from threading import Thread

import pytest
from playwright.sync_api import Error

from tests.support.browser import new_page


@pytest.fixture(scope="module")
def context():
    with new_page() as page:
        yield page.context


@pytest.fixture
def page(context):
    """A page of its own: what fails in another one can still interrupt what comes next there."""
    with context.new_page() as page:
        yield page


@pytest.mark.parametrize("host", ["example.org", "192.0.2.1", "[2001:db8::1]"])
def test_the_rest_of_the_network_is_out_of_reach(page, host):
    with pytest.raises(Error, match="ERR_PROXY_CONNECTION_FAILED"):
        page.goto(f"http://{host}/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_not(page, host):
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert page.goto(f"http://{host}:{server.server_port}/").status == 200
        server.shutdown()
