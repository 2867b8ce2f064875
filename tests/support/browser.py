"""A headless browser for tests: Debian's Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect, sync_playwright

from tests.support import programs
from tests.support.waiting import HANG

OPTIONS = (
    "--disable-gpu",
    "--disable-dev-shm-usage",  # it may be small in a container
    "--no-sandbox",  # may be unavailable, and must be off as root; it shows only our own pages
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # It can reach only this machine: a proxy that isn't there is asked for everything else.
    "--proxy-server=http://127.0.0.1:9",
)


@contextmanager
def new_page(width: int = 1200, height: int = 900) -> Iterator[Page]:
    """Open an empty page in a new browser that can reach only this machine."""
    chromium = programs.find("chromium", "chromium")
    milliseconds = HANG * 1000
    expect.set_options(timeout=milliseconds)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=OPTIONS, timeout=milliseconds)
        context = browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(milliseconds)
        try:
            yield context.new_page()
        finally:
            browser.close()
