"""Show on a card which case went wrong, and the expected values beside the learner's."""

from dataclasses import dataclass, replace
from html import escape
from textwrap import indent

from torch import Tensor

from autograder.judging.case_words import case_in_words, inputs_as_code
from autograder.judging.code_marks import Rendered, paragraph
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


def exhibit_part(exhibit: Exhibit) -> Rendered:
    """Show the case that went wrong: its inputs, the expected output and the learner's."""
    html, text = _case(exhibit)
    if exhibit.expected is None or exhibit.got is None or not exhibit.expected.dim():
        return html, text
    tables, lines = _side_by_side(exhibit.output, exhibit.expected, exhibit.got, exhibit.wrong)
    return html + tables, f"{text}\n{lines}"


def _case(exhibit: Exhibit) -> Rendered:
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


@dataclass(frozen=True)
class Panel:
    """One of two tables side by side.

    shown: the part of the tensor that it shows.
    marked: which of these values are framed; None if none are.
    """

    title: str
    shown: Tensor
    marked: Tensor | None = None


def _side_by_side(output: str, expected: Tensor, got: Tensor, wrong: Tensor | None) -> Rendered:
    """Show expected and got on one color scale, at the slice where they first differ."""
    panels = _panels(output, expected, got, wrong)
    decimals = telling_decimals(expected, got) if expected.shape == got.shape else 3
    width = widest(decimals, *(panel.shown for panel in panels))
    style = Style(*value_range(expected, got), decimals, width)
    html, text = "", []
    for panel in panels:
        legend = "" if panel.marked is None else ", framed where wrong"
        html += heatmap(panel.shown, panel.title + legend, style, panel.marked)
        text.append(f"  {panel.title}:\n{plain_table(panel.shown, decimals, panel.marked)}")
    return html + _whole(got), "\n".join(text)


def _panels(output: str, expected: Tensor, got: Tensor, wrong: Tensor | None) -> list[Panel]:
    """Choose the part of both tensors to show, and the values to frame."""
    if expected.shape != got.shape:
        both = {"expected": expected, "yours": got}
        return [_panel(word, output, one, _first(one)) for word, one in both.items()]
    differs = expected != got if wrong is None else wrong
    at = pick_slice(differs)
    corner = pick_corner(differs[at])
    theirs = _panel("yours", output, got, at, corner)
    if wrong is not None and not wrong.all():
        theirs = replace(theirs, marked=wrong[at][corner])
    elif wrong is not None and got.numel() > 1:
        theirs = replace(theirs, title=f"{theirs.title}, wrong everywhere")
    return [_panel("expected", output, expected, at, corner), theirs]


def _panel(
    word: str, output: str, tensor: Tensor, at: tuple[int, ...], corner: tuple[slice, ...] = ()
) -> Panel:
    title = f"{word}: {output} {tuple(tensor.shape)}{_place(at, corner)}"
    return Panel(title, tensor[at][corner] if tensor.numel() else tensor.flatten())


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
