"""The page of a submission: its cells in order, with a field for each that the gradebook has."""

import json

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.asking.problem import Problem
from autograder.grading.formgrader.submission_page import NOT_SHOWN, page_parts
from autograder.grading.gradebook.notebook_facts import Fields
from autograder.grading.pages.render import Renderer
from autograder.grading.submission.restore import WHY_EMPTY
from autograder.grading.worker.graded_cells import VERDICT
from autograder.judging.card import verdict_card
from autograder.judging.verdict import AspectResult, Verdict
from autograder.lessons.cells import nbgrader_metadata
from tests.grading.formgrader.attacks import BROKEN, PNG
from tests.grading.pages.test_harmless import EVIL
from tests.support.pictures import png


def parts_of(*cells, points=(), commented=()):
    data = json.dumps(new_notebook(cells=cells)).encode()
    return page_parts(data, Fields(dict(points), commented))


def named(name, source="x", **roles):
    cell = new_markdown_cell(source)
    cell.metadata.nbgrader = nbgrader_metadata(name, **roles)
    return cell


def shown(parts):
    html = "".join(part.source + part.outputs for part in parts)
    return BeautifulSoup(html, "html.parser")


@pytest.mark.parametrize("evil", EVIL)
def test_every_kind_of_content_is_seen_and_does_nothing(evil):
    evil = f"SEEN {evil}"
    kinds = ("text/html", "text/markdown", "text/latex", "text/plain")
    outputs = [new_output("display_data", {kind: evil}) for kind in kinds]
    outputs.append(new_output("stream", text=evil))
    outputs.append(new_output("error", ename=evil, evalue=evil, traceback=[evil]))
    outputs.append(new_output("display_data", {"image/svg+xml": evil}))
    outputs.append(new_output("display_data", {"image/png": f'">{evil}'}))
    cells = [new_code_cell(evil, outputs=outputs), new_markdown_cell(evil), named("a", evil)]
    parts, trouble = parts_of(*cells, commented=["a"])
    soup = shown(parts)
    assert not trouble and soup.get_text().count("SEEN") == 9
    active = {"script", "svg", "iframe", "object", "form", "input", "style", "meta", "base", "link"}
    assert not soup.find_all(active)
    assert not [tag for tag in soup.find_all(True) if any(n.startswith("on") for n in tag.attrs)]
    assert all(image["src"].startswith("data:image/") for image in soup.find_all("img"))


def test_the_fields_are_those_of_the_gradebook():
    cells = [
        named("a", solution=True),
        named("b", grade=True, points=99),
        named("a"),
        named("evil"),
    ]
    parts, _ = parts_of(*cells, points={"b": 2.0, "gone": 1.0}, commented=["a"])
    about = [(part.name, part.most, part.takes_comment, part.is_missing) for part in parts]
    assert about == [
        ("a", None, True, False),
        ("b", 2.0, False, False),
        ("", None, False, False),
        ("", None, False, False),
        ("gone", 1.0, False, True),
    ]
    assert parts[0].is_answer and not parts[1].is_answer


@pytest.mark.parametrize("data", [None, *BROKEN.values()], ids=["None", *BROKEN])
def test_without_a_notebook_there_are_still_the_fields(data):
    parts, trouble = page_parts(data, Fields({"a": 2.0}, ["b"]))
    assert [part.name for part in parts if part.name] == ["a", "b"]
    assert (
        trouble.endswith("You can still enter points and comments.") or data == BROKEN["odd-cells"]
    )


def test_a_cell_that_can_not_be_shown_costs_only_itself(monkeypatch):
    def source(self, cell):
        if cell.source == "bad":
            raise RecursionError
        return shown_source(self, cell)

    shown_source = Renderer.source
    monkeypatch.setattr(Renderer, "source", source)
    parts, trouble = parts_of(new_markdown_cell("good"), new_markdown_cell("bad"))
    assert not trouble and "good" in parts[0].source and NOT_SHOWN in parts[1].source


def test_a_lost_attachment_is_said():
    cell = new_markdown_cell("![a](attachment:a.png) ![b](attachment:b.png)")
    cell.attachments = {"a.png": {"image/png": PNG}}
    soup = shown(parts_of(cell)[0])
    assert len(soup.find_all("img")) == 1 and "A picture is left out" in soup.get_text()


def test_an_attachment_shown_often_takes_room_once_and_again():
    cell = new_markdown_cell("![a](attachment:a.png)\n" * 400)
    cell.attachments = {"a.png": {"image/png": png(size=300_000)}}
    html = parts_of(cell)[0][0].source
    assert html.count("<img") == 6 and len(html) < 2_100_000


def test_what_gets_points_has_room_before_the_rest():
    large = [new_code_cell("1", outputs=[new_output("stream", text="é" * 9_000)] * 50)] * 9
    graded = named("a", "the answer", grade=True, solution=True, points=2)
    parts, _ = parts_of(*large, graded, points={"a": 2.0})
    assert "the answer" in parts[-1].source


def test_a_scheme_for_grading_is_shown():
    scheme = "Why?\n\n### BEGIN MARK SCHEME\n2 points: because\n### END MARK SCHEME"
    cell = named("q", scheme, solution=False, locked=True)
    shown = parts_of(cell)[0][0].source
    assert "2 points: because" in shown and "<strong>Mark scheme</strong>" in shown
    assert "BEGIN" not in shown and "END" not in shown


def test_what_a_learner_writes_about_schemes_stays():
    cell = named("q", "BEGIN MARK SCHEME", solution=True)
    assert "BEGIN MARK SCHEME" in parts_of(cell)[0][0].source


def unjudged(name, why, kind="not run"):
    """Make a check that judged nothing."""
    sentence = f"The check of `{name}` did not run: {why}"
    aspects = [AspectResult("all", 2, False)]
    facts = {"problems": (Problem(kind, why),), "sentence": sentence}
    found = Verdict(name, "lesson", aspects, **facts)
    card = verdict_card(found)
    cell = new_code_cell(f"check({name})", outputs=[new_output("display_data", card_data(card))])
    cell.metadata.update({"nbgrader": nbgrader_metadata(f"check_{name}"), VERDICT: found.summary()})
    return cell


def card_data(card):
    return {"text/html": card.html, "text/plain": card.text}


def test_what_was_not_judged_has_no_card_and_its_reason_once():
    cells = [unjudged("a", "It was *cut* off."), unjudged("b", "It was *cut* off.")]
    cells.append(unjudged("c", "No answer.", "check waited"))
    parts, _ = parts_of(*cells, points={"check_a": 2.0, "check_b": 2.0, "check_c": 2.0})
    assert [BeautifulSoup(part.outputs, "html.parser").get_text() for part in parts] == [
        "The check has no result: The check of a did not run: It was *cut* off.",
        "The check has no result.",
        "The check has no result: The check of c did not run: No answer.",
    ]
    told = new_markdown_cell("In whatever words.", metadata={WHY_EMPTY: True})
    parts, _ = parts_of(told, *cells[:2])
    assert [part.outputs for part in parts[1:]] == ["<p>The check has no result.</p>"] * 2


def test_an_error_in_a_reason_is_text():
    [part], _ = parts_of(unjudged("a", EVIL[0]))
    assert not BeautifulSoup(part.outputs, "html.parser").find_all(["script", "img"])
