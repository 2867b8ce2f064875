"""nbgrader's templates as loaded: no value can act, and nothing is left for the policy to block."""

import json
import re

import pytest

from autograder.grading.formgrader import templates
from autograder.grading.formgrader.templates import NBGRADERS, inert, render

SOURCES = sorted(
    path
    for path in NBGRADERS.rglob("*")
    if path.suffix in {".tpl", ".j2"} and "feedback" not in path.parts
)
NAMES = ["</script><script>evil()</script>", '";evil();"', "back\\", "<img src=x onerror=evil()>"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_each_script_has_a_nonce_and_nothing_acts_in_an_attribute(path):
    source = inert(path.read_text(encoding="utf-8"))
    assert source.count("<script") == source.count('<script nonce="{{ nonce }}"')
    assert not re.search(r"\son\w+=|javascript:", source, re.IGNORECASE)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", source, re.DOTALL)
    values = re.findall(r"\{\{.*?\}\}", "".join(scripts))
    assert all("tojson" in value or "page_script" in value for value in values)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_what_is_called_in_an_attribute_is_known_to_the_page(path):
    called = re.findall(r'data-call="(\w+)"', inert(path.read_text(encoding="utf-8")))
    script = (templates.HERE / "page.js").read_text(encoding="utf-8")
    assert all(f"  {name}: function" in script for name in called)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_in_html_and_in_scripts(name):
    page = render("manage_students_assignments.tpl", "n", base_url="", student_id=name)
    assert page.count("<script") == page.count('<script nonce="n"')
    assert "<img" not in page and "<script>evil" not in page
    [told] = re.findall(r"var student_id = (.*);", page)
    assert json.loads(told) == name and "<" not in told
