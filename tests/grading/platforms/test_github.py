"""The repository for GitHub Classroom: what its workflow finds, and how it says so."""

import base64
import json
import os
import re
import shlex
import subprocess
import sys

import nbformat
import pytest
import yaml

from autograder.course.__main__ import main
from autograder.grading.packing import github
from autograder.lessons.cells import grade_id_of
from tests.demo.made_up_class import without_demonstrations
from tests.support.classroom import LESSON

NOTEBOOK = f"{LESSON.name}.ipynb"
MOST = sum(exercise.points for exercise in LESSON.exercises)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """What `make classroom` writes, but for the wheel."""
    monkeypatch.setattr(github, "build_wheel", lambda project, folder: "learners.whl")
    folder = tmp_path / "template"
    assert main(["pack", "github", LESSON.name, "--to", str(folder)]) == 0
    return folder


def answer(repository, **answers):
    """Write answers into the notebook, and leave out what only demonstrates something."""
    notebook = nbformat.read(repository / NOTEBOOK, as_version=4)
    notebook = without_demonstrations(notebook, LESSON)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id_of(cell), cell.source)
    nbformat.write(notebook, repository / NOTEBOOK)


def push(repository):
    """Run the workflow's own step; return the result for GitHub Classroom, and the summary."""
    workflow = yaml.safe_load((repository / ".github/workflows/classroom.yml").read_text())
    [step] = [s for s in workflow["jobs"]["autograding"]["steps"] if s.get("id") == "check"]
    files = {name: repository.parent / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    command = step["run"].replace("python", shlex.quote(sys.executable), 1)
    environment = os.environ | {name: str(path) for name, path in files.items()}
    subprocess.run(["bash", "-c", command], cwd=repository, env=environment, check=True)
    name, _, coded = files["GITHUB_OUTPUT"].read_text().strip().partition("=")
    assert name == "result"
    return json.loads(base64.b64decode(coded)), files["GITHUB_STEP_SUMMARY"].read_text()


def test_points_and_cards(repository):
    unstable = "def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)\n"
    answer(repository, query_scores=LESSON.solutions["query_scores"], softmax=unstable)
    result, summary = push(repository)
    assert sum(test["score"] for test in result["tests"]) == 2 + 4
    assert len(result["tests"]) == result["max_score"] == MOST and result["status"] == "fail"
    assert f"# 6 of {MOST} points on the cases that you can see" in summary
    softmax = summary.partition("## softmax: 4 of 5")[2].partition("## ")[0]
    assert "✗ scores above 100" in softmax and "Large scores break it" in softmax


def test_a_damaged_notebook_is_said(repository):
    (repository / NOTEBOOK).write_text("{<b>")
    result, summary = push(repository)
    assert not any(test["score"] for test in result["tests"])
    assert f"<pre>{NOTEBOOK} didn't run to the end: " in summary and "<b>" not in summary


def test_a_notebook_that_ends_its_kernel_keeps_its_points(repository):
    answer(
        repository,
        query_scores=LESSON.solutions["query_scores"],
        softmax="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    )
    result, summary = push(repository)
    assert sum(test["score"] for test in result["tests"]) == 2
    assert "didn't run to the end" in summary


def test_no_solution_and_no_secret_is_in_it(repository):
    names = {path.name for path in repository.rglob("*") if path.is_file()}
    assert names == {
        "README.md",
        "check_notebook.py",
        "classroom.yml",
        NOTEBOOK,
        "lock.txt",
        "requirements.txt",
    }
    released = nbformat.read(repository / NOTEBOOK, as_version=4)
    assert released == nbformat.read(LESSON.released_path, as_version=4)


def test_packing_again_keeps_what_is_there(repository):
    (repository / ".git").mkdir()
    (repository / "attention_from_scratch-1.0.0+c0-py3-none-any.whl").touch()
    assert main(["pack", "github", LESSON.name, "--to", str(repository)]) == 0
    assert (repository / ".git").is_dir() and not [*repository.glob("*.whl")]


def test_the_pages_are_about_the_lesson(repository):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert LESSON.title in readme and f"jupyter lab {NOTEBOOK}" in readme
    workflow = (repository / ".github/workflows/classroom.yml").read_text(encoding="utf-8")
    assert not re.search("LESSON|TITLE", readme + workflow)
