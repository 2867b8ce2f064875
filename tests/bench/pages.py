"""How long formgrader takes for a page designed to be slow."""

import json
import time

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.grading.formgrader.submission_page import page_parts
from autograder.grading.pages.budget import MOST_SECONDS

# Parsers take quadratic time for these.
SLOW = [text * (9_000 // len(text)) for text in ("# a\n", "<div>", "<", "&", "```\n")]


def report() -> None:
    """Print the seconds and their goal."""
    cells = [new_markdown_cell(text) for text in SLOW for _ in range(30)]
    cells += [new_markdown_cell(text * 20) for text in SLOW]
    outputs = [new_output("display_data", {"text/html": text * 20}) for text in SLOW]
    cells += [new_code_cell("1", outputs=outputs) for _ in range(10)]
    data = json.dumps(new_notebook(cells=cells)).encode()
    start = time.monotonic()
    page_parts(data, {}, [])
    seconds = time.monotonic() - start
    print(f"a page that is made to be slow takes {seconds:.0f} s (aim: {3 * MOST_SECONDS:.0f} s)")


if __name__ == "__main__":
    report()
