"""The limits of one page, because a submission could make its size and time grow without end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MOST_HTML = 440_000  # bytes made from the submission
MOST_PICTURES = 200_000  # bytes of those that may be pictures
MOST_PIXELS = 40_000_000  # of all pictures, which take four bytes each in a browser
MOST_SECONDS = 10.0


@dataclass
class Budget:
    """What is left of a page's limits.

    pixels: what the pictures on it may still have.
    most_pictures: what `pictures` was at the start.
    full: whether something was left out because it would have been too much.
    """

    html: int = MOST_HTML
    pictures: int = MOST_PICTURES
    pixels: int = MOST_PIXELS
    seconds: float = MOST_SECONDS
    full: bool = False

    def __post_init__(self) -> None:
        self.most_pictures = self.pictures

    def take(self, html: str) -> str:
        """Return the HTML, or an empty string if there is no room for it."""
        size = len(html.encode(errors="replace"))
        if size > self.html:
            self.full = True
            return ""
        self.html -= size
        return html

    def has_room_for_picture(self, url: str, pixels: int) -> bool:
        """Whether a picture fits; if so, it is counted."""
        fits = len(url) <= min(self.pictures, self.html) and pixels <= self.pixels
        self.pictures -= len(url) * fits
        self.pixels -= pixels * fits
        return fits

    @property
    def in_time(self) -> bool:
        return self.seconds > 0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time that the body takes."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds -= time.monotonic() - start
