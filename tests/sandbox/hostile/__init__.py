"""Hostile submissions, and what must happen to them.

Each is an `Attack`: plain data, with a line that says what it tries. Every attack limits its own
count, size and time, and is run only where `tests.sandbox.probes` has shown that the walls hold.

    python -m tests.sandbox.hostile [NAME …]     runs them and prints a table
"""

from importlib import import_module
from pathlib import Path

from tests.sandbox.hostile.attack import Attack
from tests.sandbox.hostile.written import attacks_in

HERE = Path(__file__).parent
# Attacks by kind: those written as text, and those made in Python.
KINDS: dict[str, list[Attack]] = {
    path.stem: attacks_in(path) for path in sorted(HERE.glob("*.txt"))
}
for name in (
    "answers",
    "calls",
    "cells",
    "files",
    "forbidden",
    "judged",
    "limits",
    "memory",
    "messages",
    "pages",
    "processes",
    "reading",
    "results",
):
    KINDS.setdefault(name, []).extend(import_module(f"{__name__}.{name}").ATTACKS)
ATTACKS = [attack for kind in KINDS.values() for attack in kind]
