"""Hostile submissions, and what has to happen to them.

Each is an `Attack`: plain data, with a line that says what it tries. Every attack limits its own
count, size and time, and is run only where `tests.sandbox.probes` has shown that the walls hold.

    python -m tests.sandbox.hostile [NAME …]     runs them and prints a table
"""

from importlib import import_module

from tests.sandbox.hostile.attack import Attack

MODULES = tuple(
    import_module(f"{__name__}.{name}")
    for name in (
        "answers",
        "calls",
        "cells",
        "clock",
        "files",
        "forbidden",
        "hooks",
        "judged",
        "limits",
        "memory",
        "messages",
        "pages",
        "processes",
        "reading",
        "results",
        "writing",
    )
)
ATTACKS: list[Attack] = [attack for module in MODULES for attack in module.ATTACKS]
