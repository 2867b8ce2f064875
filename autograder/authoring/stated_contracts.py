"""State in a lesson's notebook which version of each exercise it has, where the checks read it.

What is added here is removed again on the way back from a notebook to its text.
"""

import re
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.lessons.errors import AuthoringError

IMPORT = re.compile(r"^from autograder import .*\bmade_for\b", re.M)
STATEMENT = re.compile(r"\n\nmade_for\([^)]*\)\s*\Z")


def state_contracts(cells: Iterable[NotebookNode], lesson: str, contracts: Iterable[str]) -> None:
    """Add a call of `made_for` to the cell that imports it. Raises AuthoringError.

    contracts: a digest of what each exercise of the lesson asks for.
    """
    importing = [cell for cell in cells if cell.cell_type == "code" and IMPORT.search(cell.source)]
    if len(importing) != 1:
        raise AuthoringError(
            "One cell should import `made_for` from autograder, among its other names, so that "
            f"the notebook can say what it was made for; {len(importing)} do"
        )
    source = leave_out_contracts(importing[0].source)
    importing[0].source = f'{source}\n\nmade_for("{lesson}", "{"-".join(contracts)}")'


def leave_out_contracts(source: str) -> str:
    """Return a code cell as it stands in a lesson's text."""
    return STATEMENT.sub("", source)
