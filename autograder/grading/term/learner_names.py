"""What a learner may be called: the name of a folder, which pages, tables and terminals show."""

from collections.abc import Iterable

LONGEST = 100
MARKUP = set('<>&"')
APART = set("/\\")
MOST_NAMES = 20  # in a line


def is_learner_name(name: str) -> bool:
    """Whether a learner may have this name."""
    return not why_no_name(name)


def why_no_name(name: str) -> str:
    """Return why no learner may have this name; "" if one may."""
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


def listed(names: Iterable[str]) -> str:
    """Return the names in a line, sorted; the number of those beyond `MOST_NAMES`."""
    names = sorted(names)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
