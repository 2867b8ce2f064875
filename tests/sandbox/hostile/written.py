"""Attacks written down as text, in the `.txt` files beside this one.

== its name
what it tries, in one line
told: what must be found               (honest, earns, told, outcome: see `Attack`)
-- first
code of the cells before the others    (first, last, or the exercise that it answers)
"""

import re
from pathlib import Path
from typing import Any

from tests.sandbox.hostile.attack import Attack

LISTS = {"honest", "earns"}


def attacks_in(path: Path) -> list[Attack]:
    """Read the attacks in a file, which begins with a line on what they have in common."""
    _, *texts = re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_attack(text) for text in texts]


def _attack(text: str) -> Attack:
    head, *parts = re.split(r"^-- ", text.strip(), flags=re.MULTILINE)
    name, tries, *lines = head.strip().splitlines()
    facts = dict(_fact(*line.split(": ", 1)) for line in lines)
    code = dict(part.rstrip().split("\n", 1) for part in parts)
    ends = {end: code.pop(end, "") for end in ("first", "last")}
    return Attack(name, tries, answers=code, **ends, **facts)


def _fact(name: str, value: str) -> tuple[str, Any]:
    if name in LISTS:
        return name, () if value == "nothing" else tuple(value.split(", "))
    return name, value
