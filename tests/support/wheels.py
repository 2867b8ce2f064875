"""The wheels of learners and of graders, and notebooks run with nothing else of the course."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.building import wheels
from autograder.lessons.cells import grade_id_of
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT

PROJECT = ("setup.py", "pyproject.toml", "LICENSE", "README.md")
FOLDERS = ("autograder", "utils", "solutions", "notebooks")
GRADER = "autograder/grading/wheel"
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "hidden")
OWN = shutil.ignore_patterns("*.pth", "__editable__*", "attention_from_scratch*")
PIP = [sys.executable, "-m", "pip", "--quiet"]
CELL_SECONDS = 600
# Appended to a notebook: makes sure that nothing was imported from this repository itself.
ALONE = f"""
import sys
from pathlib import Path

files = [Path(file) for m in sys.modules.values() if (file := getattr(m, "__file__", None))]
ours = [file for file in files if file.is_relative_to({str(ROOT)!r})]
assert not [file for file in ours if "site-packages" not in file.parts], ours
assert "utils" not in sys.modules
"""


def copy_sources(folder: Path) -> Path:
    """Copy the files that make up the wheels, without leftovers of builds and tests."""
    folder.mkdir(parents=True)
    for name in PROJECT:
        shutil.copy(ROOT / name, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_BEHIND)
    return folder


def build_wheel(sources: Path, folder: Path, project: str = "") -> Path:
    """Build a wheel from a copy of the sources.

    project: its folder in the sources; by default the learners'.
    """
    return folder / wheels.build_wheel(sources / project, folder)


def environment(folder: Path) -> Path:
    """Make an environment with this one's libraries, without the course; return its Python.

    The libraries are links, inside of what a sandbox shows.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    [here] = {path for path in sys.path if path.endswith("site-packages")}
    [there] = folder.glob("lib/*/site-packages")
    shutil.copytree(here, there, copy_function=_link, ignore=OWN, dirs_exist_ok=True)
    return python


def environment_with(wheel: Path, folder: Path, extra: str = "") -> Path:
    """Make an environment with this one's libraries and the wheel; return its Python.

    extra: the wheel's, such as "[grader]", whose own wheel lies beside it.
    """
    python = environment(folder)
    where = ["--find-links", str(wheel.parent)] if extra else ["--no-deps"]
    command = [*PIP, "--python", str(python), "install", "--no-index", *where, f"{wheel}{extra}"]
    subprocess.run(command, check=True)
    return python


def _link(file: str, place: str) -> None:
    try:
        os.link(file, place)
    except OSError:  # on another disk
        shutil.copy2(file, place)


def solved_notebook(lesson: Lesson) -> NotebookNode:
    """Return what learners get, with the course's solutions as answers and without outputs."""
    source = nbformat.read(lesson.notebook_path, as_version=4)
    answers = {grade_id_of(cell): cell.source for cell in source.cells if grade_id_of(cell)}
    notebook = nbformat.read(lesson.released_path, as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(grade_id_of(cell), cell.source)
        if cell.cell_type == "code":
            cell.outputs = []
    return notebook


def run(notebook: NotebookNode, python: Path, folder: Path) -> NotebookNode:
    """Run a notebook in `folder` with another environment's kernel; no cell may fail."""
    folder.mkdir(parents=True)
    notebook.cells.append(nbformat.v4.new_code_cell(ALONE))
    client = NotebookClient(
        notebook,
        km=_kernel_manager(python, folder / "kernels"),
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR", "--HistoryManager.hist_file=:memory:"],
    )
    return client.execute(cleanup_kc=True)


def said(notebook: NotebookNode) -> str:
    """Return everything that a notebook's cells show, as plain text."""
    return "\n".join(filter(None, map(shown_by, notebook.cells)))


def shown_by(cell: NotebookNode) -> str:
    """Return everything that a cell shows, as plain text."""
    outputs = cell.get("outputs", [])
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def require_full_points(notebook: NotebookNode, lesson: Lesson) -> None:
    """Raise AssertionError unless each exercise was checked, and found right."""
    shown = said(notebook)
    assert "do not fit" not in shown, shown
    for exercise in lesson.exercises:
        right = f"✓ {exercise.name}: {exercise.points} of {exercise.points} point"
        assert right in shown, f"{exercise.name}: {shown}"


def _kernel_manager(python: Path, folder: Path) -> AsyncKernelManager:
    spec = folder / "learner"
    spec.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    told = json.dumps({"argv": argv, "display_name": "learner", "language": "python"})
    (spec / "kernel.json").write_text(told, encoding="utf-8")
    specs = KernelSpecManager(kernel_dirs=[str(folder)])
    return AsyncKernelManager(kernel_name="learner", kernel_spec_manager=specs)
