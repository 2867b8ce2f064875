"""What learners wrote and displayed does nothing in a viewer's browser."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config.loader import load_pyconfig_files

from autograder.asking.answer import Answer
from autograder.grading.report import harmless
from autograder.grading.report.harmless import MOST_MARKDOWN, MOST_SECONDS, MOST_TAGS, clean_html
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.lessons.lesson import ROOT
from autograder.lessons.nbgrader_metadata import nbgrader_metadata
from autograder.references.store import PUBLIC, load

FORMGRADER = Path(handlers.__file__).parent
STYLES = FORMGRADER / "static" / "node_modules" / "bootstrap" / "dist" / "css"
EVIL = [
    "<script>evil()</script>",
    "<ScRiPt src=//evil></sCrIpT>",
    "<img src=x onerror=evil()>",
    "<img src=https://evil/beacon>",
    "<svg onload=evil()><script>evil()</script></svg>",
    "<a href='javascript:evil()'>a</a>",
    "<a href=' JaVa\tScript:evil()'>a</a>",
    "<a href='data:text/html,<script>evil()</script>'>a</a>",
    "<iframe src=//evil></iframe><object data=//evil></object><embed src=//evil>",
    "<form action=//evil><input><button formaction=//evil>b</button></form>",
    "<meta http-equiv=refresh content='0;url=//evil'><base href=//evil><link href=//evil>",
    "<style>@import '//evil'</style><p style='background:url(//evil)'>p</p>",
    "<p style='background:image-set(\"//evil\" 1x)'>p</p>",
    "<p style='background:\\75rl(//evil)'>p</p>",
    "<div style='position:fixed;top:0;left:0;width:100%;height:100%'>evil</div>",
    "<!--<img src='--><img src=x onerror=evil()//'>",
    "<math><mi//xlink:href='data:x,<script>evil()</script>'>",
    "<noscript><p title='</noscript><img src=x onerror=evil()>'>",
    "<b onclick=evil() onmouseover=evil() autofocus>b</b>",
]
ACTIVE = re.compile(
    r"<(script|svg|iframe|object|embed|form|input|button|meta|base|link|style|math|noscript)\b"
    r"|<[^>]*\son\w+=|<[^>]*(src|href)=[\"']?\s*(//|https?://evil|ja[ \ta-z]*:|data:text)"
    r"|<[^>]*style=[^>]*(url|75rl|image-set|position)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("html", EVIL)
def test_it_does_nothing(html):
    assert ACTIVE.search(html)
    assert not ACTIVE.search(clean_html(html))


def test_cards_stay_as_they_are():
    for key in load(PUBLIC / "01_dot_product_attention.safetensors").keys.values():
        wrong = [Answer({n: e + 1 for n, e in case.expected.items()}) for case in key.cases]
        card = verdict_card(judge(key, wrong)).html
        assert _without_spaces(clean_html(card)) == _without_spaces(card)


def test_pictures_and_tables_stay():
    for html in (
        '<img src="data:image/png;base64,AAAA" alt="a line">',
        '<table><tbody><tr><td style="margin:0" colspan="2">1</td></tr></tbody></table>',
        '<a href="https://example.org" rel="noopener noreferrer">a</a>',
        "<h2>Softmax</h2><p>x &lt; y &amp; <em>z</em></p>",
    ):
        assert clean_html(html) == html


def test_formgrader_uses_it():
    page = _page(_notebook().cells)
    body = page.split('id="notebook"')[-1].split("</body>")[0]
    assert body.count("SEEN") > 10 and 'src="data:image/png;base64,AAAA"' in body
    tags = BeautifulSoup(body, "html.parser").find_all(True)
    assert not [tag for tag in tags if tag.name in ("script", "svg") and "evil" in str(tag)]
    assert not [tag for tag in tags if any(name.startswith("on") for name in tag.attrs)]


def test_what_is_too_long_is_not_parsed(monkeypatch):
    monkeypatch.setattr(harmless, "CLEANER", None)
    assert clean_html("<b>" * MOST_TAGS + "<") == harmless._as_text("<b>" * MOST_TAGS + "<")
    page = _page([new_markdown_cell("<b>" * MOST_MARKDOWN)])
    assert "the rest is in the notebook" in page


def test_when_a_pages_time_is_spent_the_rest_is_not_parsed(monkeypatch):
    clock, parsed = SimpleNamespace(now=0.0), []

    def slowly(html):
        clock.now += 0.3 * MOST_SECONDS
        parsed.append(html)
        return "parsed"

    monkeypatch.setattr(harmless, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(harmless, "clean_html", slowly)
    outputs = [new_output("display_data", {"text/html": f"<b>{n}</b>"}) for n in range(10)]
    cells = [new_code_cell("1", outputs=outputs), *(new_markdown_cell("# a") for _ in range(10))]
    assert _page(cells).count("&lt;b&gt;") == 6
    assert len(parsed) == 4


def _page(cells):
    config = load_pyconfig_files(["nbgrader_config.py"], str(ROOT))
    exporter = HTMLExporter(
        config=config,
        template_name="formgrade",
        extra_template_basedirs=[str(FORMGRADER / "templates")],
        extra_template_paths=[str(STYLES)],
    )
    return exporter.from_notebook_node(new_notebook(cells=cells), resources())[0]


def _notebook():
    """Make a notebook with evil in every kind of cell and output, next to visible text."""
    evil = "SEEN " + EVIL[0] + EVIL[2] + EVIL[4]
    kinds = ("text/html", "text/markdown", "application/javascript", "image/svg+xml", "text/latex")
    outputs = [new_output("display_data", {kind: evil}) for kind in (*kinds, "text/plain")]
    outputs.append(new_output("stream", text=evil))
    outputs.append(new_output("error", ename=evil, evalue=evil, traceback=[evil]))
    outputs.append(new_output("display_data", {"image/png": f'">{evil}'}))
    cells = [new_code_cell(evil, outputs=outputs), new_markdown_cell(evil)]
    cells.append(new_markdown_cell("![a](attachment:a.png)"))
    cells[-1].attachments = {"a.png": {"image/png": "AAAA"}}
    facts = nbgrader_metadata("a", solution=True, comment=evil)
    cells.append(new_markdown_cell(evil, metadata={"nbgrader": facts}))
    facts = nbgrader_metadata("b", solution=True)
    cells.append(new_code_cell(evil, metadata={"nbgrader": facts}))
    return new_notebook(cells=cells)


def resources():
    marks = {"notebook": "n", "score": 0, "max_score": 1, "late_penalty": 0}
    return {"nbgrader": marks, "base_url": "", "student": "s", "index": 0, "total": 1}


def _without_spaces(html):
    return re.sub(r"[\s;]+|</?tbody>", "", html).replace("'", '"')
