"""Whatever a learner hands in is read, and restored to match the released notebook."""

import copy
import json
import pickle
import random
from dataclasses import replace

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearSolutions,
    ComputeChecksums,
    DeduplicateIds,
    OverwriteCells,
    SaveCells,
)
from nbgrader.utils import compute_checksum, determine_grade

from autograder.grading.gradebook.released import read_blueprint
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.submission.read_notebook import (
    MOST_CELLS,
    BrokenSubmission,
    read_notebook,
    require_any_of,
)
from autograder.grading.submission.restore import WHY_EMPTY, empty_submission, restore
from autograder.lessons.cells import KERNEL, LANGUAGE, STUB, exercise_checked
from autograder.lessons.lesson import Lesson

LESSON = Lesson("01_dot_product_attention")
MOST = 10_000_000
REGION = "### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
F_STUB = "def f():\n    # YOUR CODE HERE\n    raise NotImplementedError()"
F_ANSWER, F_SECOND = "def f():\n    return 1", "def f():\n    return 2"
FLAGS = {
    "setup": "locked",
    "f": "solution",
    "check_f": "grade",
    "check_f_twice": "grade",
    "essay": "grade solution",
    "task": "task locked",
    "g": "solution",
    "check_g": "grade",
}
NAMES = list(FLAGS)


def cell(source, grade_id=None, cell_type="code", tags=()):
    """Make a cell as handed in, as JSON; everything that it claims except its grade_id is false."""
    lies = {"grade": True, "locked": False, "points": 99, "schema_version": 3, "solution": True}
    metadata = {"nbgrader": lies | {"grade_id": grade_id}} if grade_id else {}
    code = {"execution_count": None, "outputs": []} if cell_type == "code" else {}
    metadata |= {"tags": list(tags)} if tags else {}
    return {"cell_type": cell_type, "id": "x", "metadata": metadata, "source": source} | code


def as_bytes(cells, **others):
    return json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | others
    ).encode()


def read(*cells):
    return read_notebook(as_bytes(list(cells)), MOST)


def grade_ids(notebook):
    return [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]


def named(notebook):
    """Return a notebook's blueprint cells by grade_id; each must occur once."""
    found = [c for c in notebook.cells if "nbgrader" in c.metadata]
    by_name = {c.metadata.nbgrader["grade_id"]: c for c in found}
    assert len(by_name) == len(found)
    return by_name


def shown(notebook):
    """Show each cell as its grade_id, or its source if nbgrader does not know it."""
    names = grade_ids(notebook)
    return [name or c.source for name, c in zip(names, notebook.cells, strict=True)]


def own_source():
    """Make an instructor's own notebook, with every kind of cell that nbgrader has."""
    sources = {
        "setup": "import math",
        "f": f"def f():\n    {REGION}",
        "check_f": "assert f() == 1",
        "check_f_twice": "assert f() == f()",
        "essay": "Because it is so.",
        "task": "Draw a matrix.",
        "g": f"def g():\n    {REGION}",
        "check_g": "assert g() == 1",
    }
    notebook = new_notebook(metadata={"kernelspec": KERNEL})
    for name, source in sources.items():
        about = {flag: flag in FLAGS[name].split() for flag in ("grade", "solution", "task")}
        about |= {"grade_id": name, "locked": "locked" in FLAGS[name], "schema_version": 3}
        about |= {"points": 2} if about["grade"] or about["task"] else {}
        made = cell(source, cell_type="markdown" if name in ("essay", "task") else "code")
        made["metadata"]["nbgrader"] = about
        notebook.cells.append(nbformat.from_dict(made))
    return notebook


def preprocess(notebook, name, db_url, *preprocessors):
    resources = {"nbgrader": {"notebook": name, "assignment": "a", "db_url": db_url}}
    for preprocessor in preprocessors:
        notebook, _ = preprocessor.preprocess(notebook, resources)
    return notebook


def release(notebook, name, db_url):
    """Do what `nbgrader generate_assignment` does to a notebook and to the gradebook."""
    preprocess(notebook, name, db_url, ClearSolutions(), ComputeChecksums(), SaveCells())


@pytest.fixture(scope="module")
def db_url(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('gradebook') / 'gradebook.db'}"


@pytest.fixture(scope="module")
def gradebook(db_url):
    with Gradebook(db_url) as gradebook:
        gradebook.add_assignment("a")
        release(own_source(), "own", db_url)
        release(nbformat.read(LESSON.notebook_path, 4), LESSON.name, db_url)
        yield gradebook


@pytest.fixture(scope="module")
def own(gradebook):
    return read_blueprint(gradebook, "own", "a")


@pytest.fixture(scope="module")
def blueprint(gradebook):
    return read_blueprint(gradebook, LESSON.name, "a")


def released():
    return json.loads(LESSON.released_path.read_bytes())


def full(own, **changed):
    """Return the cells of the instructor's own notebook, some with a changed source."""
    return [cell(changed.get(c.name, c.source), c.name, c.cell_type) for c in own.cells]


# The blueprint


def test_the_blueprint_is_what_was_released(own):
    assert [c.name for c in own.cells] == NAMES
    for c in own.cells:
        facts = {flag for flag in ("grade", "solution", "task") if getattr(c, flag)}
        assert facts == set(FLAGS[c.name].split()) - {"locked"}
        assert c.locked == (not c.solution)
        assert c.points == (2 if c.grade or c.task else None)
    assert own.by_name["f"].source == F_STUB
    assert own.by_name["task"].cell_type == "markdown"


def test_it_knows_what_each_cell_checks(blueprint, own):
    names = [exercise.name for exercise in LESSON.exercises]
    assert blueprint.checks == {f"check_{name}": name for name in names}
    assert own.checks == {}


def test_a_cell_that_learners_may_write_is_not_a_check(blueprint):
    for facts in ({"locked": False}, {"grade": False}):
        cells = [replace(c, **facts) for c in blueprint.cells]
        assert Blueprint(cells).checks == {}


def test_it_knows_the_solution_that_a_check_follows(own):
    solutions = {"check_f": "f", "check_f_twice": "f", "check_g": "g"}
    assert own.solution_before == solutions
    assert Blueprint(own.cells[2:]).solution_before == {"check_g": "g"}


def test_in_every_lesson_a_check_follows_its_exercise(lesson):
    names = []
    for c in nbformat.read(lesson.released_path, 4).cells:
        names += [c.metadata.nbgrader["grade_id"]] if "nbgrader" in c.metadata else []
    challenges = [name for name, exercise in lesson.asked.items() if exercise.challenge]
    graded = [n for e in lesson.exercises for n in (e.name, f"check_{e.name}")]
    assert names == graded + challenges


def test_it_can_be_put_in_the_order_of_the_source_notebook(gradebook):
    order = ["g", "check_g", "f"]
    found = read_blueprint(gradebook, "own", "a", order)
    rest = [name for name in NAMES if name not in order]
    assert [c.name for c in found.cells] == order + rest


def test_a_notebook_that_was_not_released_has_none(gradebook):
    with pytest.raises(MissingEntry):
        read_blueprint(gradebook, "unheard of", "a")


def test_it_travels_to_workers(own):
    _ = own.by_name, own.solution_before
    assert pickle.loads(pickle.dumps(own)) == own


# Reading


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\0" * 4096, "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"%PDF-1.7", "not valid JSON"),
        (b'{"cells": [], "metadata": {}', "cut off"),
        (b'{"cells": [\n<<<<<<< HEAD\n]}', "line 2"),
        ('{"cells": ["é"]}'.encode("latin-1"), "not text in UTF-8"),
        ('{"cells": []}'.encode("utf-16"), "not text in UTF-8"),
        (b"NaN", "no list of cells"),
        (b"[1, 2]", "no list of cells"),
        (b'{"name": "x"}', "no list of cells"),
        (b'{"cells": {"0": {}}}', "no list of cells"),
        (b'{"cells": null, "worksheets": 3}', "no list of cells"),
        (b'{"cells": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"cells": [' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]}", "nested too deeply"),
        (b'{"cells": [' + b"{}," * MOST_CELLS + b"{}]}", "too long, 5001 cells"),
        (b'{"nbformat": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b" " * (MOST + 1), "too large, 10.0 MB where at most 10.0 MB"),
    ],
)
def test_an_unreadable_notebook_is_reported_with_a_remedy(data, words):
    with pytest.raises(BrokenSubmission) as told:
        read_notebook(data, MOST)
    assert words in str(told.value)
    assert "hand" in str(told.value).split(": ")[-1]
    assert "\n" not in str(told.value) and len(str(told.value)) < 300


def test_running_out_of_memory_is_reported_too(monkeypatch):
    def run_out(_):
        raise MemoryError

    monkeypatch.setattr(json, "loads", run_out)
    with pytest.raises(BrokenSubmission, match="nested too deeply"):
        read_notebook(b"{}", MOST)


def test_the_limits_themselves_are_allowed():
    data = as_bytes([{}] * MOST_CELLS)
    assert len(read_notebook(data, len(data)).cells) == MOST_CELLS


def test_a_whole_notebook_is_read_as_it_is():
    data = LESSON.released_path.read_bytes()
    notebook, original = read_notebook(data, MOST), nbformat.reads(data.decode(), 4)
    for cells in zip(notebook.cells, original.cells, strict=True):
        assert len({(c.cell_type, c.source) for c in cells}) == 1
    names = [c.metadata.get("nbgrader", {}).get("grade_id") for c in original.cells]
    assert grade_ids(notebook) == names
    assert read_notebook(b"\xef\xbb\xbf" + data, MOST) == notebook


@pytest.mark.parametrize("version", [{"nbformat": 5}, {"nbformat": "4"}, {"nbformat_minor": None}])
def test_the_version_that_a_notebook_claims_does_not_matter(version):
    notebook = read_notebook(as_bytes([cell("1")], **version), MOST)
    assert shown(notebook) == ["1"]


def test_only_cells_are_needed():
    assert shown(read_notebook(b'{"cells": [{"cell_type": "code", "source": "1"}]}', MOST)) == ["1"]
    assert read_notebook(b'{"cells": []}', MOST).cells == []


BROKEN_CELLS = [
    ({}, ("raw", "", {})),
    ({"outputs": [], "source": "1"}, ("code", "1", {})),
    ({"cell_type": "video", "source": "1"}, ("raw", "1", {})),
    ({"cell_type": ["code"], "source": "1"}, ("raw", "1", {})),
    ({"cell_type": "code", "source": ["a\n", 3, "b"]}, ("code", "a\nb", {})),
    ({"cell_type": "code", "source": {"a": 1}}, ("code", "", {})),
    ({"cell_type": "code", "source": float("nan")}, ("code", "", {})),
    ({"cell_type": "code", "source": "\ud800x"}, ("code", "\N{REPLACEMENT CHARACTER}x", {})),
    ({"cell_type": "code", "source": "1", "metadata": []}, ("code", "1", {})),
    ({"cell_type": "code", "source": "1", "metadata": {"nbgrader": 3}}, ("code", "1", {})),
    ({"cell_type": "code", "metadata": {"nbgrader": {"grade_id": 3}}}, ("code", "", {})),
    ({"cell_type": "code", "metadata": {"tags": "abc"}}, ("code", "", {})),
    (
        {"cell_type": "code", "metadata": {"tags": ["b", "a,c", 3, "b", "", "\udc00"]}},
        ("code", "", {"tags": ["b", "\N{REPLACEMENT CHARACTER}"]}),
    ),
    (
        {"cell_type": "raw", "source": "", "metadata": {"x": [[]], "nbgrader": {"grade_id": "f"}}},
        ("raw", "", {"nbgrader": {"grade_id": "f"}}),
    ),
    ({"cell_type": "code", "outputs": "none", "execution_count": "x"}, ("code", "", {})),
]


@pytest.mark.parametrize(("broken", "wanted"), BROKEN_CELLS)
def test_a_broken_cell_is_rebuilt(broken, wanted):
    notebook = read(broken, 3, None, [broken])
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    [found] = notebook.cells
    assert (found.cell_type, found.source, found.metadata) == wanted


def test_outputs_and_counts_are_dropped():
    ran = cell("1") | {"execution_count": 7, "outputs": [{"output_type": "nonsense"}]}
    [found] = read(ran).cells
    assert found.outputs == [] and found.execution_count is None


def test_ids_are_unique_and_always_the_same():
    broken = [cell("1"), cell("2"), cell("3") | {"id": "§" * 99}, cell("4") | {"id": 4}]
    notebook = read(*broken, {"cell_type": "code", "source": "5"})
    nbformat.validate(notebook)
    assert len({c.id for c in notebook.cells}) == 5
    assert notebook == read(*broken, {"cell_type": "code", "source": "5"})


def test_the_kernel_is_the_courses():
    lie = {"kernelspec": {"name": "bash", "display_name": "x"}, "language_info": {"name": "sh"}}
    metadata = read_notebook(as_bytes([], metadata=lie | {"widgets": {}}), MOST).metadata
    assert metadata == {"kernelspec": KERNEL, "language_info": LANGUAGE}


@pytest.mark.parametrize(
    ("cell_type", "attachments", "kept"),
    [
        ("markdown", {"a.png": {"image/png": "aGk="}}, True),
        ("markdown", {"a.png": {"image/png": ["aGk="]}}, False),
        ("markdown", {"a.html": {"text/html": "<b>"}}, False),
        ("markdown", {"a.png": "aGk="}, False),
        ("markdown", ["a.png"], False),
        ("code", {"a.png": {"image/png": "aGk="}}, False),
    ],
)
def test_pictures_in_text_are_kept(own, cell_type, attachments, kept):
    notebook = read(cell("x", cell_type=cell_type) | {"attachments": attachments})
    for found in (notebook.cells[0], restore(notebook, own).cells[0]):
        assert found.get("attachments") == (attachments if kept else None)


def test_half_characters_in_pictures_cannot_break_a_file():
    picture = {"attachments": {"\ud800": {"image/\ud800": "\ud800"}}}
    nbformat.writes(read(cell("x", cell_type="markdown") | picture)).encode()


def test_a_notebook_of_nbformat_3_is_converted(caplog):
    sheet = {
        "cells": [
            {"cell_type": "heading", "level": 2, "source": ["A title"], "metadata": {}},
            {"cell_type": "code", "input": ["x = 1\n", "x"], "language": "python"},
            {"cell_type": "code", "input": "y", "metadata": {"nbgrader": {"grade_id": "f"}}},
            {"cell_type": "markdown", "source": "Text.", "metadata": {"tags": ["a"]}},
            {"cell_type": "html", "source": "<b>Text</b>"},
            {"cell_type": "raw", "source": ["R", "aw."]},
        ]
    }
    data = json.dumps({"nbformat": 3, "nbformat_minor": 0, "worksheets": [sheet, sheet]}).encode()
    notebook = read_notebook(data, MOST)
    nbformat.validate(notebook)
    texts = ["## A title", "x = 1\nx", "f", "Text.", "<b>Text</b>", "Raw."]
    assert shown(notebook) == texts * 2
    kinds = ["markdown", "code", "code", "markdown", "markdown", "raw"]
    assert [c.cell_type for c in notebook.cells] == kinds * 2
    assert notebook.cells[3].metadata == {"tags": ["a"]}
    assert not caplog.records


def test_a_heading_of_nbformat_3_has_up_to_six_levels():
    cells = [{"cell_type": "heading", "level": n, "source": "T"} for n in range(8)]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    signs = ["", *(f"{'#' * n} " for n in range(1, 7)), ""]
    assert [c.source for c in read_notebook(data, MOST).cells] == [f"{sign}T" for sign in signs]


@pytest.mark.parametrize("level", [10**12, -1, "2", None, [], 2.5, float("nan"), float("inf")])
def test_a_heading_of_nbformat_3_cannot_be_a_bomb(level):
    heading = {"cell_type": "heading", "level": level, "source": "A title"}
    sheets = [{"cells": [heading, 3, {"cell_type": 3}]}, {"cells": 3}, {}, None]
    data = json.dumps({"nbformat": 3, "worksheets": sheets}).encode()
    assert [c.source for c in read_notebook(data, MOST).cells] == ["A title", ""]


def test_an_empty_or_another_notebook_is_refused(own):
    refused = [([], "nothing in"), ([cell(" \n", "f")], "nothing in")]
    refused += [([cell("1", "h")], "another notebook"), ([cell("1"), cell("2", "h")], "another")]
    for cells, words in refused:
        with pytest.raises(BrokenSubmission, match=words):
            require_any_of(read(*cells), own.by_name)
    for cells in ([cell("1")], [cell(""), cell("1", "f"), cell("2", "h")]):
        require_any_of(read(*cells), own.by_name)
    require_any_of(read(cell("1", "h")), [])


# Restoring


def test_an_untouched_notebook_stays_as_it_is(blueprint):
    notebook = read_notebook(LESSON.released_path.read_bytes(), MOST)
    restored = restore(notebook, blueprint)
    original = nbformat.read(LESSON.released_path, 4)
    assert [c.source for c in restored.cells] == [c.source for c in original.cells]
    for now, then in zip(restored.cells, original.cells, strict=True):
        assert now.metadata.get("nbgrader") == then.metadata.get("nbgrader")


def test_locked_cells_have_the_checksum_of_the_release(own):
    restored = named(restore(read(*full(own, check_f="assert True", task="Rest.")), own))
    for c in own.cells:
        if c.locked and not c.task:
            assert compute_checksum(restored[c.name]) == c.checksum
        assert restored[c.name].source == c.source


def test_a_submissions_claims_about_a_cell_do_not_count(own):
    restored = named(restore(read(*full(own)), own))
    keys = {"cell_type", "checksum", "grade", "grade_id", "locked", "schema_version"}
    keys |= {"solution", "task"}
    for c in own.cells:
        metadata = restored[c.name].metadata.nbgrader
        assert metadata == c.metadata
        assert set(metadata) - {"points", "checksum"} == keys - {"checksum"}
        assert metadata.get("points") == c.points
        assert (metadata.grade, metadata.locked) == (c.grade, c.locked)
        assert (metadata.solution, metadata.task) == (c.solution, c.task)


def test_nbgrader_finds_nothing_left_to_fix(own, db_url):
    cells = full(own, check_f="assert True", f=F_ANSWER)
    restored = restore(read(*cells[::-1], *cells[:4], cell("1", "invented")), own)
    steps = DeduplicateIds(), OverwriteCells(add_missing_cells=True), CheckCellMetadata()
    assert preprocess(copy.deepcopy(restored), "own", db_url, *steps) == restored


def test_types_and_tags_of_nbgraders_cells_are_the_releases(own):
    cells = [c | {"cell_type": "raw"} for c in full(own, f=F_ANSWER, essay="So.")]
    for c in cells:
        c["metadata"]["tags"] = ["skip-execution"]
    restored = named(restore(read(*cells), own))
    assert {n: c.cell_type for n, c in restored.items()} == {c.name: c.cell_type for c in own.cells}
    assert restored["f"].source == F_ANSWER and restored["essay"].source == "So."
    assert all(list(c.metadata) == ["nbgrader"] for c in restored.values())


def test_plain_cells_keep_their_tags_and_lose_what_they_claim(own):
    notebook = read(cell("x = 1", "invented", tags=["skip-execution"]), *full(own))
    [plain] = [c for c in restore(notebook, own).cells if c.source == "x = 1"]
    assert plain.metadata == {"tags": ["skip-execution"]}


@pytest.mark.parametrize(
    ("submitted", "wanted"),
    [
        # a copy below the stub, and above it: the stub is dropped, or it would undo the answer
        ([("f", F_STUB), ("f", F_ANSWER)], ["f"]),
        ([("f", F_ANSWER), ("f", F_STUB)], ["f"]),
        ([("f", F_ANSWER), ("f", F_STUB.replace("\n", "  \n") + "\n")], ["f"]),
        ([("f", F_ANSWER), ("f", " \n")], ["f"]),
        # two answers both run, and the last one has the id
        ([("f", F_SECOND), ("f", F_ANSWER)], [F_SECOND, "f"]),
        ([("f", F_ANSWER), (None, "x = 1"), ("f", F_ANSWER)], [F_ANSWER, "x = 1", "f"]),
        # only stubs
        ([("f", F_STUB), ("f", F_STUB)], ["f"]),
    ],
)
def test_of_copies_of_a_solution_the_last_answer_counts(own, submitted, wanted):
    cells = [cell(source, name) for name, source in submitted]
    setup, _, *rest = full(own)
    restored = restore(read(setup, *cells, *rest), own)
    after = shown(restored)
    assert after[1 : after.index("check_f")] == wanted
    answered = any(source == F_ANSWER for _, source in submitted)
    assert named(restored)["f"].source == (F_ANSWER if answered else F_STUB)


def test_an_answer_laid_aside_as_text_stays_text(own):
    aside = cell(F_SECOND, "f", "markdown")
    restored = restore(read(cell(F_ANSWER, "f"), aside, *full(own)[2:]), own)
    assert named(restored)["f"].source == F_ANSWER
    [plain] = [c for c in restored.cells if c.source == F_SECOND]
    assert plain.cell_type == "markdown"


def test_an_answer_that_is_text_only_is_taken(own):
    restored = restore(read(cell(F_STUB, "f"), cell(F_ANSWER, "f", "raw")), own)
    assert named(restored)["f"].source == F_ANSWER
    assert named(restored)["f"].cell_type == "code"


def test_of_copies_of_a_check_one_stays(own):
    cells = full(own)
    restored = restore(read(*cells[:3], cells[2], cell("x = 1"), cells[2], *cells[3:]), own)
    assert shown(restored) == [*NAMES[:2], "x = 1", *NAMES[2:]]


def test_a_copy_of_a_check_may_be_used_for_something_else(own):
    cells = full(own)
    helper = cell("def helper(): return 1", "check_f")
    for order in ([*cells, helper], [cells[0], helper, *cells[1:]]):
        restored = restore(read(*order), own)
        assert [c.source for c in restored.cells].count(helper["source"]) == 1
        assert [n for n in shown(restored) if n in NAMES] == NAMES


def test_the_other_copies_are_plain(own):
    cells = [cell(F_SECOND, "f", tags=["mine"]), cell(F_ANSWER, "f"), *full(own)[2:]]
    [plain] = [c for c in restore(read(*cells), own).cells if c.source == F_SECOND]
    assert plain.metadata == {"tags": ["mine"]}


def without(own, *names):
    plain = [cell("a"), cell("b"), cell("c")]
    kept = [c for c in full(own) if c["metadata"]["nbgrader"]["grade_id"] not in names]
    return [*kept[:2], plain[0], *kept[2:4], plain[1], *kept[4:], plain[2]]


@pytest.mark.parametrize(
    ("missing", "wanted"),
    [
        # right after its solution
        (["check_f"], "setup f check_f a check_f_twice essay b task g check_g c"),
        (["check_f", "check_f_twice"], "setup f check_f check_f_twice a essay task b g check_g c"),
        (["check_g"], "setup f a check_f check_f_twice b essay task g check_g c"),
        # a solution before its check, and anything else before the cell that should follow
        (["f"], "setup f check_f a check_f_twice essay b task g check_g c"),
        (["g"], "setup f a check_f check_f_twice b essay task g check_g c"),
        (["setup"], "setup f check_f a check_f_twice essay b task g check_g c"),
        (["essay", "task"], "setup f a check_f check_f_twice b essay task g check_g c"),
        # a solution and its checks: as late as possible, so that an answer without metadata has run
        (["g", "check_g"], "setup f a check_f check_f_twice b essay task c g check_g"),
        (
            ["f", "check_f", "check_f_twice"],
            "setup f check_f check_f_twice essay a task g b check_g c",
        ),
        (NAMES, "a b c setup f check_f check_f_twice essay task g check_g"),
    ],
)
def test_a_missing_cell_comes_back_in_its_place(own, missing, wanted):
    restored = restore(read(*without(own, *missing)), own)
    assert shown(restored) == wanted.split()


def test_an_answer_without_its_metadata_runs_before_its_check(own):
    """Some editors drop the metadata, but the source is still there."""
    bare = [cell(c["source"]) for c in full(own, f=F_ANSWER)]
    restored = restore(read(*bare), own)
    sources = [c.source for c in restored.cells]
    assert sources.index(F_ANSWER) < shown(restored).index("check_f")


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["check_f", "x", F_ANSWER], ["x", F_ANSWER, "f", "check_f"]),
        (["check_f", "check_f_twice", "f = 1"], ["f = 1", "f", "check_f", "check_f_twice"]),
        (["check_f", F_SECOND, "x", F_ANSWER, "y"], [F_SECOND, "x", F_ANSWER, "f", "check_f", "y"]),
        ([F_ANSWER, "check_f", F_SECOND], [F_ANSWER, "f", "check_f", F_SECOND]),
        (["check_f", "f == 1", "g(\n  f=1)"], ["f", "check_f", "f == 1", "g(\n  f=1)"]),
        (["check_f", "g", "%%time\n" + F_ANSWER], ["g", "%%time\n" + F_ANSWER, "f", "check_f"]),
        (["f", "check_f", F_ANSWER], ["f", "check_f", F_ANSWER]),
    ],
)
def test_a_check_follows_an_answer_that_lost_its_metadata(own, cells, wanted):
    sources = {c.name: c.source for c in own.cells}
    made = [cell(sources.get(n, n), n if n in NAMES else None) for n in cells]
    restored = shown(restore(read(*made), own))
    assert [n for n in restored if n in {*wanted}] == wanted


def test_a_missing_solution_comes_back_empty(own):
    assert named(restore(read(), own))["f"].source == ""


def test_a_missing_essay_counts_as_no_response(own):
    essay = named(restore(read(), own))["essay"]
    assert determine_grade(essay) == (0, 2)
    written = named(restore(read(*full(own, essay="So.")), own))["essay"]
    assert determine_grade(written) == (None, 2)


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("check_f x f y", "x f check_f y"),
        ("check_f_twice check_f x f y", "x f check_f check_f_twice y"),
        ("check_f_twice x f y check_f", "x f check_f_twice y check_f"),
        ("f x check_f_twice y check_f", "f x check_f_twice y check_f"),
        ("check_g g check_f f", "g check_g f check_f"),
        ("task essay setup f check_f", "task essay setup f check_f"),
    ],
)
def test_a_check_never_stands_before_its_solution(own, order, wanted):
    sources = {c.name: c.source for c in own.cells}
    cells = [cell(sources.get(n, n), n if n in NAMES else None) for n in order.split()]
    restored = shown(restore(read(*cells), own))
    assert [n for n in restored if n in order.split()] == wanted.split()


def test_a_cell_that_points_elsewhere_still_runs(own):
    cells = full(own, f=F_ANSWER)
    cells[1]["metadata"]["nbgrader"]["grade_id"] = "check_g"
    restored = restore(read(*cells), own)
    assert named(restored)["check_g"].source == "assert g() == 1"
    assert named(restored)["f"].source == ""
    sources = [c.source for c in restored.cells]
    assert sources.index(F_ANSWER) < shown(restored).index("check_f")


def test_another_lessons_notebook_answers_nothing(blueprint, own):
    other = restore(read(*full(own)), blueprint)
    exercises = {exercise.name for exercise in LESSON.exercises}
    assert all(c.source == "" for name, c in named(other).items() if name in exercises)
    assert set(named(other)) == {c.name for c in blueprint.cells}


def test_the_input_is_not_changed(own):
    notebook = read(*full(own), cell("1", "invented", tags=["a"]))
    before = copy.deepcopy(notebook)
    restored = restore(notebook, own)
    restored.cells[-1].metadata.tags.append("b")
    restored.cells[0].metadata.nbgrader["points"] = 99
    restored.metadata.kernelspec.name = "bash"
    assert notebook == before
    assert KERNEL["name"] == "python3"
    assert own.by_name["setup"].metadata.get("points") is None


def test_what_stands_in_for_a_broken_notebook(own):
    notebook = empty_submission(own, "The \ud800 file is empty.")
    check_invariants(notebook, own)
    assert "file is empty." in notebook.cells[0].source
    assert notebook.cells[0].cell_type == "markdown"
    assert grade_ids(notebook) == [None, *NAMES]
    assert named(notebook)["f"].source == named(notebook)["g"].source == ""
    assert determine_grade(named(notebook)["essay"]) == (0, 2)
    assert notebook.cells[0].metadata.pop(WHY_EMPTY)
    assert restore(notebook, own) == notebook  # nobody can hand in such a reason


# Whatever happens to a notebook


def check_invariants(notebook, blueprint):
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    nbformat.writes(notebook).encode()
    found, names = named(notebook), grade_ids(notebook)
    assert set(found) == {c.name for c in blueprint.cells}
    for c in blueprint.cells:
        assert found[c.name].metadata == {"nbgrader": c.metadata}
        assert found[c.name].cell_type == c.cell_type
        assert found[c.name].source == c.source or not c.locked
    for check, solution in blueprint.solution_before.items():
        assert names.index(solution) < names.index(check)


OPERATIONS = ["delete", "duplicate", "move", "retag", "retype", "rewrite", "re-point", "bare"]
CHANGES = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 10**6)), max_size=12)
RELEASED = released()
POINTED = [
    c["metadata"]["nbgrader"]["grade_id"] for c in RELEASED["cells"] if "nbgrader" in c["metadata"]
]


def change(cells, operation, number):
    """Change the cells as a learner, an editor or an attacker may do."""
    chance = random.Random(number)
    # Half of all changes affect nbgrader's cells.
    marked = [i for i, c in enumerate(cells) if c["metadata"].get("nbgrader")]
    place = chance.choice(marked or [0]) if number % 2 else chance.randrange(len(cells))
    other, c = chance.randrange(len(cells) + 1), cells[place]
    match operation:
        case "delete" if len(cells) > 1:
            del cells[place]
        case "duplicate":
            cells.insert(other, copy.deepcopy(c))
        case "move":
            cells.insert(other, cells.pop(place))
        case "retag":
            c["metadata"]["tags"] = ["skip-execution", "raises-exception"]
        case "retype":
            c["cell_type"] = chance.choice(["code", "markdown", "raw", "heading"])
        case "rewrite":
            c["source"] = chance.choice(["", "import os", f"x = {number}", ["def f():\n", " pass"]])
        case "re-point":
            c["metadata"]["nbgrader"] = {"grade_id": chance.choice([*POINTED, "invented"])}
        case "bare":
            c["metadata"] = {}


def said(cell):
    return "".join(cell["source"])


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES, shuffle=st.none() | st.integers(0, 99))
def test_any_notebook_is_restored(blueprint, changes, shuffle):
    cells = copy.deepcopy(RELEASED["cells"])
    for operation, number in changes:
        change(cells, operation, number)
    if shuffle is not None:
        random.Random(shuffle).shuffle(cells)
    restored = restore(read(*cells), blueprint)
    check_invariants(restored, blueprint)
    assert restore(restored, blueprint) == restored
    check_answers(cells, restored, blueprint)


def check_answers(cells, restored, blueprint):
    """Check that answers come from the submission, and that learners' code runs in its order."""
    claims: dict[str, list[str]] = {}
    for c in cells:
        claims.setdefault(c["metadata"].get("nbgrader", {}).get("grade_id"), []).append(said(c))
    for c in blueprint.cells:
        if c.solution:
            assert named(restored)[c.name].source in claims.get(c.name, [""])
    known = set(blueprint.by_name)
    plain = [
        said(c) for c in cells if not known & {c["metadata"].get("nbgrader", {}).get("grade_id")}
    ]
    run = iter(c.source for c in restored.cells if "nbgrader" not in c.metadata)
    assert all(source in run for source in plain)
    answers = [said(c) for c in cells if said(c).strip() and STUB not in said(c)]
    kept = {c.source for c in restored.cells}
    assert {a for a in answers if not exercise_checked(a)} <= kept | overwritten(claims, blueprint)


def overwritten(claims, blueprint):
    """Return the only thing that gets lost: changes to the only copy of a locked cell."""
    lost = [claims.get(c.name, [])[-1:] for c in blueprint.cells if c.locked]
    return {source for sources in lost for source in sources}
