"""Attacks with files next to the notebook."""

import importlib.util
import marshal
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.sandbox.hostile.attack import LESSON, POINTS, Attack, write

EVIL = b"import builtins\nprint('shadow')\nbuiltins.check = check = lambda answer: 5\n"
SHADOWS = ("torch", "autograder", "numpy", "sitecustomize", "usercustomize", "IPython", "inside")
READ_ALL = """
for folder, _, names in os.walk("."):
    for name in names:
        print(folder, repr(name), open(os.path.join(folder, name), "rb").read()[:500])
"""


def _shadows(folder: Path, facts: Mapping[str, Any]) -> None:
    for name in SHADOWS:
        write(folder, f"{name}.py", EVIL)
    (folder / "torch").mkdir()
    write(folder / "torch", "__init__.py", EVIL)
    write(folder, "evil.pth", b"import os; os._exit(3)\n")
    write(folder, "pyvenv.cfg", b"home = /scratch\n")
    startup = folder / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    write(startup, "00-evil.py", EVIL)
    write(folder, "ipython_config.py", b"c.InteractiveShellApp.exec_lines = ['check = print']\n")


def _links(folder: Path, facts: Mapping[str, Any]) -> None:
    for number, path in enumerate(facts["SECRETS"]):
        (folder / f"link-{number}.txt").symlink_to(path)
        (folder / f"folder-{number}").symlink_to(os.path.dirname(path))
    (folder / "itself").symlink_to(folder)
    (folder / "root").symlink_to("/")


def _devices(folder: Path, facts: Mapping[str, Any]) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))


def _names(folder: Path, facts: Mapping[str, Any]) -> None:
    names = ("..\\..\\up", "%2e%2e%2fup", "a b", "'q\"", "línea", "a\nb", "-rf", "$(id)", "~", "*")
    for name in (*names, b"\xff\xfe", "x" * 255, "\x1b[31m", "nul\x01"):
        write(folder, name, b"here")


def _many(folder: Path, facts: Mapping[str, Any]) -> None:
    for number in range(150):
        write(folder, f"data-{number}", bytes(1 << 20))
    deep = folder
    for _ in range(40):
        deep = deep / "deep"
        deep.mkdir()
    write(deep, "file", b"here")


def _hard_links(folder: Path, facts: Mapping[str, Any]) -> None:
    for number, path in enumerate(facts["SECRETS"]):
        with suppress(OSError):  # there are none on another file system
            os.link(path, folder / f"secret-{number}.txt")


def _modes(folder: Path, facts: Mapping[str, Any]) -> None:
    for mode in (0, 0o111, 0o2777, 0o4755, 0o6777, 0o1777):
        write(folder, f"{mode:o}", b"#!/bin/sh\nid\n")
        (folder / f"{mode:o}").chmod(mode)
        (folder / f"in-{mode:o}").mkdir()
        (folder / f"in-{mode:o}").chmod(mode | 0o700)


def _holes(folder: Path, facts: Mapping[str, Any]) -> None:
    for number in range(5):
        with open(folder / f"hole-{number}", "wb") as file:
            file.truncate(1 << 40)
    for number in range(12):
        with open(folder / f"small-{number}", "wb") as file:
            file.truncate(4_900_000)


def _compiled(folder: Path, facts: Mapping[str, Any]) -> None:
    cache = folder / "__pycache__"
    cache.mkdir()
    code = compile("import os; os._exit(3)", "x", "exec")
    for name in ("torch", "json", "helper"):
        data = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
        write(folder, f"{name}.pyc", data)
        write(cache, f"{name}.{sys.implementation.cache_tag}.pyc", data)
        write(folder, f"{name}.so", b"\x7fELF" + bytes(1000))


def _settings(folder: Path, facts: Mapping[str, Any]) -> None:
    for path in (
        *(".config/matplotlib/matplotlibrc", "matplotlibrc", ".keras/keras.json", ".pdbrc"),
        *(".inputrc", ".bashrc", ".profile", ".netrc", ".pythonrc", ".config/pip/pip.conf"),
        *(".jupyter/jupyter_config.py", ".jupyter/nbconvert_config.py", "nbgrader_config.py"),
        *(".local/lib/python3/site-packages/usercustomize.py", "ipython_kernel_config.py"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write((folder / path).parent, os.path.basename(path), b"import os; os._exit(3)\n")


def _swarm(folder: Path, facts: Mapping[str, Any]) -> None:
    for number in range(1900):
        write(folder, f"{number}", b"")


def _depths(folder: Path, facts: Mapping[str, Any]) -> None:
    deep = folder
    for _ in range(150):
        deep = deep / "a"
        deep.mkdir()
    write(deep, "file", b"here")
    for number in range(100):
        (folder / f"wide-{number}" / "x").mkdir(parents=True)


def _graders_names(folder: Path, facts: Mapping[str, Any]) -> None:
    """Lay files under the names that the grader uses."""
    for name in (
        *("timestamp.txt", "questions", "questions.safetensors", "gradebook.db", ".kernel"),
        *(f"{LESSON.name}.run.json", f"{LESSON.name}.html", "connection.json", "nb.lock"),
    ):
        write(folder, name, b'{"outcome": "graded", "points": {"check_softmax": 4}}')
    write(folder, "other.ipynb", b"{}")


def _alike(folder: Path, facts: Mapping[str, Any]) -> None:
    """Lay files whose names are the same on some systems."""
    for name in ("data", "DATA", "Data", "dat\u00e0", "data\u0300", "data.", "data ", "CON", "NUL"):
        write(folder, name, b"here")


ATTACKS = [
    Attack(
        "modules shadowed",
        "lays torch.py, autograder.py, sitecustomize.py and more beside the notebook",
        lay=_shadows,
        first="!python -c 'print(1)'",
        honest=tuple(POINTS),
        outcome="graded",
    ),
    Attack(
        "links to secrets",
        "lays symbolic links to the gradebook, to other submissions and to / beside the notebook",
        lay=_links,
        first=READ_ALL,
    ),
    Attack(
        "devices and pipes",
        "lays a FIFO, a socket and a link to /dev/zero beside the notebook",
        lay=_devices,
        first=READ_ALL,
    ),
    Attack(
        "names with tricks",
        "lays files beside the notebook whose names are paths, options, commands or not text",
        lay=_names,
        first=READ_ALL,
        told="here",
        outcome="graded",
    ),
    Attack(
        "many large files",
        "lays 150 MB beside the notebook, and folders 40 deep",
        lay=_many,
        first="print(len(os.listdir()))",
        outcome="graded",
    ),
    Attack(
        "hard links to secrets",
        "lays second names of the gradebook and of other submissions beside the notebook",
        lay=_hard_links,
        first=READ_ALL + 'print("read")',
        told="read",
        outcome="graded",
    ),
    Attack(
        "files with odd rights",
        "lays files that nobody may read, and programs that would run as their owner",
        lay=_modes,
        first=READ_ALL + "for name in os.listdir(): print(oct(os.stat(name).st_mode))",
        told="0o1006",
        outcome="graded",
    ),
    Attack(
        "files of terabytes that hold nothing",
        "lays files of a terabyte, and more than fits, beside the notebook",
        lay=_holes,
        first="print(len(os.listdir()) < 12)",
        told="True",
        outcome="graded",
    ),
    Attack(
        "compiled modules",
        "lays compiled modules under the names of libraries, and libraries in C",
        lay=_compiled,
        honest=tuple(POINTS),
        outcome="graded",
    ),
    Attack(
        "settings of programs",
        "lays settings and start files of programs that could read them there",
        lay=_settings,
        first="!bash -ic true; python -c 'print(1)'",
        honest=tuple(POINTS),
        outcome="graded",
    ),
    Attack(
        "a swarm of files",
        "lays almost as many empty files as are looked at",
        lay=_swarm,
        first="print(len(os.listdir()))",
        told="201",
        outcome="graded",
    ),
    Attack(
        "folders in folders",
        "lays folders 150 deep, and a hundred beside each other",
        lay=_depths,
        first="print(len(list(os.walk('.'))))",
        outcome="graded",
    ),
    Attack(
        "names of the grader's files",
        "lays verdicts, runs and connections under the names that the grader uses",
        lay=_graders_names,
        first=READ_ALL,
        told="check_softmax",
        outcome="graded",
    ),
    Attack(
        "names that look alike to some",
        "lays files whose names differ only in case, accents and dots",
        lay=_alike,
        first=READ_ALL,
        told="here",
        outcome="graded",
    ),
]
