"""The wheel that learners install: its contents, what its version tells, and that it suffices."""

import re
import runpy
import shutil
import threading
import zipfile
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from autograder.asking.answer import GRADIENT
from autograder.authoring import site_wheel
from autograder.authoring.published import Published
from autograder.authoring.stated import beginning
from autograder.building.hidden import grading_reference
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.places import ROOT
from autograder.references.store import PUBLIC, find, load
from tests.course.test_lessons import solution_lines
from tests.support.wheels import (
    build_wheel,
    copy_sources,
    environment,
    environment_with,
    require_full_points,
    run,
    said,
    solved_notebook,
)

VERSION = re.compile(r"attention_from_scratch-(1\.0\.0\+c[0-9a-f]{8})-py3-none-any\.whl")


def version(sources):
    """The version that a wheel of these sources would have; building one would take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(sources)
        return runpy.run_path("setup.py")["version"]()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return build_wheel(copy_sources(folder / "sources"), folder)


@pytest.fixture(scope="module")
def content(wheel):
    """The content of every file in the wheel, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_is_as_large_as_the_documentation_says(wheel):
    page = " ".join((ROOT / "docs/install.md").read_text(encoding="utf-8").split())
    [megabytes] = re.findall(r"the \*wheel\*, a package of (\d+) MB", page)
    assert abs(wheel.stat().st_size / 1e6 - int(megabytes)) < 1


def test_it_holds_the_learners_half_only(content):
    folders = {name.rpartition("/")[0] for name in content}
    assert {f for f in folders if "dist-info" not in f} == {
        "autograder",
        "autograder/asking",
        "autograder/judging",
        "autograder/judging/differences",
        "autograder/notebook",
        "autograder/references",
        "autograder/utils",
        "autograder/utils/data",
        "autograder/utils/data/texts",
        "autograder/utils/models",
        "autograder/utils/plots",
        "autograder/utils/views",
    }
    assert "autograder/utils/views/base.js" in content
    assert "autograder/utils/data/broken_runs.csv" in content
    assert "autograder/utils/data/texts/as_you_like_it.txt" in content
    references = {f"autograder/references/{name}.safetensors" for name in lesson_names()}
    assert references <= content.keys()


def test_it_takes_no_other_top_level_name(content):
    [names] = [text for name, text in content.items() if name.endswith("/top_level.txt")]
    assert names.split() == [b"autograder"]


def test_it_leaves_a_hubs_libraries_alone(content):
    """A hub or Colab has its own torch, numpy and JupyterLab, and they stay as they are."""
    [metadata] = [text.decode() for name, text in content.items() if name.endswith("/METADATA")]
    needed = re.findall(r"^Requires-Dist: ([^;\n]+)$", metadata, re.M)
    names = {re.match(r"[\w-]+", line)[0] for line in needed}
    assert {"torch", "numpy", "ipython"} <= names and "jupyterlab" not in names
    assert not [line for line in needed if "==" in line]


@cache
def passed_code():
    """Return the code of all modules and functions that cases pass: `failing_case` shows them."""
    references = (load(PUBLIC / f"{name}.safetensors") for name in lesson_names())
    calls = (c for one in references for question in one.questions.values() for c in question.calls)
    made = (value for call in calls for value in (call.arguments | (call.build or {})).values())
    return "\n".join({getattr(value, "source", getattr(value, "forward", "")) for value in made})


@pytest.fixture(scope="module")
def squeezed(content):
    return squeeze(b"".join(content.values()))


def squeeze(text):
    """Remove what may lie between the letters of code, in a file or in a notebook's JSON."""
    return re.sub(rb"\s+|\\n|\\", b"", text)


def test_no_solution_in_what_learners_get(lesson, squeezed):
    released = lesson.released_path.read_bytes()
    assert b"BEGIN SOLUTION" not in released
    plain = squeeze(released) + squeezed
    for name, exercise in lesson.asked.items():
        # Code to repair has right lines, too, and so do the modules that a case passes.
        given = lesson.beginning(exercise) + passed_code()
        for line in solution_lines(lesson.solutions[name]):
            assert line in given or re.sub(r"\s+", "", line).encode() not in plain, (
                f"{name}: {line}"
            )


@pytest.mark.first_is_enough
def test_nothing_hidden_in_what_learners_get(lesson, content):
    """No file contains the bytes of a hidden input or of a hidden expected tensor."""
    given, searched = b"".join(content.values()), 0
    reference = grading_reference(lesson.name, "a")
    for name in reference.keys:
        public = tensors_of(load(PUBLIC / f"{lesson.name}.safetensors"), name, hidden=False)
        public |= gradients_of_sums()
        # A tensor that a public case contains too, such as the gradient of a sum, is no secret. Nor
        # is part of one: a table of a few places is the beginning of a longer one.
        secret = {
            tensor
            for tensor in tensors_of(reference, name, hidden=True)
            if not any(tensor in value for value in public)
        }
        searched += len(secret)
        assert not [tensor for tensor in secret if tensor in given]
    assert searched


@cache
def gradients_of_sums():
    """Return the bytes of all public gradients of biases: they follow from sizes alone."""
    references = [load(PUBLIC / f"{name}.safetensors") for name in lesson_names()]
    keys = [key for reference in references for key in reference.keys.values()]
    outputs = [item for key in keys for case in key.cases for item in case.expected.items()]
    return {
        value.contiguous().numpy().tobytes()
        for name, value in outputs
        if name.startswith(GRADIENT) and name.endswith("bias")
    }


def tensors_of(reference, exercise, hidden):
    """Return the bytes of an exercise's inputs and expected tensors, in hidden or public cases."""
    pairs = zip(reference.questions[exercise].calls, reference.keys[exercise].cases, strict=True)
    chosen = [(call, case) for call, case in pairs if case.hidden == hidden]
    values = [
        v for call, case in chosen for v in (*call.arguments.values(), *case.expected.values())
    ]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    # A dozen zeros and ones may occur anywhere by chance, but not that many real numbers.
    real = [t for t in tensors if t.is_floating_point() and t.numel() > 8]
    numbers = [t for t in real if t.unique().numel() > 2]
    return {t.contiguous().view(-1).view(torch.uint8).numpy().tobytes() for t in numbers}


def test_the_search_for_tensors_would_find_one(lesson, content):
    given = b"".join(content.values())
    exercise = lesson.exercises[0].name
    case = load(PUBLIC / f"{lesson.name}.safetensors").keys[exercise].cases[0]
    value = next(iter(case.expected.values()))
    assert value.contiguous().numpy().tobytes() in given


# ---------------------------------------------------------------- its version


@pytest.fixture
def sources(tmp_path):
    return copy_sources(tmp_path / "sources")


def append(path, text=b"\n# edited\n"):
    path.write_bytes(path.read_bytes() + text)


def test_it_is_the_same_wherever_the_wheel_is_built(sources, tmp_path):
    other = copy_sources(tmp_path / "another place" / "sources")
    assert version(other) == version(sources)


def test_files_outside_the_wheel_do_not_change_it(sources, tmp_path):
    before = version(sources)
    for name in ("README.md", "autograder/grading/__init__.py", "autograder/exercises/slips.py"):
        append(sources / name)
    append(sources / "pyproject.toml", b"\n[tool.other]\n")
    (sources / "autograder/judging/notes.txt").write_text("For me.")
    left = sources / "build/lib/utils/leftover.py"  # by an earlier build
    left.parent.mkdir(parents=True)
    left.write_text("")
    assert VERSION.fullmatch(build_wheel(sources, tmp_path / "wheel").name)[1] == before
    assert not left.exists()


def test_any_change_in_the_wheel_changes_it(sources):
    found = [version(sources)]
    for name in (
        "autograder/notebook/calls.py",
        "autograder/judging/judge.py",
        "autograder/references/02_qkv_projections.safetensors",
        "utils/plots/bars.py",
        "utils/data/broken_runs.csv",
        "LICENSE",
    ):
        append(sources / name)
        found.append(version(sources))
    (sources / "utils/more.py").write_text("")
    found.append(version(sources))
    (sources / "utils/more.py").rename(sources / "utils/other.py")
    found.append(version(sources))
    project = sources / "pyproject.toml"
    project.write_bytes(project.read_bytes().replace(b'"tqdm>=', b'"tqdm>'))
    found.append(version(sources))
    assert len(set(found)) == len(found)


# ---------------------------------------------------------------- what it is for


@pytest.fixture(scope="module")
def learner(wheel, tmp_path_factory):
    """The Python of an environment with the wheel and nothing else of the course."""
    return environment_with(wheel, tmp_path_factory.mktemp("learner") / "environment")


@pytest.mark.long
def test_a_lesson_runs_with_the_wheel_alone(learner, tmp_path):
    lesson = Lesson("01_dot_product_attention")
    require_full_points(run(solved_notebook(lesson), learner, tmp_path / lesson.name), lesson)


@pytest.fixture
def site(wheel, tmp_path, monkeypatch):
    """The address of a site with the wheel, for this machine alone."""
    monkeypatch.setattr(
        site_wheel, "build_wheel", lambda project, folder: Path(shutil.copy2(wheel, folder)).name
    )
    site_wheel.write_wheel(tmp_path / "wheels")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.long
def test_a_notebook_that_lacks_the_course_installs_it_from_the_site(site, tmp_path, monkeypatch):
    """As Colab does, which has the libraries."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lesson, where = Lesson("01_dot_product_attention"), Published(site=site)
    notebook = solved_notebook(lesson)
    for cell in notebook.cells:
        cell.source = cell.source.replace(beginning(Published()), beginning(where))
    python = environment(tmp_path / "environment")
    require_full_points(run(notebook, python, tmp_path / lesson.name), lesson)


@pytest.mark.long
def test_a_notebook_for_other_checks_is_noticed(learner, tmp_path):
    lesson = Lesson("01_dot_product_attention")
    notebook = solved_notebook(lesson)
    contract = find("softmax").questions["softmax"].contract
    for cell in notebook.cells:
        cell.source = cell.source.replace(contract, "0ld0")
        if cell.source == "check(softmax)":
            cell.metadata.tags = ["raises-exception"]
            [refused] = [cell]
    shown = said(run(notebook, learner, tmp_path / lesson.name))
    assert re.search(r"\+c[0-9a-f]{8}\) do not fit this notebook's `softmax`\. Install ", shown)
    [output] = refused.outputs
    assert output.ename == "CourseError" and len(output.traceback) == 1
    assert "are not for this notebook's version of `softmax`." in output.traceback[0]
    assert "✓ attention_scores" in shown and "✓ softmax" not in shown
