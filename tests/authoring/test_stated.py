"""Notebooks state the points that exercises define, and the version of each."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.authoring.published import Published
from autograder.authoring.stated import (
    beginning,
    fold_plumbing,
    leave_out_contracts,
    leave_out_points,
    state_contracts,
    state_points,
    stated_in_readme,
)
from autograder.errors import AuthoringError

OPENING = "# 1. A lesson\n\n| **You can then** | do it |\n\nBelow."
HEADING = "### Exercise 2: `f` (12 minutes)\n\nWrite it."


def stated(*texts, points):
    cells = [new_markdown_cell(text) for text in texts]
    state_points(cells, points, 20)
    return [cell.source for cell in cells]


def test_headings_and_table_state_them():
    opening, heading, other = stated(
        OPENING, HEADING, "### Exercise 3: `g`", points={"f": 1, "h": 4}
    )
    assert (
        "| do it |\n| **Exercises** | 2, together 5 points |\n| **Time** | 20 minutes |\n\nBelow"
        in opening
    )
    assert heading.startswith("### Exercise 2: `f` (1 point, 12 minutes)\n")
    assert other == "### Exercise 3: `g`"


def test_stating_is_idempotent_and_leaving_out_undoes_it():
    once = stated(OPENING, HEADING, points={"f": 3})
    assert stated(*once, points={"f": 3}) == once
    assert [leave_out_points(text) for text in once] == [OPENING, HEADING]
    assert "`f` (2 points, 12" in stated(*once, points={"f": 2})[1]


def test_a_lesson_that_states_no_use_is_refused_with_the_remedy():
    lesson = SimpleNamespace(
        notebook=new_notebook(cells=[new_markdown_cell("# 9. A lesson")]),
        text_path=SimpleNamespace(name="09_lesson.md"),
    )
    with pytest.raises(AuthoringError, match=r"09_lesson\.md .* \*\*You can then\*\* \|"):
        stated_in_readme("", lesson)


def test_a_lesson_that_the_readme_lacks_is_listed_last():
    top = "# 9. A lesson\n\n| **You can then** | do it |"
    lesson = SimpleNamespace(
        name="09_lesson",
        notebook=new_notebook(cells=[new_markdown_cell(top)]),
        exercises=[SimpleNamespace(points=3)],
    )
    table = "| [1. First](notebooks/01_first/01_first.ipynb) | 45 | 7 | begin |\n"
    row = "| [9. A lesson](notebooks/09_lesson/09_lesson.ipynb) | 10 | 3 | do it |\n"
    assert stated_in_readme(f"{table}\nBelow.", lesson) == f"{table}{row}\nBelow."


# An editable installation finds the course wherever Python looks, so hide it.
FINDER = "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in str(f).lower()]"
IMPORTS = "import torch\n\nfrom autograder import check"


NOWHERE, SITE = Published(), Published(site="https://owner.github.io/course")


def with_contracts(source, contracts, where=NOWHERE):
    cell = new_code_cell(source)
    others = new_markdown_cell("made_for"), new_code_cell("check(f)")
    state_contracts([cell, *others], "02_softmax", contracts, where)
    return cell.source


@pytest.mark.parametrize("where", [NOWHERE, SITE])
def test_a_version_is_stated_and_removed_again(where):
    source = with_contracts(IMPORTS, ["524e", "e3fd"], where)
    assert source == f'{beginning(where)}{IMPORTS}\n\nmade_for("02_softmax", "524e-e3fd")'
    assert leave_out_contracts(source) == IMPORTS


def test_only_with_a_site_the_course_is_installed_from_there():
    assert "ModuleNotFoundError" not in beginning(NOWHERE)
    assert " https://owner.github.io/course/wheels/ attention" in beginning(SITE)


def test_stating_a_version_again_replaces_it():
    assert with_contracts(with_contracts(IMPORTS, ["524e"]), ["e3fd"]) == with_contracts(
        IMPORTS, ["e3fd"]
    )


def test_a_lesson_that_does_not_import_the_course():
    with pytest.raises(AuthoringError, match=r"should import from autograder.*; 0 do"):
        with_contracts("import torch", [])


@pytest.mark.parametrize(
    ("package", "reason"), [("", "No module named 'autograder'"), ("def (", "invalid syntax")]
)
def test_the_first_cell_says_what_to_install(package, reason, tmp_path):
    if package:  # another one that has the course's name, as on PyPI
        (tmp_path / "autograder.py").write_text(package, encoding="utf-8")
    source = with_contracts(IMPORTS, ["524e"])
    code = f"import sys; sys.path[:] = [{str(tmp_path)!r}, *sys.path[1:]]\n{FINDER}\n{source}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    *_, last = done.stderr.splitlines()
    assert last.startswith("ImportError: Install the course (%pip uninstall -y autograder, then")
    assert reason in last


def test_the_plumbing_is_folded_and_nothing_else():
    kinds = new_markdown_cell, new_code_cell, new_code_cell, new_markdown_cell, new_code_cell
    cells = [make("") for make in kinds]
    fold_plumbing(cells)
    assert [bool(cell.metadata.get("jupyter")) for cell in cells] == [
        False,
        True,
        True,
        False,
        False,
    ]
