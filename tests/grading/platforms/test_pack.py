"""What `make gradescope` and `make prairielearn` write."""

import json
import subprocess
import zipfile

import nbformat
import pytest

from autograder.building import secret
from autograder.building.secret import NO_SECRET, SECRET_VARIABLE
from autograder.building.wheels import GRADER
from autograder.course.__main__ import main
from autograder.grading.packing import gradescope, prairielearn
from autograder.grading.packing.contents import FILES
from autograder.grading.single import released
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.support.classroom import LESSON
from tests.support.platforms import SECRET

SCRIPTS = [*FILES.glob("*/*.sh"), FILES / "gradescope/run_autograder"]


@pytest.fixture(autouse=True)
def unbuilt(monkeypatch):
    """Write a wheel's name instead of building it, which takes seconds."""

    def touch(project, folder):
        folder.mkdir(exist_ok=True)
        name = "grader.whl" if project == GRADER else "learners.whl"
        (folder / name).touch()
        return name

    for module in (gradescope, prairielearn):
        monkeypatch.setattr(module, "build_wheel", touch)
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


def pack(*given):
    return main(["pack", given[0], LESSON.name, *map(str, given[1:])])


def test_gradescopes_zip(tmp_path, capsys):
    to = tmp_path / "made.zip"
    index = "https://example.org/cpu"
    assert pack("gradescope", "--to", to, "--show", "hidden", "--index", index) == 0
    assert "19 points" in capsys.readouterr().out
    assert to.stat().st_mode & 0o777 == 0o600, "others can read the solutions"
    with zipfile.ZipFile(to) as opened:
        files = {one.filename: opened.read(one).decode() for one in opened.infolist()}
        modes = {one.filename: one.external_attr >> 16 & 0o777 for one in opened.infolist()}
    assert files["options"] == f"--lesson {LESSON.name} --show hidden\n"
    assert files["secret.txt"] == f"{SECRET}\n"
    assert files["lock.txt"] == (ROOT / "lock.txt").read_text(encoding="utf-8")
    assert files["requirements.txt"].splitlines() == [
        "--constraint lock.txt",
        f"--extra-index-url {index}",
        "wheels/learners.whl",
        "wheels/grader.whl",
    ]
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755


def test_prairielearns_question(tmp_path, capsys):
    assert pack("prairielearn", "--to", tmp_path, "--image", "us/attention") == 0
    question = tmp_path / "questions" / LESSON.name
    assert {path.name for path in (question / "tests").iterdir()} == {
        "grade.sh",
        "grader.whl",
        "options",
        "secret.txt",
        "unfinished.json",
    }
    info = json.loads((question / "info.json").read_text(encoding="utf-8"))
    assert info["externalGradingOptions"]["image"] == "us/attention"
    assert f'file-names="{LESSON.name}.ipynb"' in (question / "question.html").read_text()
    image = {path.name for path in (tmp_path / "image").iterdir()}
    assert image == {"Dockerfile", "learners.whl", "lock.txt", "requirements.txt"}
    assert f"-t us/attention {tmp_path}/image" in capsys.readouterr().out
    assert (question / "tests/secret.txt").stat().st_mode & 0o777 == 0o600


def test_a_question_keeps_what_was_changed_but_for_the_image(tmp_path):
    question = tmp_path / "questions" / LESSON.name
    pack("prairielearn", "--to", tmp_path, "--image", "us/one")
    (question / "question.html").write_text("ours")
    for more, image in (((), "us/one"), (("--image", "us/two"), "us/two")):
        pack("prairielearn", "--to", tmp_path, *more)
        info = json.loads((question / "info.json").read_text(encoding="utf-8"))
        assert info["externalGradingOptions"]["image"] == image
    assert (question / "question.html").read_text() == "ours"


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_damaged_question_is_named(tmp_path, capsys, text):
    info = tmp_path / "questions" / LESSON.name / "info.json"
    info.parent.mkdir(parents=True)
    info.write_text(text)
    assert pack("prairielearn", "--to", tmp_path) == 2
    assert "info.json is damaged (" in capsys.readouterr().err and info.read_text() == text


def test_a_notebook_that_somebody_worked_in_is_not_packed(tmp_path, capsys, monkeypatch):
    worked = nbformat.read(LESSON.released_path, as_version=4)
    for cell in worked.cells:
        cell.source = cell.source.replace("raise NotImplementedError", "return 1")
    nbformat.write(worked, tmp_path / "worked.ipynb")
    monkeypatch.setattr(Lesson, "released_path", tmp_path / "worked.ipynb")
    monkeypatch.setattr(released, "ROOT", tmp_path)
    assert pack("gradescope", "--to", tmp_path / "made.zip") == 2
    assert "is not as it was released" in capsys.readouterr().err


def test_a_question_that_is_packed_again_is_the_same(tmp_path):
    made = []
    for name in ("a", "b"):
        pack("prairielearn", "--to", tmp_path / name)
        made.append((tmp_path / name / "questions" / LESSON.name / "info.json").read_bytes())
    assert made[0] == made[1]


def test_without_a_secret_it_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(SECRET_VARIABLE)
    monkeypatch.setattr(secret, "SECRET_FILE", tmp_path / "none.txt")
    pack("gradescope", "--to", tmp_path / "made.zip")
    assert NO_SECRET in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "made.zip") as opened:
        assert "secret.txt" not in opened.namelist()


@pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])
def test_what_cant_be_written_is_named(platform, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert pack(platform, "--to", tmp_path / "file/made") == 2
    said = capsys.readouterr().err
    assert f"{tmp_path}/file" in said and "TO=… names another place" in said


def test_a_folder_is_no_zip(tmp_path, capsys):
    assert pack("gradescope", "--to", tmp_path) == 2
    assert "Is a directory. (TO=… names another place" in capsys.readouterr().err


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_valid(script):
    subprocess.run(["bash", "-n", script], check=True)
    assert script.stat().st_mode & 0o111


@pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])
def test_what_is_shown_without_a_result_is_in_the_form_of_results(platform):
    told = json.loads((FILES / platform / "unfinished.json").read_text(encoding="utf-8"))
    assert told.keys() <= {"score", "output", "output_format", "tests", "gradable", "format_errors"}
    assert "Not graded: " in str(told)
