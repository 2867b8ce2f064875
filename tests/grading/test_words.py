"""nbgrader's words (student, assignment, mark, score) stay where its interface is called."""

import ast
import re

import pytest

from autograder.places import ROOT

GRADING = ROOT / "autograder" / "grading"
ROOMS = (
    *("engine", "worker", "submission", "term", "lms", "gradebook"),
    *("report", "feedback", "formgrader", "pages", "single"),
)
THEIRS = {"student", "assignment", "autograded", "mark", "marks", "marked", "marker", "score"}
# They call nbgrader through the classes that they derive from.
SUBCLASSES = {
    GRADING / f"{name}.py" for name in ("engine/write_feedback", "lms/canvas", "lms/moodle")
}
KEY = re.compile(r"[a-z_]+(\.\w+)?")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
SPELLED = {
    ast.FunctionDef: "name",
    ast.ClassDef: "name",
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.keyword: "arg",
    ast.alias: "asname",
}


def own_modules():
    """List the modules of these rooms that don't call nbgrader."""
    paths = {path for room in ROOMS for path in (GRADING / room).glob("*.py")}
    return sorted(path for path in paths - SUBCLASSES if "nbgrader" not in imported(path))


def imported(path):
    """Return the top-level packages that a module imports, for its types alone too."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    return found


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def words(node):
    name = getattr(node, SPELLED.get(type(node), ""), None) or key(node)
    return {word.lower() for word in WORD.findall(name)}


def key(node):
    """Return a constant that is the name of a field or a file, such as "mark.json"; "" if none."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and KEY.fullmatch(value) else ""


@pytest.mark.parametrize("path", own_modules(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_module_of_our_own_uses_our_words(path):
    found = {word for node in ast.walk(tree(path)) for word in words(node)}
    assert found & THEIRS == set()


def test_a_word_of_theirs_would_be_found():
    code = "def best_score(student, *, markOf):\n    return SubmittedAssignment.marks"
    code += '["assignment", "A mark.", "marker.json"]'
    found = {word for node in ast.walk(ast.parse(code)) for word in words(node)}
    assert found & THEIRS == {"score", "student", "mark", "assignment", "marks", "marker"}
