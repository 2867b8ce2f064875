"""Show a verdict as a card: HTML for the notebook, the same in plain text elsewhere."""

from html import escape
from textwrap import indent

from autograder.judging.code_marks import Rendered, count, paragraph, points_of
from autograder.judging.exhibit_tables import exhibit_part
from autograder.judging.verdict import Verdict
from autograder.utils.palette import PARTLY, RIGHT, WRONG

# Colors of the bar on the left; the text keeps the page's color, light or dark.
SIGNS = {"✓": RIGHT, "✗": WRONG, "○": PARTLY}


class Card:
    """Something to show, as HTML and as text that says the same."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = html, text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def verdict_card(verdict: Verdict, go_on: str = "") -> Card:
    """Return the card for one verdict.

    go_on: what to do next, where the learner is at work.
    """
    if not verdict.answered or verdict.given_up:
        return note_card(headline(verdict), verdict.sentence)
    color = RIGHT if verdict.passed else PARTLY if verdict.points else WRONG
    parts = [_aspects(verdict)]
    if verdict.sentence:
        parts.append(paragraph(verdict.sentence))
    if verdict.exhibit:
        parts.append(exhibit_part(verdict.exhibit))
    if go_on:
        parts.append(paragraph(go_on))
    if verdict.printed:
        parts += _printed(verdict)
    return framed(f"{sign_of(verdict.passed)} {headline(verdict)}", color, parts)


def note_card(title: str, sentence: str) -> Card:
    """Return a card that says one thing, and judges nothing."""
    return framed(f"○ {title}", PARTLY, [paragraph(sentence)])


def headline(verdict: Verdict) -> str:
    """Return one line with the exercise and its points, or whether a challenge is solved."""
    if not verdict.answered:
        return f"{verdict.exercise}: not answered yet"
    if verdict.challenge:
        return f"{verdict.exercise}: {solved(verdict.passed, verdict.given_up)}"
    if verdict.given_up:
        return f"{verdict.exercise}: given up, 0 of {verdict.max_points} points"
    return f"{verdict.exercise}: {points_of(verdict.points, verdict.max_points)}"


def solved(passed: bool, given_up: bool) -> str:
    return "given up" if given_up else "solved" if passed else "not solved yet"


# ---------------------------------------------------------------- parts of cards


def framed(title: str, color: str, parts: list[Rendered]) -> Card:
    """Return a card: a title, and what stands below it, beside a bar of a color."""
    body = "".join(html for html, _ in parts)
    html = (
        f'<div style="border-left:4px solid {color};padding:4px 12px;margin:4px 0">'
        f'<div style="font-weight:bold">{colored(title)}</div>{body}</div>'
    )
    return Card(html, "\n".join([title, *(text for _, text in parts)]))


def _aspects(verdict: Verdict) -> Rendered:
    lines = [
        f"{sign_of(aspect.held)} {aspect.name}"
        + f" ({count(aspect.points, 'point')})" * (not verdict.challenge)
        for aspect in verdict.aspects
    ]
    items = "".join(f"<li>{colored(line)}</li>" for line in lines)
    html = f'<ul style="list-style:none;padding-left:0;margin:4px 0">{items}</ul>'
    return html, "\n".join(f"  {line}" for line in lines)


def _printed(verdict: Verdict) -> list[Rendered]:
    """Say how much the code printed, and show the beginning of what it printed in the case."""
    said = f"Your code printed {count(verdict.printed, 'line')} in all cases together"
    if not verdict.output.strip():
        return [paragraph(f"({said}.)")]
    text = verdict.output.rstrip()
    where = "the case above" if verdict.exhibit else "the first case"
    shown = f'<pre style="margin:6px 0;opacity:.8">{escape(text)}</pre>'
    return [paragraph(f"{said}. In {where}:"), (shown, indent(text, "  "))]


def sign_of(good: bool) -> str:
    return "✓" if good else "✗"


def colored(line: str) -> str:
    """Escape a line as HTML, and color the sign that it begins with, if any."""
    sign, rest = line[:1], line[1:]
    if sign not in SIGNS:
        return escape(line)
    return f'<b style="color:{SIGNS[sign]}">{sign}</b>{escape(rest)}'
