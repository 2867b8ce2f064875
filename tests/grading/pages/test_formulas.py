"""Formulas become MathML without any markup from the submission, or else stay TeX."""

import re
import time

import pytest

from autograder.grading.pages.formulas import ELEMENTS, LONGEST, mathml
from autograder.lessons.lesson import TEXTS

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
TAG = re.compile(r'<(/?)([a-z]+)(?: [a-z-]+="[^"<>]*")*>')


def lessons_formulas():
    for path in sorted(TEXTS.glob("*.py")):
        text = re.sub("^# ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        yield from (block or inline for block, inline in FORMULA.findall(text))


def test_every_formula_of_the_course_is_converted():
    formulas = set(lessons_formulas())
    assert len(formulas) > 20
    assert [tex for tex in formulas if "<math" not in mathml(tex)] == []


def test_a_formula():
    assert mathml(r"\frac{x_i}{\sqrt{d}} \neq 1") == (
        '<math display="inline"><mrow><mfrac><mrow><msub><mi>x</mi><mi>i</mi></msub></mrow><mrow>'
        "<msqrt><mrow><mi>d</mi></mrow></msqrt></mrow></mfrac><mo>≠</mo><mn>1</mn></mrow></math>"
    )


def test_a_displayed_formula_can_be_scrolled_with_the_keyboard():
    assert mathml("x", block=True).startswith('<span class="formula" tabindex="0" role="group"')


@pytest.mark.parametrize("name", ["aligned", "align", "align*", "split"])
def test_aligned_lines_are_a_table(name):
    html = mathml(rf"\begin{{{name}}} x &= \text{{target\_keep}} \\ y &= 2 \end{{{name}}}")
    assert html.count("<mtr>") == 2 and html.count("<mtd") == 4
    assert "target_keep" in html and "&amp;" not in html


@pytest.mark.parametrize(
    "tex",
    [
        "",
        r"\left(",
        r"\unknown{x}",
        r"a \\ b",
        r"\begin{tikzpicture} x & y \end{tikzpicture}",
        "{" * 900,
        "x_1_2",
        "x" * (LONGEST + 1),
        r"\def\a{x}\a",
        r"\newcommand{\a}{x}\a",
        r"\cancel{x}",
    ],
    ids=lambda tex: tex[:20],
)
def test_what_can_not_be_converted_is_shown_as_it_is(tex):
    html = mathml(tex)
    assert html.startswith("<code>") and "<math" not in html


def test_macros_can_not_explode():
    doubled = "".join(rf"\def\{chr(98 + n)}{{\{chr(97 + n)}\{chr(97 + n)}}}" for n in range(24))
    start = time.process_time()
    assert "<math" not in mathml(rf"\def\a{{xx}}{doubled}\y")
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "tex",
    [
        "<script>alert(1)</script>",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{&lt;img src=x onerror=alert(1)&gt;}",
        r"\href{javascript:alert(1)}{x}",
        r"\color{red\" onclick=\"alert(1)}x",
        r"\style{position:fixed}{x}",
        r"\class{mark}{x}",
        r"\verb|<b>|",
        r"\unknown<b>",
        '"><script>',
    ],
)
@pytest.mark.parametrize("block", [True, False])
def test_nothing_gets_out_of_a_formula(tex, block):
    html = mathml(tex, block)
    assert {found[2] for found in TAG.finditer(html)} <= ELEMENTS | {"code", "span"}
    assert not re.search(r" (href|style|class|on\w+)=", html.replace('class="formula"', ""))
    assert "<" not in TAG.sub("", html) and ">" not in TAG.sub("", html)
