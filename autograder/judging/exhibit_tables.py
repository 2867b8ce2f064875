"""Show on a card which case went wrong, and the expected values beside the learner's."""

from html import escape

from torch import Tensor

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
)
from autograder.judging.verdict import Exhibit


def exhibit_part(exhibit: Exhibit) -> Part:
    """Show the case that went wrong: its inputs' shapes, the expected output and the learner's."""
    shapes = ", ".join(f"{name} {tuple(shape)}" for name, shape in exhibit.shapes.items())
    what = "; ".join(part for part in (exhibit.label, shapes) if part)
    place = "Seen with a case that only grading uses" if exhibit.hidden else "Seen with"
    html, text = paragraph(f"{place}: {what}.") if what else ("", "")
    if exhibit.expected is None or exhibit.got is None or not exhibit.expected.dim():
        return html, text
    tables, lines = _side_by_side(exhibit.output, exhibit.expected, exhibit.got, exhibit.wrong)
    return html + tables, f"{text}\n{lines}"


def _side_by_side(output: str, expected: Tensor, got: Tensor, wrong: Tensor | None) -> Part:
    """Show expected and got on one color scale, at the slice where they first differ."""
    same = expected.shape == got.shape
    where = _first(expected)
    corner: tuple[slice, ...] = ()
    if same:
        differs = expected != got if wrong is None else wrong
        where = pick_slice(differs)
        corner = pick_corner(differs[where])
    style = Style(*value_range(expected, got), telling_decimals(expected, got) if same else 3)
    marks = None if wrong is None or wrong.all() else wrong[where][corner]  # don't mark every cell
    panels = [
        ("expected", expected, where, None),
        ("yours", got, where if same else _first(got), marks),
    ]
    html, text = "", []
    for word, tensor, index, marked in panels:
        title = f"{word}: {output} {tuple(tensor.shape)}{_place(index, corner)}"
        shown = tensor[index][corner] if tensor.numel() else tensor.flatten()
        html += heatmap(shown, title, style, marked)
        text.append(f"  {title}:\n{plain_table(shown, style.decimals, marked)}")
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
