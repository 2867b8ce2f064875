"""Attacks with files next to the notebook."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.sandbox.hostile.attack import POINTS, Attack, write

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
        "lays files beside the notebook whose names are paths, options, commands or no text",
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
]
