"""Grading in a container where there can be no namespaces: the same grades, behind other walls."""

import ast
import html
import json
from pathlib import Path

import nbformat
import pytest

from autograder.building.secret import SECRET_VARIABLE
from autograder.errors import CourseError
from autograder.sandbox import container
from autograder.sandbox.container import Container
from tests.demo.made_up_class import make_class
from tests.grading.single.grading_one import VALIDATOR, arguments, grade_one
from tests.support.classroom import LESSON
from tests.support.container import run_in_container

SECRET = "a line of ours"
# Harmless: each line tries something, and says whether it was refused.
LOOK = """
import contextlib, os, socket, subprocess, sys
def refused(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        return True
    return False
site = next(path for path in sys.path if path.endswith("site-packages"))
others = [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())]
roots = [pid for pid in others if "\\nUid:\\t0\\t" in open(f"/proc/{pid}/status").read()]
seen = {
    "roots": len(roots),
    "package": refused(os.listdir, f"{site}/autograder"),
    "secret": refused(open, "/given/secret.txt"),
    "outputs": refused(open, "/given/out/result.json", "w"),
    "environments": all(refused(open, f"/proc/{pid}/environ") for pid in roots),
    "memory": all(refused(open, f"/proc/{pid}/mem", "rb") for pid in roots),
    "signals": all(refused(os.kill, int(pid), 0) for pid in roots),
    "network": refused(socket.socket, socket.AF_INET),
    "network 6": refused(socket.socket, socket.AF_INET6),
    "other users": refused(os.setuid, 0),
    "rights": "CapEff:\\t0000000000000000" in open("/proc/self/status").read(),
    "filter": "Seccomp:\\t2" in open("/proc/self/status").read(),
    "own folder": not refused(open, "mine.txt", "w"),
}
print("seen:", seen)
"""
# A process that nobody waits for, and that its parent doesn't end.
STRAY = """
import subprocess, sys
subprocess.Popen(["setsid", "-f", "sleep", "7200"])
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with the secret and a submission with mistakes, which looks around."""
    folder = tmp_path_factory.mktemp("work")
    folder.chmod(0o755)
    submission = max(make_class(LESSON), key=lambda one: len({*one.true_points.values()}))
    notebook = submission.notebook(LESSON)
    notebook.cells += map(nbformat.v4.new_code_cell, (LOOK, STRAY))
    nbformat.write(notebook, folder / "ada.ipynb")
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    (folder / "secret.txt").chmod(0o600)
    (folder / "out").mkdir(mode=0o755)
    return folder


def in_container(python, work, then=":", before=":", name="ada"):
    """Grade a submission in a container, between two other commands."""
    environment = python.parents[1]
    command = arguments(f"/given/{name}.ipynb", "--secret", "/given/secret.txt", "--in-container")
    command += ["--json", "/given/out/result.json", "--html", "/given/out/page.html"]
    grade = f"{python} -m autograder.course {' '.join(command)}"
    # Its owner keeps the package and the results, without being root.
    again = f"chmod 755 {environment}/lib/*/site-packages/autograder; chmod -f a+r /given/out/*"
    script = f"{before}; {grade}; echo status $?; {then}; {again}"
    folders = {environment: environment, Path("/given"): work}
    return run_in_container(["bash", "-c", script], folders)


@pytest.mark.long
def test_it_grades_as_a_sandbox_does(python, work, sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    ended = in_container(python, work, "ps -eo args; ls -d /scratch /tmp/attention*")
    after = ended.stdout.partition("status 0\n")[2]
    assert after, ended.stderr
    assert "sleep 7200" not in after and "inside.warm" not in after, "something is left"
    for left in ("/scratch", "/tmp/attention*"):
        assert f"cannot access '{left}'" in ended.stderr
    result = json.loads((work / "out/result.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(result)
    ours = grade_one(work / "ada.ipynb", tmp_path).result
    assert result == ours | {"wall": "container", "seconds": result["seconds"]}
    assert ours["wall"] == "sandbox" and 0 < result["points"] < result["max_points"]


@pytest.mark.long
def test_each_wall_holds(python, work):
    in_container(python, work)
    page = (work / "out/page.html").read_text(encoding="utf-8")
    seen = ast.literal_eval(html.unescape(page.partition("seen: ")[2].partition("</pre>")[0]))
    assert seen.pop("roots") >= 2, "there was nobody to see"
    assert [name for name, holds in seen.items() if not holds] == []


@pytest.mark.long
def test_who_ends_what_runs_the_cells_gets_no_grade(python, work):
    notebook = nbformat.read(LESSON.released_path, as_version=4)
    kill = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    notebook.cells.insert(1, nbformat.v4.new_code_cell(kill))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRAY))
    nbformat.write(notebook, work / "eve.ipynb")
    ended = in_container(python, work, "ps -eo args", name="eve")
    assert "Not graded: " in ended.stderr, ended.stdout
    after = ended.stdout.partition("status 1\n")[2]
    assert after and "sleep 7200" not in after


@pytest.mark.long
@pytest.mark.parametrize(
    ("close", "said"),
    [
        (
            "chmod 644 /given/secret.txt",
            "secret.txt can be read by learners' code. Close it: chmod",
        ),
        ("chmod 777 /given/out", "/given/out can be written to by learners' code. Close it: chmod"),
        ("mkdir /scratch", "there is a /scratch. Remove it"),
    ],
)
def test_what_is_open_is_refused(python, work, close, said):
    result = work / "out/result.json"
    result.unlink(missing_ok=True)
    ended = in_container(python, work, "chmod 600 /given/secret.txt; chmod 755 /given/out", close)
    assert "status 2" in ended.stdout and said in ended.stderr
    assert not result.exists()


def test_a_repository_cant_be_closed():
    with pytest.raises(CourseError, match=r"(not root|course's repository)\. "):
        Container().require()


def test_it_wants_root(monkeypatch):
    monkeypatch.setattr(container.os, "geteuid", lambda: 1000)
    with pytest.raises(CourseError, match=r"this is not root\. As root, it can "):
        Container().require()


def test_another_system(monkeypatch):
    monkeypatch.setattr(container.sys, "platform", "darwin")
    with pytest.raises(CourseError, match=r"calls of darwin on .* are not known here\. Use Linux"):
        Container().require()
