"""What a cell's text defines, whether or not it can be parsed."""

import re

DEFINED = re.compile(r"^(?:(?:def|class)[ \t]+|(?=\w+[ \t]*=(?!=)))(\w+)", re.MULTILINE)


def defined(source: str) -> list[str]:
    """List what a cell defines at its top level."""
    return DEFINED.findall(source)


def defines(source: str, name: str) -> bool:
    """Whether a cell defines a name, or assigns to it, at any level."""
    line = rf"^[ \t]*(?:(?:def|class)[ \t]+{name}\b|{name}[ \t]*=(?!=))"
    return re.search(line, source, re.MULTILINE) is not None
