"""A learner's hour in JupyterLab: a wrong answer, hints, a right one, predictions, views."""

import json
import shutil

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from autograder.authoring.start_page import START_PAGE
from autograder.lessons.cells import grade_id_of
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.support.browser import new_page
from tests.support.lab import jupyter_lab

LESSON = Lesson("01_dot_product_attention")
# Otherwise, cells out of sight are not on the page and can't be found by their text.
SETTINGS = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}
RIGHT = """def softmax(scores, dim=-1):
    exps = (scores - scores.amax(dim, keepdim=True)).exp()
    return exps / exps.sum(dim, keepdim=True)"""
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
WRONG = RIGHT.replace("sum(dim, keepdim=True)", "sum(dim)")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Lesson 1 in JupyterLab, with every answer but that of softmax."""
    folder = tmp_path_factory.mktemp("course")
    notebook = nbformat.read(LESSON.released_path, as_version=4)
    for cell in notebook.cells:
        name = grade_id_of(cell)
        if name in LESSON.solutions and name != "softmax":
            cell.source = LESSON.solutions[name]
    path = folder / LESSON.released_path.relative_to(ROOT)
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    start = folder / START_PAGE.relative_to(ROOT)
    shutil.copy(START_PAGE, start)
    (folder / "jupyter" / "labconfig").mkdir(parents=True)
    settings = folder / "jupyter" / "labconfig" / "default_setting_overrides.json"
    settings.write_text(json.dumps(SETTINGS), encoding="utf-8")
    environment = {"PROGRESS_FILE": str(folder / "progress.json")}
    with jupyter_lab(folder, **environment) as address, new_page() as page:
        page.goto(f"{address}/lab/tree/{start.relative_to(folder)}")
        wait_for_kernel(page)
        yield page


def wait_for_kernel(page: Page) -> None:
    """Wait until the kernel can run cells: earlier requests are lost."""
    expect(page.locator("#jp-main-statusbar")).to_contain_text("(ipykernel) | Idle")


def cell(page: Page, text: str) -> Locator:
    source = page.locator(".jp-InputArea", has_text=text)
    return page.locator(f"{SHOWN} .jp-CodeCell", has=source).first


def write(page: Page, where: Locator, code: str) -> None:
    where.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def run(page: Page, where: Locator) -> Locator:
    """Run a cell; return where its output is."""
    where.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return where.locator(".jp-OutputArea")


def choose(page: Page, menu: str, entry: str) -> None:
    page.get_by_role("menubar").get_by_text(menu, exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()


@pytest.mark.long
def test_an_hour_with_the_first_lesson(page):
    expect(run(page, cell(page, "progress()"))).to_contain_text("0 of")
    expect(page.get_by_text("Next: 1. Dot-product")).to_be_visible()
    page.get_by_role("link", name="1. Dot-product attention").first.click()
    expect(cell(page, "def softmax(")).to_be_visible()
    wait_for_kernel(page)
    answer, checked = cell(page, "def softmax("), cell(page, "check(softmax)")
    write(page, answer, WRONG)
    choose(page, "Run", "Run All Cells")
    card = checked.locator(".jp-OutputArea")
    expect(card).to_contain_text("keepdim")  # which stops the run here
    page.keyboard.press("Escape")
    page.keyboard.press("b")  # a new cell, below the check
    page.keyboard.press("Enter")
    page.keyboard.insert_text('hint("softmax")')
    stuck = page.locator(f"{SHOWN} .jp-Cell.jp-mod-active")
    expect(run(page, stuck)).to_contain_text("Hint 1 of 3 for softmax")
    expect(run(page, stuck)).to_contain_text("Hint 2 of 3 for softmax")

    write(page, answer, RIGHT)
    choose(page, "Run", "Run All Cells")
    expect(cell(page, "progress()").locator(".jp-OutputArea")).to_contain_text("19 of")
    expect(card).to_contain_text("✓ softmax")

    guess = cell(page, 'predict("slope"')
    expect(guess).to_contain_text("What number do you expect?")
    write(page, guess, 'predict("slope", 4)')
    expect(run(page, guess)).to_contain_text("You predicted 4, but it is 2")

    view = page.locator(f"{SHOWN} .attention-view").last
    view.get_by_text("starts", exact=True).hover()
    expect(view.locator(".said")).to_contain_text("“starts” looks at")
    view.get_by_label("starts", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(view.locator(".said")).to_contain_text("“with” looks at")
    expect(view.get_by_label("with", exact=True)).to_be_focused()  # not moved to the next cell

    choose(page, "Kernel", "Restart Kernel…")
    with page.expect_response("**/restart*"):
        page.locator(".jp-Dialog").get_by_text("Restart", exact=True).click()
    wait_for_kernel(page)
    check = cell(page, "check(query_scores)")
    expect(run(page, check)).to_contain_text("no cell above this one has run")
    choose(page, "Run", "Run All Above Selected Cell")
    expect(run(page, check)).to_contain_text("✓ query_scores")

    scores = cell(page, "def query_scores(")
    write(page, scores, "def query_scores(query, words)\n    return words @ query")
    run(page, scores)
    shown = run(page, check)
    expect(shown).to_contain_text("Your last cell didn't run: line 1, expected ':'.")
    expect(shown).to_contain_text("I would be checking your older query_scores.")
    shown = run(page, cell(page, "progress()"))
    expect(shown).to_contain_text("19 of")
    expect(shown).to_contain_text("0 right, of 1 made")
