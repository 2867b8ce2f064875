"""The site has all lessons, no solutions, and no external files; everybody can read it."""

import shutil
import subprocess
import sys
from textwrap import indent

import pytest
from playwright.sync_api import expect

from autograder.authoring import site
from autograder.authoring.notebooks import INDENT
from autograder.lessons import ROOT
from autograder.lessons.cells import prediction_asked
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.notebook.cards import choices_html
from tests.support.accessible import barriers_on
from tests.support.browser import new_page

SERIOUS = {"serious", "critical"}  # the theme's frame has minor ones


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site as `make site` builds it; a warning is an error."""
    docs = tmp_path_factory.mktemp("site") / "docs"
    kept = shutil.ignore_patterns("_build", "lessons")
    shutil.copytree(ROOT / "docs", docs, ignore=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "PAGES", docs / "site" / "lessons")
        for name in lesson_names():
            site.write_page(Lesson(name))
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet"]
    made = docs / "site" / "_build" / "html"
    done = subprocess.run([*command, docs / "site", made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def test_a_page_has_stubs_and_folded_hints_and_no_solution(lesson):
    page = site.page(lesson)
    text = "\n".join(cell.source for cell in page.cells)
    assert "BEGIN SOLUTION" not in text and "made_for(" not in text
    for exercise in lesson.asked.values():
        assert indent(lesson.beginning(exercise), INDENT) in text
    for exercise in lesson.asked.values():
        for number, hint in enumerate(exercise.hints, start=1):
            assert f"<summary>Hint {number}</summary>\n\n{hint}\n" in text
    for prediction in lesson.predictions.values():
        assert choices_html(prediction) in text
    assert not any(prediction_asked(cell.source) for cell in page.cells)
    checks = [cell for cell in page.cells if cell.source.startswith("check(")]
    assert checks and not any(cell.outputs for cell in checks)


@pytest.mark.parametrize("width", [400, 1400])
def test_it_is_read_without_a_network_on_any_screen(built, width):
    asked, wrong = [], []
    with new_page(width) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for path in [built / "index.html", *(built / "lessons").glob("*.html")]:
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            assert page.locator(".attention-view img").count() == 0  # all views live
            assert page.locator("math").count() or path.stem == "index"
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == wrong == []


def test_everybody_can_read_it(built):
    with new_page() as page:
        for name in ("index", "lessons/01_dot_product_attention"):
            page.goto((built / f"{name}.html").as_uri())
            assert barriers_on(page, SERIOUS) == []


def test_a_prediction_is_clicked_without_a_kernel(built):
    with new_page() as page:
        page.goto((built / "lessons" / "01_dot_product_attention.html").as_uri())
        wrong, right = (page.locator("summary", has_text=text) for text in ("“Your”", "“with”"))
        wrong.click()
        expect(page.get_by_text("It scores higher, but only because it is longer.")).to_be_visible()
        right.click()
        expect(page.get_by_text("It scores higher, but only")).to_be_hidden()
        expect(page.get_by_text("✓ It points nearly the same way")).to_be_visible()


def test_the_search_finds_a_word(built):
    with new_page() as page:
        page.goto(f"{(built / 'search.html').as_uri()}?q=broadcasting")
        page.get_by_role("link", name="Dot-product attention").last.wait_for()
