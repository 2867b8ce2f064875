"""State in a lesson's notebook which version of each exercise it has, where the checks read it.

What is added here is left out again on the way back from a notebook to its text.
"""

import re
from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from autograder.lessons.errors import AuthoringError

IMPORT = re.compile(r"^from autograder import .*\bmade_for\b", re.M)
COMMENT = "# The version of each exercise in this notebook; the checks compare it with theirs."
STATEMENT = re.compile(rf"\n\n{re.escape(COMMENT)}\nmade_for\([^)]*\)\s*\Z")
LINE = 100  # characters, as ruff's line-length


def state_contracts(cells: Iterable[NotebookNode], contracts: Mapping[str, str]) -> None:
    """Add a call of `made_for` to the cell that imports it. Raises AuthoringError.

    contracts: by exercise.
    """
    importing = [cell for cell in cells if cell.cell_type == "code" and IMPORT.search(cell.source)]
    if len(importing) != 1:
        raise AuthoringError(
            "One cell should import `made_for` from autograder, among its other names, so that "
            f"the notebook can say what it was made for; {len(importing)} do"
        )
    source = leave_out_contracts(importing[0].source)
    importing[0].source = f"{source}\n\n{COMMENT}\n{_statement(contracts)}"


def leave_out_contracts(source: str) -> str:
    """Return a code cell as it stands in a lesson's text."""
    return STATEMENT.sub("", source)


def _statement(contracts: Mapping[str, str]) -> str:
    stated = [f'{exercise}="{contract}"' for exercise, contract in contracts.items()]
    line = f"made_for({', '.join(stated)})"
    if len(line) <= LINE:
        return line
    return "\n".join(["made_for(", *(f"    {each}," for each in stated), ")"])
