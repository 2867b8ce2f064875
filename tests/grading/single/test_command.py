"""The command `python -m autograder.course grade-one`.

Its exit statuses, what it refuses, and that it leaves nothing behind.
"""

import os
import subprocess
import sys
import time

import nbformat
import psutil
import pytest

from autograder.building import secret
from autograder.building.secret import NO_SECRET, SECRET_VARIABLE, seed_for
from autograder.course.__main__ import main
from autograder.grading.single import command
from autograder.grading.worker import task
from autograder.sandbox import walls
from tests.demo.made_up_class import MadeUpSubmission, make_class
from tests.grading.single.grading_one import arguments, grade_one
from tests.support.classroom import LESSON
from tests.support.processes import descendants, running

OURS = "a line that nobody else has"


@pytest.fixture
def notebook(tmp_path):
    """A submission, in a folder of its own."""
    path = tmp_path / "work" / "mine.ipynb"
    path.parent.mkdir()
    nbformat.write(MadeUpSubmission("", {}).notebook(LESSON), path)
    return path


@pytest.fixture
def ungraded(monkeypatch):
    """Fail if anything is graded."""
    monkeypatch.setattr(command, "grade_one", lambda *_, **__: pytest.fail("it was graded"))


def refused(capsys, *given):
    assert main(["grade-one", *map(str, given)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1
    return err


@pytest.mark.usefixtures("ungraded")
def test_what_it_refuses(notebook, capsys, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, OURS)
    lesson, empty = ("--lesson", LESSON.name), notebook.with_name("empty.txt")
    empty.touch()
    for given, said in [
        (
            (notebook, "--lesson", "01_dot"),
            f"There is no lesson 01_dot. Did you mean {LESSON.name}",
        ),
        ((notebook, "--lesson", "x"), f"There is no lesson x. There are: {LESSON.name}, 02_"),
        ((notebook.with_name("no.ipynb"), *lesson), "There is no file "),
        ((notebook, *lesson, "--secret", empty), "There is no secret in "),
        ((notebook, *lesson, "--secret", notebook.parent), "The secret can't be read from "),
        ((notebook, *lesson, "--json", notebook), "mine.ipynb is named twice. "),
        ((notebook, *lesson, "--json", empty, "--html", empty), "empty.txt is named twice. "),
        ((notebook, *lesson, "--json", notebook.parent), "work is not a plain file, so "),
        ((notebook, *lesson, "--json", "/dev/stdout"), "/dev/stdout is not a plain file, so "),
        ((notebook, *lesson, "--json", notebook / "x"), "x can't be written (Not a directory). "),
        ((notebook, *lesson, "--html", notebook.parent / "no/x"), "x can't be written (No such "),
    ]:
        assert said in refused(capsys, *given)
    assert {path.name for path in notebook.parent.iterdir()} == {"mine.ipynb", "empty.txt"}


def test_without_a_lesson_it_says_so(notebook, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["grade-one", str(notebook)])
    assert ended.value.code == 2 and "--lesson" in capsys.readouterr().err


def test_where_there_can_be_no_sandbox(notebook, capsys, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, OURS)
    monkeypatch.setattr(walls.shutil, "which", lambda name: None)
    said = refused(capsys, *arguments(notebook)[1:])
    assert "No sandbox: the program 'bwrap' is missing. Install bubblewrap" in said
    assert (
        "--in-container" in said
        and "UNSEALED" not in said
        and list(notebook.parent.iterdir()) == [notebook]
    )


def test_a_full_disk_leaves_no_half_of_a_file(notebook, capsys, monkeypatch):
    def fail(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "grade_one", lambda *_, **__: ({"outcome": "graded"}, ""))
    monkeypatch.setattr("autograder.grading.single.outputs.write_whole", fail)
    monkeypatch.setenv(SECRET_VARIABLE, OURS)
    said = refused(capsys, *arguments(notebook, "--json", notebook.with_name("x.json"))[1:])
    assert "x.json can't be written (No space left on device)" in said


def test_the_seed_is_drawn_from_the_secret(notebook, tmp_path, capsys, monkeypatch, shared_sandbox):
    jobs = []
    grade = task.grade
    monkeypatch.setattr(task, "grade", lambda job: jobs.append(job) or grade(job))
    monkeypatch.setattr(secret, "SECRET_FILE", tmp_path / "none.txt")
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    file = tmp_path / "secret.txt"
    file.write_text(f"{OURS}\n", encoding="utf-8")
    without = grade_one(notebook, tmp_path)
    assert f"{NO_SECRET} {command.OWN_SECRET}" in capsys.readouterr().err
    with_one = grade_one(notebook, tmp_path, "--secret", file)
    assert [job.seed for job in jobs] == [
        seed_for(jobs[0].digest, secret.SHIPPED_SECRET),
        seed_for(jobs[0].digest, OURS),
    ]
    out, err = capsys.readouterr()
    assert not err and without.result["points"] == with_one.result["points"] == 0
    for text in (out, with_one.page, str(with_one.result)):
        assert OURS not in text and jobs[1].seed not in text


def test_it_leaves_nothing_behind(tmp_path, sandbox):
    """It is run as a whole, and all processes that were seen below it have ended with it."""
    temporary, work = tmp_path / "tmp", tmp_path / "work"
    for folder in (temporary, work):
        folder.mkdir()
    nbformat.write(make_class(LESSON, 1)[0].notebook(LESSON), work / "mine.ipynb")
    outputs = ("--json", "result.json", "--html", "page.html")
    command = [sys.executable, "-m", "autograder.course", *arguments("mine.ipynb", *outputs)]
    environment = os.environ | {"TMPDIR": str(temporary), SECRET_VARIABLE: OURS}
    process = subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    seen: set[psutil.Process] = set()
    while process.poll() is None:
        seen |= {*descendants(process.pid)}
        time.sleep(0.05)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert out.decode().endswith(f"{LESSON.name}: 19 of 19 points\n")
    assert seen and not running(seen)
    assert {path.name for path in work.iterdir()} == {"mine.ipynb", "result.json", "page.html"}
    assert not list(temporary.iterdir())
