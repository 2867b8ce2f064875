"""How text and numbers are written on the pages for instructors and learners."""

import re

from markupsafe import Markup

from autograder.grading.report.untrusted import LONGEST_NAME, visible
from autograder.judging.code_marks import as_html

WORD_END = re.compile(r"(?<=_)|(?<=[a-z])(?=[A-Z])")


def code(text: str) -> Markup:
    """Render text in which `backticks` mark code."""
    return Markup(as_html(text))


def name(text: str) -> str:
    """Make a learner's name safe to show: file names may contain anything."""
    return visible(text, LONGEST_NAME)


def number(value: float) -> str:
    return f"{round(value, 2):g}"


def breakable(text: str) -> Markup:
    """Let a name break after its underscores and before its capitals."""
    return Markup("<wbr>").join(WORD_END.split(text))
