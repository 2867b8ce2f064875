"""A headless browser for tests: Debian's Chromium, driven by Playwright."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests import programs

QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECONDS = 60


@contextmanager
def new_page(width: int = 1200, height: int = 900) -> Iterator[Page]:
    """An empty page in a browser of its own, which reaches nothing but this machine."""
    chromium = programs.find("chromium", "chromium")
    refused = ["--no-sandbox"] if os.getuid() == 0 else []  # by Chromium, for root
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=[*QUIET, *refused])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(SECONDS * 1000)
        page.route("**/*", lambda route, request: _only_here(route, request))
        try:
            yield page
        finally:
            browser.close()


def _only_here(route, request) -> None:
    local = request.url.startswith(("http://127.0.0.1:", "http://localhost:", "file:", "data:"))
    route.continue_() if local else route.abort()
