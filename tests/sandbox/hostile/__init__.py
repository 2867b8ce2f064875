"""Submissions that mean harm, and what has to become of them.

Each is an `Attack`: plain data, with a line that says what it tries. Every one is bounded in
count, size and time by itself, and is run only where `tests.sandbox.probes` has shown that the
walls hold.

    python -m tests.sandbox.hostile [NAME …]     runs them and prints a table
"""

from tests.sandbox.hostile import (
    answers,
    cells,
    files,
    limits,
    messages,
    processes,
    reading,
    writing,
)
from tests.sandbox.hostile.attack import Attack

MODULES = (answers, cells, files, limits, messages, processes, reading, writing)
ATTACKS: list[Attack] = [attack for module in MODULES for attack in module.ATTACKS]
