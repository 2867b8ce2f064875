"""The conventions for lessons that a machine can check."""

import ast
import re
from itertools import pairwise

import nbformat

from autograder.lessons.cells import exercise_checked, exercise_defined, prediction_asked
from autograder.lessons.minutes import TO_WRITE, minutes_needed
from autograder.places import ROOT
from tests.support.wheels import shown_by

EXERCISE_HEADING = re.compile(
    r"### Exercise (?P<number>\d+): `(?P<name>\w+)` "
    r"\((?P<minutes>\d+) minutes\)"
)
CHALLENGE_HEADING = re.compile(r"### Challenge: `(\w+)` \(optional, \d+ minutes\)")
LONGEST_CELL = 15
LONGEST_READ = 20  # cells between two that a learner does something in
ASKED_TO_PREDICT = re.compile(r"\*\*Predict before you\s+run")
VIEW = re.compile(r"^view_\w+\(", re.MULTILINE)
VIEWS = ROOT / "utils" / "views"


def cells(lesson, kind):
    return [cell.source for cell in lesson.notebook.cells if cell.cell_type == kind]


def headings(lesson):
    prose = "\n".join(cells(lesson, "markdown"))
    return [match.groupdict() for match in EXERCISE_HEADING.finditer(prose)]


def names_in(code):
    """Return the names that a cell takes from cells before it, and those that it makes."""
    nodes = list(ast.walk(code))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {name.id for name in names} - made, made


def opening(lesson):
    return cells(lesson, "markdown")[0]


def test_every_exercise_has_a_heading(lesson):
    stated = [h["name"] for h in headings(lesson)]
    assert stated == [exercise.name for exercise in lesson.exercises]
    assert [int(h["number"]) for h in headings(lesson)] == list(range(1, len(stated) + 1))


def test_each_lesson_ends_with_a_challenge(lesson):
    stated = CHALLENGE_HEADING.findall("\n".join(cells(lesson, "markdown")))
    assert stated and [*lesson.asked] == [exercise.name for exercise in lesson.exercises] + stated


def test_the_opening_states_needs_and_outcome(lesson):
    text = opening(lesson)
    assert "| **You need** |" in text and "| **You can then** |" in text
    # In two sittings: they build or train whole models.
    most = {
        "05_square_corners": 150,
        "07_positions": 130,
        "10_tiny_language_model": 130,
        "11_fixed_memory": 120,
    }
    assert 45 <= minutes_needed(lesson.notebook.cells) <= most.get(lesson.name, 110)
    stated = TO_WRITE.findall("\n".join(cells(lesson, "markdown")))
    assert len(stated) >= len(lesson.exercises)


def test_points_are_in_proportion_to_minutes(lesson):
    minutes = {found["name"]: int(found["minutes"]) for found in headings(lesson)}
    points = {e.name: sum(aspect.points for aspect in e.aspects) for e in lesson.exercises}
    fair = sum(points.values()) / sum(minutes.values())
    shares = {name: points[name] / (minutes[name] * fair) for name in points}
    assert not {name: share for name, share in shares.items() if not 0.5 < share < 2}


def test_the_number_of_exercises(lesson):
    # Lessons 5, 10, 11 and 12 build whole models, part by part; lesson 8 has many small tests.
    most = {
        "05_square_corners": 8,
        "08_debugging_clinic": 10,
        "10_tiny_language_model": 9,
        "11_fixed_memory": 8,
        "12_inside_a_real_model": 9,
    }
    assert 4 <= len(lesson.exercises) <= most.get(lesson.name, 7)


def test_cells_are_short(lesson):
    long = [
        source
        for source in cells(lesson, "code")
        if not exercise_defined(source) and not source.startswith(("import", "from"))
        if len(source.splitlines()) > LONGEST_CELL
    ]
    assert not long


def test_all_imports_are_in_one_cell(lesson):
    importing = [
        source
        for source in cells(lesson, "code")
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(source).body)
    ]
    assert len(importing) == 1


def test_every_exercise_is_checked_right_after_it(lesson):
    code = cells(lesson, "code")
    for source, following in pairwise(code):
        if name := exercise_defined(source):
            assert exercise_checked(following) == name


def test_each_prediction_can_be_clicked(lesson):
    for cell, *below in zip(*(lesson.notebook.cells[i:] for i in range(3)), strict=False):
        if cell.cell_type == "markdown" and ASKED_TO_PREDICT.search(cell.source):
            assert any(prediction_asked(after.source) for after in below), cell.source


def test_there_is_always_something_to_do(lesson):
    acts = [
        number
        for number, cell in enumerate(lesson.notebook.cells)
        if cell.cell_type == "code"
        and (
            exercise_checked(cell.source)
            or prediction_asked(cell.source)
            or VIEW.search(cell.source)
        )
    ]
    assert max(after - before for before, after in pairwise([0, *acts])) <= LONGEST_READ


def test_no_downloads_and_no_shell(lesson):
    for source in cells(lesson, "code"):
        assert not re.search(r"^\s*[!%]|urlopen|requests|wget", source, re.MULTILINE)


def test_hints_do_not_give_the_code_away(lesson):
    for exercise in lesson.exercises:
        lines = solution_lines(lesson.solutions[exercise.name])
        for hint in exercise.hints:
            assert not [line for line in lines if line in hint], exercise.name


def solution_lines(source):
    """Return the lines of a solution that give something away, each stripped."""
    parts = source.split("### BEGIN SOLUTION")[1:]
    bodies = [part.split("### END SOLUTION")[0] for part in parts]
    lines = [line.strip() for body in bodies for line in body.splitlines()]
    common = re.compile(
        r"return [\w, ]+|[\w, ]+ = \w+\.shape|with torch\.no_grad\(\):.*|def .*|super\(\).*|#.*"
    )
    return [line for line in lines if len(line) > 20 and not common.fullmatch(line)]


def test_figures_have_alt_text_and_a_caption(lesson):
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    htmls = [
        output.data["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    images = [html for html in htmls if "<img" in html]
    assert images
    for html in images:
        assert re.search(r'<img alt="[^"]{20,}"', html)
        assert re.search(r"<figcaption[^>]*>[^<]{10,}", html)


def test_views_are_shown_with_current_scripts(lesson):
    """The check of outputs leaves out scripts whose numbers come from training."""
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    for html in (output.get("data", {}).get("text/html", "") for output in outputs):
        for name in re.findall(r'data-view="(\w+)-', html):
            for script in (f"{name}.js", "base.js"):
                text = (VIEWS / script).read_text(encoding="utf-8")
                assert text in html, f"{script} has changed: run `make lessons`"


def test_few_outputs_are_not_compared(lesson):
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    shown = [cell for cell in notebook.cells if cell.get("outputs")]
    ignored = [c for c in shown if "nbval-ignore-output" in c.metadata.get("tags", [])]
    assert len(ignored) <= len(shown) / 5
    assert all(len(cell.metadata.get("reason", "")) > 10 for cell in ignored)


def test_numbers_from_training_are_compared_roughly(lesson):
    """Names are followed from an optimizer's steps through everything computed from them."""
    made, exact = {"train_epoch"}, []
    for cell in nbformat.read(lesson.notebook_path, as_version=4).cells:
        if cell.cell_type != "code" or exercise_defined(cell.source):
            continue
        taken, own = names_in(ast.parse(cell.source))
        trains = bool(made & taken) or "optimizer.step()" in cell.source
        made = made | own if trains else made - own
        is_tagged = {"trained", "nbval-ignore-output"} & set(cell.metadata.get("tags", []))
        if trains and not is_tagged and re.search(r"\d\.\d", shown_by(cell)):
            exact.append(cell.source)
    assert not exact


def test_nothing_goes_to_stderr(lesson):
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    for cell in notebook.cells:
        assert not [o for o in cell.get("outputs", []) if o.get("name") == "stderr"]
