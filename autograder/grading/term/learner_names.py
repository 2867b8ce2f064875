"""Learners' names: which ones are allowed, and how messages show them.

A name is the name of a folder, and is shown on pages, in tables and on terminals.
"""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

LONGEST = 100
MARKUP = set('<>&"')
APART = set("/\\")
MOST_NAMES = 20  # in a message


def is_learner_name(name: str) -> bool:
    """Whether a learner may have this name."""
    return not why_no_name(name)


def why_no_name(name: str) -> str:
    """Return why no learner may have this name; "" if it is allowed."""
    if not name:
        return "it is empty"
    if len(name) > LONGEST:
        return f"it has more than {LONGEST} characters"
    if name.startswith((".", "-")):
        return "it starts with a dot or a dash"
    if not name.isprintable():
        return "it has characters that can't be shown"
    if found := [one for one in name if one in MARKUP | APART]:
        return f"it has {found[0]} in it"
    return ""


def printable(text: str) -> str:
    """Replace characters that would move the cursor, color a terminal or start a new line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def printable_lines(text: str) -> str:
    """Do the same to each line, and leave the line ends."""
    return "\n".join(map(printable, text.split("\n")))


def listed(names: Iterable[str]) -> str:
    """Join names in one sorted line, with a count of those beyond `MOST_NAMES`."""
    names = sorted(names)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Ask whether a misspelled name means a known one; "" if none is similar."""
    alike = [one for one in sorted(known) if one.startswith(name)][:3]
    alike = alike or get_close_matches(name, known, n=1)
    return f" Did you mean {' or '.join(map(printable, alike))}?" if alike else ""
