"""What a cell's text defines, whether or not it can be parsed."""

import re


def defines(source: str, name: str) -> bool:
    """Whether a cell defines a name, or assigns to it."""
    line = rf"^[ \t]*(?:(?:def|class)[ \t]+{name}\b|{name}[ \t]*=(?!=))"
    return re.search(line, source, re.MULTILINE) is not None
