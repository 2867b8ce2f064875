"""Render cells as HTML that is safe to put on a page."""

from collections.abc import Iterable, Iterator
from html import escape

from autograder.grading.pages.budget import Budget
from autograder.grading.pages.cell_outputs import output_html
from autograder.grading.pages.harmless import MOST_TEXT
from autograder.grading.pages.notebook import NotebookCell
from autograder.grading.pages.sanitizer import Sanitizer, left_out
from autograder.grading.pages.text import Html, as_text, highlighted, without_controls
from autograder.grading.submission.cells import without_pictures
from autograder.grading.worker.graded_cells import SHOWN

NO_ROOM = left_out("The rest is left out: this page would be too long. It is in the notebook.")


class Renderer:
    """Renders the cells of one page within its budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._sanitizer = Sanitizer(self._budget)

    @property
    def is_full(self) -> bool:
        """Whether something has been left out."""
        return self._budget.full

    def put_below(self, level: int) -> None:
        """From now on, render headings below a heading of this level."""
        self._sanitizer.put_below(level)

    def words(self, text: str) -> Html:
        """Render what an instructor wrote, as it was written."""
        plain = escape(without_controls(text.strip()), quote=False)
        return self._as_far_as_it_fits([plain and f'<p class="plain">{plain}</p>'])

    def cell(self, cell: NotebookCell) -> Html:
        """Render a cell with its outputs."""
        return self.source(cell) + self.outputs(cell)

    def cells(self, cells: Iterable[NotebookCell]) -> Html:
        """Render cells with their outputs."""
        return Html().join(map(self.cell, cells))

    def source(self, cell: NotebookCell) -> Html:
        """Render what is written in a cell."""
        return self._as_far_as_it_fits([self._source(cell)] if cell.source.strip() else [])

    def outputs(self, cell: NotebookCell) -> Html:
        """Render a cell's outputs. In the course's own outputs, words replace the pictures."""
        if SHOWN not in cell.metadata:
            return self._as_far_as_it_fits(self._outputs(cell.outputs))
        html = self._as_far_as_it_fits(self._outputs(map(without_pictures, cell.outputs)))
        return html and Html('<div class="courses-own">{}</div>').format(html)

    def _source(self, cell: NotebookCell) -> str:
        if cell.kind == "markdown":
            return _boxed(self._sanitizer.markdown(cell.source, cell.attachments))
        if cell.kind != "code" or len(cell.source) > MOST_TEXT or not self._budget.in_time:
            return as_text(cell.source)
        with self._budget.timed():
            colored = highlighted(without_controls(cell.source))
            return f'<pre class="source"><code>{colored}</code></pre>'

    def _outputs(self, outputs: Iterable[dict]) -> Iterator[str]:
        return (output_html(output, self._sanitizer) for output in outputs)

    def _as_far_as_it_fits(self, pieces: Iterable[str]) -> Html:
        """Join pieces up to the first that has no room, and say so there."""
        html = ""
        for piece in filter(None, pieces):
            taken = self._budget.take(piece)
            html += taken or f"<p>{NO_ROOM}</p>"
            if not taken:
                break
        return Html(html)


def labeled(label: str, html: Html) -> Html:
    """Put a label above HTML."""
    return Html('<p class="label">{}</p>').format(label) + html


def _boxed(html: str) -> str:
    """Put HTML, if any, in a box that it can't leave, whatever its styles say."""
    return f'<div class="box">{html}</div>' if html.strip() else ""
