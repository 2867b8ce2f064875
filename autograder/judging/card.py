"""Show a verdict as a card: HTML for the notebook, the same in plain text elsewhere."""

from html import escape

import torch
from torch import Tensor

from autograder.judging.code_marks import as_html
from autograder.judging.tensor_table import (
    MOST_COLUMNS,
    MOST_ROWS,
    format_value,
    heatmap,
    pick_slice,
    telling_decimals,
    value_range,
)
from autograder.judging.verdict import AspectResult, Exhibit, Verdict

# Colors of the bar on the left; the text keeps the page's color, light or dark.
GREEN, AMBER, RED = "#2da44e", "#d4a72c", "#e5534b"


class Card:
    """Something to show, as HTML and as text that says the same."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = html, text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def verdict_card(verdict: Verdict) -> Card:
    """Return the card for one verdict."""
    if not verdict.answered:
        return _frame(
            f"○ {verdict.exercise}: not answered yet", AMBER, [_paragraph(verdict.sentence)]
        )
    color = GREEN if verdict.passed else AMBER if verdict.points else RED
    parts = [_aspects(verdict.aspects)]
    if verdict.sentence:
        parts.append(_paragraph(verdict.sentence))
    if verdict.exhibit:
        parts.append(_exhibit(verdict.exhibit))
        if not verdict.exhibit.hidden:
            parts.append(_paragraph(f"`failing_case({verdict.exercise})` gives you these inputs."))
    if verdict.printed:
        parts.append(_paragraph(f"(Your code printed {_lines(verdict.printed)}, left out here.)"))
    return _frame(f"{_sign(verdict.passed)} {headline(verdict)}", color, parts)


def headline(verdict: Verdict) -> str:
    """Return one line with the exercise and its points."""
    if not verdict.answered:
        return f"{verdict.exercise}: not answered yet"
    return f"{verdict.exercise}: {count_points(verdict.points, verdict.max_points)}"


def count_points(points: float, of: float) -> str:
    return f"{points:g} of {of:g} {'point' if of == 1 else 'points'}"


def hint_card(exercise: str, hints: list[str], seen: int) -> Card:
    """Show the first `seen` hints of an exercise."""
    parts = [_paragraph(f"{i}. {hint}") for i, hint in enumerate(hints[:seen], start=1)]
    left = len(hints) - seen
    more = (
        "That was the last hint." if not left else f"Run the cell again for another ({left} left)."
    )
    return _frame(f"Hint {seen} of {len(hints)} for {exercise}", AMBER, [*parts, _paragraph(more)])


def progress_card(rows: list[tuple[str, float | None, float]]) -> Card:
    """Show points by exercise: rows of (name, points or None if unchecked, maximum)."""
    earned = sum(points or 0 for _, points, _ in rows)
    total = sum(most for *_, most in rows)
    html = "".join(f"<tr>{_cell(name)}{_cell(_state(p, most))}</tr>" for name, p, most in rows)
    text = "\n".join(f"  {name}: {_state(p, most)}" for name, p, most in rows)
    color = GREEN if earned == total else AMBER
    return _frame(
        f"{count_points(earned, total)} so far", color, [(f"<table>{html}</table>", text)]
    )


# ---------------------------------------------------------------- parts: (html, text)

Part = tuple[str, str]


def _frame(title: str, color: str, parts: list[Part]) -> Card:
    body = "".join(html for html, _ in parts)
    html = (
        f'<div style="border-left:4px solid {color};padding:4px 12px;margin:4px 0">'
        f'<div style="font-weight:bold">{escape(title)}</div>{body}</div>'
    )
    return Card(html, "\n".join([title, *(text for _, text in parts)]))


def _paragraph(text: str) -> Part:
    return f'<p style="margin:6px 0">{as_html(text)}</p>', text


def _aspects(aspects: list[AspectResult]) -> Part:
    lines = [f"{_sign(a.held)} {a.name} ({a.points})" for a in aspects]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    html = f'<ul style="list-style:none;padding-left:0;margin:4px 0">{items}</ul>'
    return html, "\n".join(f"  {line}" for line in lines)


def _exhibit(exhibit: Exhibit) -> Part:
    shapes = ", ".join(f"{name} {tuple(shape)}" for name, shape in exhibit.shapes.items())
    what = "; ".join(part for part in (exhibit.label, shapes) if part)
    place = "Seen with a case that only grading uses" if exhibit.hidden else "Seen with"
    html, text = _paragraph(f"{place}: {what}.") if what else ("", "")
    if exhibit.expected is None or exhibit.got is None or not exhibit.expected.dim():
        return html, text
    tables, lines = _side_by_side(exhibit.output, exhibit.expected, exhibit.got)
    return html + tables, f"{text}\n{lines}"


def _side_by_side(output: str, expected: Tensor, got: Tensor) -> Part:
    """Show expected and got on one color scale, at the slice where they first differ."""
    same = expected.shape == got.shape
    wrong = expected != got if same else torch.zeros(expected.shape, dtype=torch.bool)
    where = pick_slice(wrong)
    panels = [("expected", expected, where)]
    panels.append(("yours", got, where if same else (0,) * max(got.dim() - 2, 0)))
    low, high = value_range(expected, got)
    decimals = telling_decimals(expected, got) if same else 3
    html, text = "", []
    for word, tensor, index in panels:
        place = f" at {list(index)}" if index else ""
        title = f"{word}: {output} {tuple(tensor.shape)}{place}"
        html += heatmap(tensor[index], title, low, high, decimals)
        text.append(f"  {title}:\n{_plain(tensor[index], decimals)}")
    return html, "\n".join(text)


def _plain(values: Tensor, decimals: int) -> str:
    rows = [row[:MOST_COLUMNS] for row in torch.atleast_2d(values)[:MOST_ROWS]]
    texts = [[f"{format_value(value, decimals):>8}" for value in row] for row in rows]
    return "\n".join("    " + " ".join(row) for row in texts)


def _sign(good: bool) -> str:
    return "✓" if good else "✗"


def _state(points: float | None, most: float) -> str:
    return "not checked yet" if points is None else count_points(points, most)


def _lines(number: int) -> str:
    return f"{number:,} line{'s' if number != 1 else ''}"


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{escape(text)}</td>'
