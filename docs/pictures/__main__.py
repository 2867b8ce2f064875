"""Make the pictures of the README and the site from the lessons: `make pictures`."""

import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from playwright.sync_api import Page, sync_playwright

from autograder.judging.card import verdict_card
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

HERE = Path(__file__).parent
PAGE = "<!doctype html><body style='font: 14px sans-serif; width: 560px'>{}"


def main() -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 600, "height": 600}, device_scale_factor=2)
        for name, (html, act) in pictures().items():
            page.set_content(PAGE.format(html))
            act(page)
            page.evaluate("document.activeElement.blur()")
            page.locator("body").screenshot(path=HERE / f"{name}.png")
        browser.close()


def pictures() -> dict[str, tuple[str, Callable[[Page], None]]]:
    """Return HTML by name, and what to do with it before it is photographed."""
    return {
        "card": (card(), lambda page: None),
        "heads": (
            shown("03_multi_head", "view_heads("),
            lambda page: page.get_by_text("bites", exact=True).hover(),
        ),
        "squares": (
            shown("05_square_corners", "view_square("),
            lambda page: page.get_by_role("button", name="corner 1 at").press("ArrowLeft"),
        ),
    }


def card() -> str:
    """Return the card of scores that stopped after one word, as the README has it in text."""
    lesson, name = Lesson("01_dot_product_attention"), "query_scores"
    mistake = next(m for m in lesson.mistakes(lesson.asked[name]) if "inside the loop" in m.say)
    answer = lesson.namespace({name: mistake.variants[0]})[name]
    reference = find(name)
    verdict = judge_answer(answer, reference.questions[name], reference.keys[name])
    return verdict_card(verdict).html


def shown(lesson: str, call: str) -> str:
    """Return what the cell with this call shows in the executed notebook."""
    notebook = nbformat.read(Lesson(lesson).notebook_path, as_version=4)
    [cell] = [cell for cell in notebook.cells if cell.source.startswith(call)]
    return cell.outputs[0].data["text/html"]


if __name__ == "__main__":
    main()
