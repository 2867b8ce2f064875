"""Nothing in a submission acts on the page, loads anything, or makes the page large or slow."""

import re
from dataclasses import replace

import pytest
from nbformat.v4 import new_output

from autograder.grading.feedback.feedback_page import GradedNotebook, NotGraded, render_page
from autograder.grading.pages import budget
from autograder.grading.pages.budget import MOST_HTML, MOST_PICTURES, MOST_SECONDS, Budget
from autograder.grading.pages.formulas import ATTRIBUTES, ELEMENTS
from autograder.grading.pages.harmless import (
    MOST_MARKDOWN,
    MOST_TAGS,
    MOST_TEXT,
    TAGS,
)
from autograder.grading.pages.notebook import Outline
from autograder.grading.pages.render import Renderer
from autograder.grading.pages.sanitizer import NO_ALT, TOO_LARGE, Sanitizer
from autograder.grading.pages.template import BASE
from tests.grading.feedback.made import (
    POINTS,
    TWO,
    asserting,
    code,
    exercise,
    facts,
    markdown,
    notebook,
    page,
    parsed,
    solution,
    words,
    written,
)
from tests.grading.pages.test_harmless import EVIL
from tests.support.browser import new_page
from tests.support.pictures import png

LARGEST_PAGE = 500_000
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
FRAME = {"header", "main", "footer", "section", "bdi"}
NAMES = {
    *(
        "alt",
        "aria-hidden",
        "aria-label",
        "class",
        "colspan",
        "height",
        "href",
        "id",
        "rel",
        "role",
    ),
    *("rowspan", "scope", "src", "style", "tabindex", "title", "width"),
    *ATTRIBUTES,
}
STYLE = re.compile(r' style="([^"]*)"')
PNG = png()


def evil_page(evil):
    """Render a page with evil content in every place that a submission can fill."""
    kinds = ("text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "text/plain")
    outputs = [new_output("display_data", {kind: evil}) for kind in kinds]
    outputs += [new_output("stream", text=evil)]
    outputs += [new_output("error", ename=evil, evalue=evil, traceback=[evil])]
    cells = [
        markdown(evil),
        markdown(f"# {evil}\n\n```python\n{evil}\n```\n\n`{evil}`\n\n${evil}$\n\n[a]({evil})"),
        markdown("![a](attachment:a.png)", {"a.png": {"image/png": evil}}),
        code(evil, outputs),
        *exercise("softmax", 1, evil),
        solution(evil, evil),
        asserting("check_attend", evil, 2, *outputs),
        written("why", evil, 3),
    ]
    cells[-3].metadata["nbgrader"]["grade_id"] = evil
    known = facts({**POINTS, "why": (3, 1, None)}, {"why": evil}, learner=evil)
    return render_page(
        GradedNotebook(notebook(*cells), known, Outline(evil, (evil,)), NotGraded(evil, evil))
    )


@pytest.mark.parametrize("evil", EVIL)
def test_it_does_nothing(evil):
    html = evil_page(evil)
    body = parsed(html).body
    assert {tag.name for tag in body.find_all(True)} <= FRAME | TAGS | ELEMENTS
    assert {name for tag in body.find_all(True) for name in tag.attrs} <= NAMES
    assert all(tag["src"].startswith("data:image/") for tag in body.find_all("img"))
    assert all(
        re.match(r"#|https?://|mailto:", tag["href"]) for tag in body.find_all("a", href=True)
    )
    assert not re.search("url|75rl|image-set|position", "".join(STYLE.findall(str(body))))


def test_a_page_loads_nothing():
    html = render_page(GradedNotebook(notebook(*TWO, markdown("x")), facts(POINTS), Outline("T")))
    assert POLICY in html and "<script" not in html
    places = [
        t[name] for t in parsed(html).find_all(True) for name in ("src", "href") if t.get(name)
    ]
    assert len(places) > 4 and all(place.startswith("#") for place in places)
    assert not re.search(r"@import|url\(|//", html)


def test_links_of_the_learner_stay_if_they_lead_anywhere():
    soup = page(
        [markdown("[a](https://a.example) [b](other.ipynb) [c](#x) <a id=x>d</a>")], facts({})
    )
    assert soup.details.a["href"] == "https://a.example"
    assert soup.details.a["rel"] == ["noopener", "noreferrer"]
    assert not soup.details.find_all("a", href=re.compile("other|#x"))


def test_a_submission_has_no_names_and_classes_on_the_page():
    mine = '<p class="grade" id="exercises" style="color:red;position:fixed">15 of 15 points</p>'
    soup = page([*TWO, markdown(mine)], facts(POINTS))
    assert len(soup.select(".grade")) == len(soup.select("#exercises")) == 1
    assert soup.details.find("p", style=True)["style"] == "color:red"


def test_signs_in_names_are_shown_as_signs():
    soup = page(TWO, facts(POINTS, learner="A <b>&amp; {{ 7 * 7 }}"))
    assert soup.header.bdi.string == "A <b>&amp; {{ 7 * 7 }}" and not soup.header.bdi.find("b")


def test_formulas_are_mathml_wherever_they_stand():
    latex = new_output("display_data", {"text/latex": r"$\displaystyle \alpha$"})
    soup = page([markdown("$x$ and $$y$$ and \\$5"), code("a", [latex])], facts({}, {}))
    assert [words(formula) for formula in soup.details.find_all("math")] == ["x", "y", "α"]
    assert [formula["display"] for formula in soup.find_all("math")] == [
        "inline",
        "block",
        "inline",
    ]
    assert "$5" in words(soup.details)


def test_formulas_in_attributes_stay_text():
    soup = page(
        [markdown('![$x$](attachment:a.png "$y$")', {"a.png": {"image/png": PNG}})], facts({})
    )
    assert not soup.find("math") and soup.img["src"].endswith(PNG)


def test_code_in_markdown_has_colors():
    soup = page([markdown("```python\nif x:\n    pass\n```\n\n```sh\nls <a>\n```")], facts({}))
    assert [span.string for span in soup.select("pre .k")] == ["if", "pass"]
    assert "ls <a>" in soup.details.get_text()


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (new_output("stream", text="\x1b[31mred\x1b[0m\n10%\r\x1b[A20%\rdone\n"), "red done"),
        (
            new_output("error", ename="E", evalue="v", traceback=["\x1b[1mTrace", "E: v"]),
            "Trace E: v",
        ),
        (new_output("error", ename="E", evalue="v", traceback=[]), "E: v"),
        (new_output("display_data", {"text/html": "<script>x</script>", "text/plain": "p"}), "p"),
        (new_output("display_data", {"text/markdown": "**m**", "text/plain": "p"}), "m"),
        (new_output("display_data", {"application/json": {}}), ""),
        ({"output_type": "display_data", "data": {"text/html": 3, "text/plain": ["a", "b"]}}, "ab"),
        ({"output_type": "stream", "text": None}, ""),
        ({"output_type": "error", "traceback": "no list"}, ":"),
        ({}, ""),
    ],
)
def test_outputs(output, said):
    soup = page([code("1 + 1", [output])], facts({}))
    assert words(soup.select_one(".cell")) == f"1 + 1 {said}".strip()


def test_no_line_of_code_is_hidden():
    soup = page([code("evil()\rfine()\x00")], facts({}))
    assert soup.select_one(".source").get_text() == "evil()\nfine()"


def test_a_picture_of_the_learners_has_a_description():
    bare = {"image/png": PNG, "text/plain": "<Figure size 640x480 with 1 Axes>"}
    told = {"image/svg+xml": "<svg/>", "text/plain": "My plot"}
    outputs = [new_output("display_data", data) for data in (bare, told)]
    images = page([code("plot()", outputs), markdown("<img src=a.png>")], facts({})).find_all("img")
    assert [image["alt"] for image in images] == [NO_ALT, "My plot"]
    assert images[1]["src"].startswith("data:image/svg+xml;base64,")


def test_pictures_have_a_budget():
    large = new_output("display_data", {"image/png": png(size=MOST_PICTURES * 2 // 3)})
    soup = page([code("1", [large]), code("2", [large]), code("3", [large])], facts({}))
    assert len(soup.find_all("img")) == 1
    assert words(soup).count(TOO_LARGE.format(200, 40)) == 2


def test_an_attachment_of_several_lines_is_a_picture():
    lines = f"{PNG[:9]}\n{PNG[9:]}\n"
    soup = page([markdown("![a](attachment:a.png)", {"a.png": {"image/png": lines}})], facts({}))
    assert PNG[:9] in soup.img["src"] and soup.img["alt"] == "a"


def test_a_missing_attachment_is_left_out():
    soup = page([markdown("![a](attachment:gone.png) here")], facts({}))
    assert "A picture is left out" in words(soup) and "here" in words(soup)


@pytest.mark.parametrize(
    "cells",
    [
        [code("x = 1\n" * 20_000)],
        [code(f"x = {number}\n" * 1000) for number in range(300)],
        [markdown("<b>" * MOST_TAGS)] * 30,
        [markdown("# a $x$\n\n" * 1000)] * 100,
        [code("1", [new_output("stream", text="é" * 9_000)] * 500)],
        [code("1", [new_output("display_data", {"image/png": "A" * 9_000_000})])],
        [markdown("<p>" + "$" + "x" * MOST_MARKDOWN)] * 100,
    ],
    ids=["long", "many", "tags", "formulas", "outputs", "picture", "text"],
)
def test_no_page_is_large(cells):
    html = render_page(GradedNotebook(notebook(*TWO, *cells), facts(POINTS), Outline("T")))
    assert len(html.encode()) < LARGEST_PAGE
    assert "attend: 1 of 4 points" in words(parsed(html))


def test_what_has_no_room_is_counted():
    many = [code(f"{'x' * 5_000} = {number}") for number in range(200)]
    soup = page([*TWO, *many], facts(POINTS))
    left = int(re.search(r"(\d+) more cells are left out", words(soup)).group(1))
    assert left + len(soup.select(".cell pre")) == 199  # and one that says there is no room
    assert "The other 200 cells" in words(soup.summary)


def test_what_an_answer_prints_does_not_push_out_what_was_said_about_it():
    noisy = [new_output("stream", text="x" * 9_000), new_output("stream", name="stderr", text="y")]
    cells = exercise("softmax", 1, "Where?")
    loud = replace(cells[0], outputs=tuple(noisy * 100))
    soup = page([loud, cells[1], *TWO[2:]], facts(POINTS, {"attend": "Well said."}))
    first, second = (words(section) for section in soup.select("section.answer"))
    assert "softmax: 1 of 4 points" in first and "The rest is left out" in first
    assert "def attend" in second and "attend: 1 of 4 points" in second and "Well said." in second


def test_an_answer_too_long_to_highlight_is_cut_in_the_middle():
    soup = page([solution("x", "a" * MOST_TEXT + "b" * MOST_TEXT)], facts({}))
    source = soup.select_one(".source").get_text()
    assert (
        source.startswith("a") and source.endswith("b") and "10,000 characters are left" in source
    )


def test_when_the_time_is_spent_nothing_is_parsed():
    renderer = Renderer(Budget(seconds=0))
    source = "<b>bold</b> $x$"
    for html in (renderer.cell(markdown(source)), renderer.source(code(source))):
        assert '<pre class="source">&lt;b&gt;bold&lt;/b&gt; $x$</pre>' in html


def test_time_counts(monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(budget.time, "monotonic", lambda: next(clock))
    limits = Budget()
    sanitizer = Sanitizer(limits)
    made = [sanitizer.html("<b>1</b>") for _ in range(5)]
    assert made == ["<b>1</b>"] * 3 + ['<pre class="source">&lt;b&gt;1&lt;/b&gt;</pre>'] * 2
    assert limits.seconds == MOST_SECONDS - 12


def test_the_budget_leaves_room_for_the_rest_of_the_page():
    frame = len(render_page(GradedNotebook((), facts({}), Outline("T"))).encode())
    assert MOST_HTML + 2 * frame < LARGEST_PAGE


def test_in_a_browser_it_is_quiet_and_fits_a_phone(tmp_path):
    path, said = tmp_path / "page.html", []
    path.write_text(evil_page("".join(EVIL) + f"$$x{' + y' * 99}$$"), encoding="utf-8")
    with new_page(400, 800) as view:
        view.on("console", lambda message: said.append(message.text))
        view.on("request", lambda request: said.append(request.url))
        view.goto(path.as_uri())
        view.locator(".rest > details > summary").click()
        widths = view.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1] == 400
    assert [text for text in said if not text.startswith("data:image/")] == [path.as_uri()]


LOOK = BASE.read_text(encoding="utf-8")
COLORS = [
    dict(re.findall(r"--(\w+): (#\w+);", block))
    for block in re.findall(r":root \{(.*?)\}", LOOK, re.S)
]


@pytest.mark.parametrize("colors", COLORS, ids=["light", "dark", "print"])
def test_all_text_has_contrast(colors):
    for name in set(colors) - {"ground", "raised", "line"}:
        for below in ("ground", "raised"):
            assert contrast(colors[name], colors[below]) >= 4.5, (name, below)


def contrast(one, other):
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color):
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    shares = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    linear = [s / 12.92 if s <= 0.03928 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * s for weight, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
