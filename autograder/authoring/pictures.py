"""Make the pictures of the README and the site from the lessons: `make pictures`.

Beside them, a file records what each was made from, so that a test knows when one is stale.
"""

import json
import math
import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from autograder.authoring.shown import shown
from autograder.judging.card import verdict_card
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.places import ROOT
from autograder.references.store import find

HERE = ROOT / "docs" / "pictures"
RECORD = HERE / "made_from.json"
PAGE = """<!doctype html><style>
body { font: 14px sans-serif; width: 560px }
:focus { outline: 0 }
</style><body>"""
STILL = re.compile(r"<img [^>]*>")  # in a view, the script replaces it
FRAMES, FRAME_MILLISECONDS = 48, 80
RADII = (0.55, 0.5)  # of the corner's way, in the square's units
PIXELS_PER_UNIT = 75


def main() -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 600, "height": 600}, device_scale_factor=2)
        for name, html in sources().items():
            page.set_content(PAGE + html)
            _take(page, HERE / name)
        browser.close()
    RECORD.write_text(json.dumps(digests(), indent=2) + "\n", encoding="utf-8")


def sources() -> dict[str, str]:
    """Return the HTML that each picture is taken of, by the picture's file name."""
    return {
        "card.png": card(),
        "squares.webp": shown(Lesson("05_square_corners"), "view_square("),
    }


def digests() -> dict[str, str]:
    """Hash what each picture is made from: what is shown, and how it is taken."""
    how = Path(__file__).read_text(encoding="utf-8")
    made_from = {name: how + STILL.sub("", html) for name, html in sources().items()}
    return {name: sha256(text.encode()).hexdigest() for name, text in made_from.items()}


def card() -> str:
    """Return the card of scores that stopped after one word, as the README has it in text."""
    lesson, name = Lesson("01_dot_product_attention"), "query_scores"
    mistake = next(m for m in lesson.mistakes(lesson.asked[name]) if "inside the loop" in m.say)
    answer = lesson.namespace({name: mistake.variants[0]})[name]
    reference = find(name)
    verdict = judge_answer(answer, reference.questions[name], reference.keys[name])
    return verdict_card(verdict).html


def _take(page: Page, path: Path) -> None:
    """Take the picture of what a page shows; a moving one, if it is the view of a square."""
    if path.suffix == ".png":
        page.locator("body").screenshot(path=path)
        return
    first, *others = (Image.open(BytesIO(png)) for png in _dragged(page))
    first.save(
        path, save_all=True, append_images=others, duration=FRAME_MILLISECONDS, loop=0, quality=80
    )


def _dragged(page: Page) -> Iterator[bytes]:
    """Drag corner 1 around an ellipse, back to where it was, and yield a PNG of each step."""
    box = page.get_by_role("button", name="corner 1 at").bounding_box()
    assert box, "the view has a corner 1"
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(FRAMES):
        turn = 2 * math.pi * step / FRAMES
        right, down = RADII[0] * (1 - math.cos(turn)), RADII[1] * math.sin(turn)
        page.mouse.move(x + PIXELS_PER_UNIT * right, y + PIXELS_PER_UNIT * down)
        yield page.locator("figure svg").screenshot()


if __name__ == "__main__":
    main()
