"""The site has all lessons, no solutions, and no external files; everybody can read it."""

import re
import shutil
import subprocess
import sys
from html import unescape
from textwrap import indent

import pytest
from nbformat.v4 import new_code_cell, new_output
from playwright.sync_api import expect

from autograder.authoring import site
from autograder.authoring.notebooks import INDENT
from autograder.authoring.published import Published
from autograder.authoring.stated import opening
from autograder.lessons.cells import exercise_checked, prediction_asked
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.notebook.cards import choices_html
from autograder.places import ROOT
from tests.support.accessible import barriers_on
from tests.support.browser import new_page

pytestmark = pytest.mark.long

SERIOUS = {"serious", "critical"}  # the theme's frame has minor ones
FIRST, SQUARES = "lessons/01_dot_product_attention", "lessons/05_square_corners"
WIDE, NARROW = 1400, 400
TITLE = re.compile(r"\d+\. [A-Z][^A-Z]*")
FORMULA = re.compile(r"<math.*?</math>|<code>.*?</code>", re.S)
CUT_OFF = (
    "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.innerText)"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site as `make site` builds it; a warning is an error."""
    course = tmp_path_factory.mktemp("site")
    docs = course / "docs"
    kept = shutil.ignore_patterns("_build", "lessons")
    shutil.copytree(ROOT / "docs", docs, ignore=kept)
    for name in ("notebooks", "README.md"):
        (course / name).symlink_to(ROOT / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "PAGES", docs / "site" / "lessons")
        for name in lesson_names():
            site.write_page(Lesson(name))
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet"]
    made = docs / "site" / "_build" / "html"
    done = subprocess.run([*command, docs / "site", made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def browser_page():
    with new_page() as page:
        yield page


@pytest.fixture
def visit(built, browser_page):
    """Open a page of the site, light and wide unless the test says otherwise."""

    def open_page(name, width=WIDE, scheme="light", query=""):
        browser_page.set_viewport_size({"width": width, "height": 900})
        browser_page.emulate_media(color_scheme=scheme)
        browser_page.goto((built / f"{name}.html").as_uri() + query)
        return browser_page

    return open_page


# ---------------------------------------------------------------- what is written


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
    checks = [cell for cell in page.cells if exercise_checked(cell.source)]
    assert checks and not any(cell.outputs for cell in checks)


def test_a_page_shows_neither_plumbing_nor_a_caption_twice_nor_progress(lesson):
    cells = site.page(lesson).cells
    seen = [cell for cell in cells if "remove-input" not in cell.metadata.get("tags", ())]
    code = "\n".join(cell.source for cell in seen if cell.cell_type == "code")
    assert "import torch\n" not in code and "caption=" not in code
    folded = [cell.source for cell in cells if "<summary>" in cell.source]
    assert sum("import torch\n" in source for source in folded) == 1
    text = "".join(folded)
    assert text.count("Code of the figure") == text.count("caption=") > 0
    assert "progress()" not in code and "points so far" not in str(
        [cell.get("outputs") for cell in cells]
    )


def test_what_a_cell_prints_stays_above_its_figure():
    cell = new_code_cell(
        'print(1)\nplot_bars(\n    {}, caption="One."\n)',
        outputs=[new_output("stream", text="1"), new_output("display_data", {"text/html": "…"})],
    )
    code, figure, folded = site.on_page(cell, Lesson("04_masks"))
    assert code.source == "print(1)" and code.outputs == cell.outputs[:1]
    assert figure.outputs == cell.outputs[1:] and figure.metadata.tags == ["remove-input"]
    assert folded.source.count('plot_bars(\n    {}, caption="One."\n)') == 1


@pytest.mark.parametrize("repository", ["", "https://github.com/owner/course"])
def test_a_page_links_to_its_notebook(repository):
    top = site.page(Lesson("04_masks"), Published(repository)).cells[0].source
    assert "(path:../../../notebooks/04_masks/04_masks.ipynb)" in top
    assert ("[Open in Colab](https://colab.research.google.com/" in top) is bool(repository)
    assert ("[See it in the repository](https://github.com/owner" in top) is bool(repository)


def test_titles_are_written_alike(lesson):
    assert TITLE.fullmatch(opening(lesson).title)


# ---------------------------------------------------------------- what is seen


def test_the_front_page_says_all_at_a_glance(visit):
    page = visit("index")
    page.get_by_text("it is too small").click()
    expect(page.get_by_text("“it” looks at “suitcase”")).to_be_visible()
    for card, name in zip(page.locator(".cards a").all(), lesson_names(), strict=True):
        said = opening(Lesson(name))
        assert card.inner_text().split("\n")[0] == said.title
        assert f"{said.minutes} minutes\nThen you can {said.use}." in card.inner_text()
        assert card.get_attribute("href") == f"lessons/{name}.html"
        assert card.locator("img").evaluate("one => one.naturalWidth") > 0
    box = page.locator(".cards").bounding_box()
    assert box["y"] + box["height"] < 1600
    page.get_by_role("link", name="Read lesson 1").click()
    expect(page.get_by_role("heading", name="1. Dot-product attention")).to_be_visible()
    page.get_by_role("link", name="Set up the course").click()
    expect(page.get_by_role("heading", name="Do it in Jupyter")).to_be_in_viewport()


def test_a_notebook_can_be_downloaded(built, visit):
    link = visit(FIRST).get_by_role("link", name="Download the notebook").get_attribute("href")
    notebook = Lesson("01_dot_product_attention").released_path
    assert (built / "lessons" / link).read_bytes() == notebook.read_bytes()


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_it_is_read_without_a_network_on_any_screen(built, visit, browser_page, width):
    asked, wrong = [], []
    note_asked, note_wrong = (lambda r: asked.append(r.url)), (lambda e: wrong.append(str(e)))
    browser_page.on("request", note_asked)
    browser_page.on("pageerror", note_wrong)
    for path in [built / "index.html", *(built / "lessons").glob("*.html")]:
        page = visit(path.relative_to(built).with_suffix(""), width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        assert page.locator(".attention-view img").count() == 0  # all views live
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert width < WIDE or page.locator("pre").evaluate_all(CUT_OFF) == [], path.name
    browser_page.remove_listener("request", note_asked)
    browser_page.remove_listener("pageerror", note_wrong)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == wrong == []


def test_formulas_are_formulas(built):
    for path in (built / "lessons").glob("*.html"):
        # What can't be converted is plain code.
        found = FORMULA.findall(path.read_text(encoding="utf-8"))
        formulas = [unescape(re.sub(r"<[^>]+>", "", formula)) for formula in found]
        assert any("<math" in formula for formula in found)
        assert [one for one in formulas if "&" in one or "\\" in one] == [], path.name


@pytest.mark.parametrize("name", ["index", FIRST])
def test_everybody_can_read_it(visit, name):
    assert barriers_on(visit(name), SERIOUS) == []


def test_in_the_dark_nothing_glares_and_no_class_looks_like_a_link(visit):
    page = visit(SQUARES, scheme="dark")
    style = "(one, what) => getComputedStyle(one)[what]"
    names = page.locator(".nc").first
    assert names.evaluate(style, "textDecorationLine") == "none"
    for part, color in ((".cell_input", "borderTopColor"), ("figure", "backgroundColor")):
        shown = page.locator(part).first.evaluate(style, color)
        assert max(map(int, re.findall(r"\d+", shown)[:3])) < 128


def test_a_prediction_is_clicked_without_a_kernel(visit):
    page = visit(FIRST)
    wrong, right = (page.locator("summary", has_text=text) for text in ("“Your”", "“with”"))
    wrong.click()
    expect(page.get_by_text("It scores higher, but only because it is longer.")).to_be_visible()
    right.click()
    expect(page.get_by_text("It scores higher, but only")).to_be_hidden()
    expect(page.get_by_text("✓ It points nearly the same way")).to_be_visible()


def test_the_search_shows_where_a_word_is(visit):
    page = visit("search", query="?q=memory")
    section = page.get_by_role("link", name="Heads as wide as the model")
    place = page.get_by_role("paragraph").filter(has=section)
    expect(place.locator("mark")).to_have_text("memory")
    for result in page.locator("ul.search > li").all():
        expect(result.locator("mark").first).to_be_visible()
    section.click()
    expect(page.get_by_role("heading", name="Heads as wide as the model")).to_be_in_viewport()
