"""Show on a card which case went wrong, and the expected values beside the learner's."""

from html import escape
from textwrap import indent

from torch import Tensor

from autograder.judging.case_words import case_in_words, inputs_as_code
from autograder.judging.code_marks import Part, paragraph
from autograder.judging.tensor_table import (
    MOST,
    Style,
    heatmap,
    pick_corner,
    pick_slice,
    plain_table,
    telling_decimals,
    value_range,
    widest,
)
from autograder.judging.verdict import Exhibit


def exhibit_part(exhibit: Exhibit) -> Part:
    """Show the case that went wrong: its inputs, the expected output and the learner's."""
    html, text = _case(exhibit)
    if exhibit.expected is None or exhibit.got is None or not exhibit.expected.dim():
        return html, text
    tables, lines = _side_by_side(exhibit.output, exhibit.expected, exhibit.got, exhibit.wrong)
    return html + tables, f"{text}\n{lines}"


def _case(exhibit: Exhibit) -> Part:
    """Say which case it is, with its inputs: those of the docstring's example for all to see."""
    words = case_in_words(exhibit)
    html, text = paragraph(words) if words else ("", "")
    if not exhibit.inputs:
        return html, text
    code = inputs_as_code(exhibit.inputs)
    block = f'<pre style="margin:4px 0">{escape(code)}</pre>'
    if exhibit.example:
        return html + block, f"{text}\n{indent(code, '    ')}"
    return f"{html}<details><summary>its inputs</summary>{block}</details>", text


def _side_by_side(output: str, expected: Tensor, got: Tensor, wrong: Tensor | None) -> Part:
    """Show expected and got on one color scale, at the slice where they first differ."""
    same = expected.shape == got.shape
    where = _first(expected)
    corner: tuple[slice, ...] = ()
    if same:
        differs = expected != got if wrong is None else wrong
        where = pick_slice(differs)
        corner = pick_corner(differs[where])
    decimals = telling_decimals(expected, got) if same else 3
    everywhere = wrong is not None and bool(wrong.all())
    marks = None if wrong is None or everywhere else wrong[where][corner]
    everything = ", wrong everywhere" if everywhere and got.numel() > 1 else ""
    panels = [
        ("expected", expected, where, "", None),
        ("yours", got, where if same else _first(got), everything, marks),
    ]
    tables = [t[at][corner] if t.numel() else t.flatten() for _, t, at, *_ in panels]
    style = Style(*value_range(expected, got), decimals, widest(decimals, *tables))
    html, text = "", []
    for (word, tensor, at, said, marked), shown in zip(panels, tables, strict=True):
        title = f"{word}: {output} {tuple(tensor.shape)}{_place(at, corner)}{said}"
        legend = "" if marked is None else ", framed where wrong"
        html += heatmap(shown, title + legend, style, marked)
        text.append(f"  {title}:\n{plain_table(shown, decimals, marked)}")
    return html + _whole(got), "\n".join(text)


def _place(index: tuple[int, ...], corner: tuple[slice, ...]) -> str:
    """Say which part of a tensor a table shows."""
    at = f" at {list(index)}" if index else ""
    starts = [part.start for part in corner]
    return f"{at}, from {starts}" if any(starts) else at


def _first(tensor: Tensor) -> tuple[int, ...]:
    """Return the index of the first matrix in a tensor."""
    return (0,) * max(tensor.dim() - 2, 0)


def _whole(got: Tensor) -> str:
    """Fold away the whole tensor if the table leaves some of it out."""
    if got.dim() <= 2 and all(size <= MOST for size in got.shape):
        return ""
    return f"<details><summary>all of yours</summary><pre>{escape(str(got))}</pre></details>"
