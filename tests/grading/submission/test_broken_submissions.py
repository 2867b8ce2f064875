"""Broken, odd or badly named submissions each get a clear line, and all others are graded.

All of them go through one run of nbgrader's own commands, as an instructor would run them.
"""

import gzip
import json
import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission
from tests.support.classroom import command
from tests.support.commands import run

pytestmark = pytest.mark.usefixtures("sandbox")
LESSON = Lesson("01_dot_product_attention")
FULL = sum(exercise.points for exercise in LESSON.exercises)
NOTEBOOK = f"{LESSON.name}.ipynb"
MEGABYTE = 1 << 20
ODD_NAME = "my cöurse's [2]nd year"


def solved(lesson=LESSON):
    return MadeUpSubmission("", {e.name: SOLUTION for e in lesson.exercises}).notebook(lesson)


TEXT = nbformat.writes(solved())


def nothing(folder):
    pass


def another_kind_of_file(folder):
    (folder / "essay.pdf").write_bytes(b"%PDF-1.7")


def holding(text):
    """Make a submission whose notebook is this text."""

    def lay(folder):
        (folder / NOTEBOOK).write_text(text, encoding="utf-8")

    return lay


def edited(change):
    """Make a submission whose notebook's JSON is changed."""

    def lay(folder):
        tree = json.loads(TEXT)
        change(tree)
        (folder / NOTEBOOK).write_text(json.dumps(tree), encoding="utf-8")

    return lay


def old_format(folder):
    notebook = nbformat.convert(solved(), 3)
    (folder / NOTEBOOK).write_text(
        nbformat.writes(notebook, version=nbformat.NO_CONVERT), encoding="utf-8"
    )


def no_metadata(tree):
    del tree["metadata"], tree["nbformat"], tree["nbformat_minor"]
    for cell in tree["cells"]:
        cell.pop("metadata", None)


def same_ids(tree):
    for cell in tree["cells"]:
        cell["id"] = "same"


def huge(folder):
    with (folder / NOTEBOOK).open("w", encoding="utf-8") as file:
        for _ in range(200):
            file.write(" " * MEGABYTE)
        file.write(TEXT)


def another_lesson(folder):
    nbformat.write(solved(Lesson("02_qkv_projections")), folder / NOTEBOOK)


def another_name(folder):
    (folder / "my solution (2).ipynb").write_text(TEXT, encoding="utf-8")


def two_other_names(folder):
    another_name(folder)
    shutil.copy(folder / "my solution (2).ipynb", folder / "my solution.ipynb")


def link_as_notebook(folder):
    (folder.parents[1] / "stray.ipynb").write_text(TEXT, encoding="utf-8")
    (folder / NOTEBOOK).symlink_to(folder.parents[1] / "stray.ipynb")


def link_as_folder(folder):
    folder.rmdir()
    folder.symlink_to(folder.parents[1] / "good" / LESSON.name)


def link_beside(folder):
    holding(TEXT)(folder)
    (folder / "secret.txt").symlink_to("/etc/hostname")
    (folder / "all").symlink_to("/")


def fifo_beside(folder):
    holding(TEXT)(folder)
    os.mkfifo(folder / "pipe.txt")


def hard_link_as_notebook(folder):
    (folder.parents[1] / "other.ipynb").write_text(TEXT, encoding="utf-8")
    os.link(folder.parents[1] / "other.ipynb", folder / NOTEBOOK)


def hard_link_beside(folder):
    holding(TEXT)(folder)
    (folder.parents[2] / "gradebook.txt").write_text("all grades", encoding="utf-8")
    os.link(folder.parents[2] / "gradebook.txt", folder / "mine.txt")


def facts_beside(folder):
    holding(TEXT)(folder)
    (folder / f"{LESSON.name}.run.json").mkdir()
    (folder / f"{LESSON.name}.run.json" / "x").write_text("{}", encoding="utf-8")


def swarm_beside(folder):
    holding(TEXT)(folder)
    for number in range(20_000):
        (folder / f"{number}.txt").touch()


def with_time(lay):
    """Make a submission whose timestamp.txt is made by `lay`."""

    def lay_both(folder):
        holding(TEXT)(folder)
        lay(folder / "timestamp.txt")

    return lay_both


def fifo_as_notebook(folder):
    os.mkfifo(folder / NOTEBOOK)


def folder_as_notebook(folder):
    (folder / NOTEBOOK).mkdir()


def odd_names_beside(folder):
    holding(TEXT)(folder)
    for name in ("a b.txt", "'q\" $(id).txt", "línea.txt", "two\nlines.txt", "[x]*?.txt", "-rf"):
        (folder / name).write_text("here", encoding="utf-8")
    with open(os.path.join(os.fsencode(folder), b"no text \xff.txt"), "wb") as file:
        file.write(b"here")


def file_in_the_way(folder):
    """Add a folder where the course's own file might be, with a broken notebook in it."""
    holding(TEXT)(folder)
    (folder / "data").mkdir()
    (folder / "data" / "more.ipynb").write_text("{", encoding="utf-8")


def unreadable(folder):
    holding(TEXT)(folder)
    (folder / NOTEBOOK).chmod(0)


def in_bytes(data):
    """Make a submission whose notebook has these bytes."""

    def lay(folder):
        (folder / NOTEBOOK).write_bytes(data)

    return lay


def sources_as_texts(tree):
    for cell in tree["cells"]:
        cell["source"] = "".join(cell["source"])


def other_types(tree):
    """Give everything except the cells' text the wrong type."""
    tree["metadata"], tree["nbformat_minor"] = ["kernelspec"], "5"
    for cell in tree["cells"]:
        cell["id"], cell["execution_count"], cell["outputs"] = 5, "one", {"text": None}
        cell["attachments"] = [1]


def no_ids(tree):
    for cell in tree["cells"]:
        del cell["id"]


def answers_as_text(tree):
    for cell in tree["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["cell_type"] = "markdown"


def text_as_code(tree):
    for cell in tree["cells"]:
        cell["cell_type"] = "code"


def half_characters(tree):
    tree["cells"][0]["source"].append("\ud800 \udfff \x00")
    tree["metadata"]["\ud800"] = "\udfff"


def merge_conflict(tree):
    """Put git's conflict markers into a text cell, where the notebook can still be parsed."""
    tree["cells"][0]["source"].append("\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\n")


def widgets(tree):
    state = {"state": {str(n): {"model_name": "x", "state": {}} for n in range(2000)}}
    tree["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": state}


def large_outputs(tree):
    """Add outputs of nine megabytes, of the ten that a notebook may have."""
    code = [cell for cell in tree["cells"] if cell["cell_type"] == "code"]
    text = "x" * (9_000_000 // len(code))
    for cell in code:
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]


def checkpoints_beside(folder):
    holding(TEXT)(folder)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / NOTEBOOK).write_text("{", encoding="utf-8")


def mac_files_beside(folder):
    holding(TEXT)(folder)
    for name in (".DS_Store", f"._{NOTEBOOK}"):
        (folder / name).write_bytes(b"\0\5\x16\7")


def in_a_folder(folder):
    (folder / LESSON.name).mkdir()
    holding(TEXT)(folder / LESSON.name)


def loop_of_links(folder):
    (folder / NOTEBOOK).symlink_to(folder / NOTEBOOK)


def too_many_cells(tree):
    tree["cells"] += [{"cell_type": "raw", "source": "", "metadata": {}}] * 5_000


good = holding(TEXT)

# By learner: what is handed in, the grade, and what the summary says about it ("" for nothing).
SUBMISSIONS = {
    "a good first": (good, FULL, ""),
    "as released": (holding(LESSON.released_path.read_text(encoding="utf-8")), 0, "unanswered"),
    "good": (good, FULL, ""),
    "no notebook": (nothing, 0, f"there is no {NOTEBOOK} in the submission"),
    "a PDF": (another_kind_of_file, 0, f"no {NOTEBOOK} in the submission; there is essay.pdf"),
    "empty file": (holding(""), 0, "The file is empty"),
    "spaces": (holding(" \n\n"), 0, "The file is empty"),
    "truncated": (holding(TEXT[: len(TEXT) // 2]), 0, "damaged or cut off"),
    "another kind": (holding("%PDF-1.7 \x00"), 0, "no valid JSON|not valid JSON"),
    "a list": (holding("[1, 2]"), 0, "no list of cells"),
    "a number": (holding("5"), 0, "no list of cells"),
    "nested": (holding("[" * 10**5 + "]" * 10**5), 0, "nested too deeply"),
    "no cells": (holding('{"cells": [], "metadata": {}, "nbformat": 4}'), 0, "There is nothing"),
    "odd cells": (holding('{"cells": [1, null, [], {}, {"cell_type": 5}]}'), 0, "nothing in"),
    "nbformat 3": (old_format, FULL, ""),
    "nbformat 99": (edited(lambda tree: tree.update(nbformat=99)), FULL, ""),
    "no metadata": (edited(no_metadata), FULL, ""),
    "duplicate ids": (edited(same_ids), FULL, ""),
    "too large": (huge, 0, r"21\d MB; \d+ MB are allowed"),
    "another lesson": (another_lesson, 0, "This is another notebook"),
    "another name": (another_name, FULL, ""),
    "two other names": (two_other_names, 0, r"my solution\.ipynb: keep one of them"),
    "link as notebook": (link_as_notebook, 0, "is a link"),
    "link as folder": (link_as_folder, 0, "is a link"),
    "link beside": (link_beside, FULL, ""),
    "fifo beside": (fifo_beside, FULL, ""),
    "fifo as notebook": (fifo_as_notebook, 0, "is a named pipe, not a file"),
    "folder as notebook": (folder_as_notebook, 0, "is a folder, not a file"),
    "hard link beside": (hard_link_beside, FULL, ""),
    "facts beside": (facts_beside, FULL, ""),
    "swarm beside": (swarm_beside, FULL, ""),
    "hard link as notebook": (hard_link_as_notebook, 0, "is the same file as another"),
    "time is a fifo": (
        with_time(os.mkfifo),
        0,
        "timestamp.txt can't be read, because it is a named pipe",
    ),
    "time is a folder": (
        with_time(Path.mkdir),
        0,
        "timestamp.txt can't be read, because it is a folder",
    ),
    "time is 3 MB": (
        with_time(lambda path: path.write_text("9." * 1_500_000, encoding="utf-8")),
        0,
        "timestamp.txt can't be read, because it has 3 MB; 200 bytes are allowed",
    ),
    "odd names beside": (odd_names_beside, FULL, ""),
    "utf-16": (in_bytes(TEXT.encode("utf-16")), 0, "no text|not text in UTF-8"),
    "latin-1": (in_bytes(TEXT.encode() + b"\xe9"), 0, "not text in UTF-8"),
    "byte order mark": (in_bytes(b"\xef\xbb\xbf" + TEXT.encode()), FULL, ""),
    "zeros": (in_bytes(bytes(100_000)), 0, "The file is empty"),
    "windows lines": (in_bytes(TEXT.replace("\n", "\r\n").encode()), FULL, ""),
    "zipped": (in_bytes(gzip.compress(TEXT.encode())), 0, "not text in UTF-8"),
    "twice in one": (holding(TEXT + TEXT), 0, "not valid JSON"),
    "conflict in JSON": (
        holding(f"<<<<<<< HEAD\n{TEXT}\n=======\n{TEXT}\n>>>>>>> x"),
        0,
        "not valid JSON",
    ),
    "conflict in text": (edited(merge_conflict), FULL, ""),
    "python": (holding("print('hello')\n"), 0, "not valid JSON"),
    "web page": (holding("<!DOCTYPE html><title>Sign in</title>"), 0, "not valid JSON"),
    "NaN": (holding('{"cells": NaN, "nbformat": 4}'), 0, "no list of cells"),
    "sources as texts": (edited(sources_as_texts), FULL, ""),
    "other types": (edited(other_types), FULL, ""),
    "no ids": (edited(no_ids), FULL, ""),
    "answers as text": (edited(answers_as_text), FULL, ""),
    "text as code": (edited(text_as_code), FULL, ""),
    "half characters": (edited(half_characters), FULL, ""),
    "widgets": (edited(widgets), FULL, ""),
    "large outputs": (edited(large_outputs), FULL, ""),
    "too many cells": (edited(too_many_cells), 0, r"5\d+ cells where at most 5000 are read"),
    "checkpoints beside": (checkpoints_beside, FULL, ""),
    "files of macOS beside": (mac_files_beside, FULL, ""),
    "in a folder": (in_a_folder, 0, "there is no"),
    "loop of links": (loop_of_links, 0, "is a link"),
    "file in the way": (file_in_the_way, FULL, ""),
    "O'Brien (Bob)": (good, FULL, ""),
    "Zoë Müller-Ωmega 李": (good, FULL, ""),
    "{braces} and more*?": (good, FULL, ""),
    "$(touch owned); `id` || %s {0}": (good, FULL, ""),
    "$HOME %n": (nothing, 0, "there is no"),
    "z" * 100: (good, FULL, ""),
    "zz a good last": (good, FULL, ""),
}
if os.getuid():
    SUBMISSIONS["unreadable"] = (unreadable, 0, "can't be read")


def nbgrader(course, *arguments):
    done = run(*command(course, *arguments))
    return done.status, done.said


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = tmp_path_factory.mktemp("course") / ODD_NAME
    shutil.copytree(LESSON.notebook_path.parent, course / "solutions" / LESSON.name)
    assert nbgrader(course, "generate_assignment", LESSON.name)[0] == 0
    for learner, (lay, _, _) in SUBMISSIONS.items():
        folder = course / "submitted" / learner / LESSON.name
        folder.mkdir(parents=True)
        lay(folder)
    yield course
    shutil.rmtree(course.parent, ignore_errors=True)


@pytest.fixture(scope="module")
def said(course):
    """The output of `nbgrader autograde` for all of them; some can't be graded."""
    code, said = nbgrader(course, "autograde", LESSON.name)
    assert code == 1, said[-3000:]
    return said


@pytest.fixture(scope="module")
def grades(course, said):
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        found = gradebook.assignment_submissions(LESSON.name)
        return {submission.student.id: submission.score for submission in found}


@pytest.fixture(scope="module")
def feedback(course, said):
    code, told = nbgrader(course, "generate_feedback", LESSON.name)
    assert code == 0, told[-3000:]
    return course / "feedback"


def shown(learner):
    """Write a learner's name as the summary does: on one line, with only visible characters."""
    return "".join(letter if letter.isprintable() else "�" for letter in learner)


@pytest.mark.parametrize("learner", SUBMISSIONS, ids=shown)
def test_its_grade(grades, learner):
    assert grades.get(learner, 0) == SUBMISSIONS[learner][1]


@pytest.mark.parametrize("learner", SUBMISSIONS, ids=shown)
def test_its_line_in_the_summary(said, learner):
    words = SUBMISSIONS[learner][2]
    lines = [line for line in said.splitlines() if f"not graded: {shown(learner)}: " in line]
    if words == "unanswered":
        [line] = [line for line in said.splitlines() if "unanswered: " in line]
        assert shown(learner) in line
    elif words:
        [line] = lines
        assert re.search(words, line)
    else:
        assert not lines


def test_the_summary_ends_with_the_counts(said):
    kinds = ["graded" if grade else "not graded" for _, grade, _ in SUBMISSIONS.values()]
    unanswered = sum(words == "unanswered" for _, _, words in SUBMISSIONS.values())
    not_graded = kinds.count("not graded") - unanswered
    counts = f"{kinds.count('graded')} graded, {unanswered} unanswered, {not_graded} not graded"
    assert counts in said.splitlines()[-1]
    assert "Traceback" not in said


@pytest.mark.parametrize("learner", SUBMISSIONS, ids=shown)
def test_its_feedback(feedback, learner):
    page = (feedback / learner / LESSON.name / f"{LESSON.name}.html").read_text(encoding="utf-8")
    assert f"{FULL}" in page
    assert "vnd.attention" not in page
    if not SUBMISSIONS[learner][1] and SUBMISSIONS[learner][2] != "unanswered":
        assert "This notebook could not be graded" in page


def test_nothing_was_run_or_copied_that_should_not(course, said):
    assert not list(course.rglob("owned")) and not (ROOT / "owned").exists()
    for learner in ("link beside", "hard link beside", "swarm beside"):
        copied = course / "autograded" / learner / LESSON.name
        known = [NOTEBOOK, f"{LESSON.name}.run.json"]
        assert sorted(path.name for path in copied.iterdir()) == known


def test_an_unknown_learner_affects_nobody_else(course, said):
    for learner in ("nobody knows", "zzz known"):
        folder = course / "submitted" / learner / LESSON.name
        folder.mkdir(parents=True)
        good(folder)
    nbgrader(course, "db", "student", "add", "zzz known")
    _, told = nbgrader(course, "autograde", LESSON.name, "--Autograde.create_student=False")
    [line] = [line for line in told.splitlines() if "not graded: nobody knows: " in line]
    assert "nobody knows" in line.split("nobody knows: ")[1]
    assert "1 graded, 0 unanswered, 1 not graded" in told
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        assert gradebook.find_submission(LESSON.name, "zzz known").score == FULL
