"""Attacks on the notebook's form: changes to nbgrader's cells, and to what the file claims."""

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograder.grading.worker.graded_cells import VERDICT
from tests.sandbox.hostile.attack import POINTS, Attack, find

CHECKS = [f"check_{name}" for name in POINTS]
ALL = tuple(POINTS)


def _edit(notebook: NotebookNode) -> None:
    for name in CHECKS:
        find(notebook, name).source = "print('all tests passed')"


def _delete(notebook: NotebookNode) -> None:
    notebook.cells = [c for c in notebook.cells if "check(" not in c.source]


def _duplicate(notebook: NotebookNode) -> None:
    for name in CHECKS:
        copy = nbformat.from_dict(find(notebook, name))
        copy.source = "5"
        notebook.cells.append(copy)


def _move(notebook: NotebookNode) -> None:
    checks = [find(notebook, name) for name in CHECKS]
    rest = [cell for cell in notebook.cells if cell not in checks]
    notebook.cells = [rest[0], *reversed(checks), *rest[1:]]


def _retype(notebook: NotebookNode) -> None:
    for name, kind in zip(CHECKS, ("markdown", "raw", "markdown", "raw", "poem"), strict=True):
        cell = find(notebook, name)
        cell.cell_type = kind
        del cell["outputs"], cell["execution_count"]


def _retag(notebook: NotebookNode) -> None:
    for name in CHECKS:
        cell = find(notebook, name)
        cell.metadata.tags = ["skip-execution", "raises-exception", "remove-cell"]
        cell.metadata.nbgrader |= {"grade": False, "locked": False, "task": True}


def _swap(notebook: NotebookNode) -> None:
    """Give each check cell the name of the next, which has a different number of points."""
    cells = [find(notebook, name) for name in CHECKS]
    for cell, name in zip(cells, [*CHECKS[1:], CHECKS[0]], strict=True):
        cell.metadata.nbgrader.grade_id = name


def _claim(notebook: NotebookNode) -> None:
    """Give check cells the names of solutions, and vice versa."""
    for name in POINTS:
        check, solution = find(notebook, f"check_{name}"), find(notebook, name)
        check.metadata.nbgrader.grade_id, solution.metadata.nbgrader.grade_id = "", f"check_{name}"
        check.metadata.nbgrader.grade_id = name


def _raise_points(notebook: NotebookNode) -> None:
    for name in CHECKS:
        find(notebook, name).metadata.nbgrader.points = 10**6


def _forge_verdicts(notebook: NotebookNode) -> None:
    for name in POINTS:
        cell = find(notebook, f"check_{name}")
        facts = {"exercise": name, "points": 5, "max_points": 5, "answered": True, "aspects": []}
        cell.metadata[VERDICT] = facts
        cell.outputs = [new_output("execute_result", {"text/plain": "5"}, execution_count=1)]
    for name in POINTS:
        notebook.cells.append(new_code_cell("5", metadata={VERDICT: facts | {"exercise": name}}))


def _other_kernel(notebook: NotebookNode) -> None:
    name = {"name": "bash", "display_name": "bash", "language": "bash"}
    notebook.metadata = {"kernelspec": name, "language_info": {"name": "bash"}}


def _new_checks(notebook: NotebookNode) -> None:
    """Add the attacker's own grade cells, worth a lot."""
    facts = dict(find(notebook, CHECKS[0]).metadata.nbgrader)
    for number in range(3):
        own = facts | {"grade_id": f"own_{number}", "points": 100}
        notebook.cells.append(new_code_cell("assert True", metadata={"nbgrader": own}))


def _odd_metadata(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata.nbgrader = [cell.metadata.get("nbgrader", {})]
        cell.metadata.tags = {"skip-execution": True}


def _scripts(notebook: NotebookNode) -> None:
    text = "<script>parent.fetch('/formgrader/api')</script><img src=x onerror=alert(1)>"
    notebook.cells.append(new_markdown_cell(text))
    notebook.cells.append(new_markdown_cell("![a](attachment:x.svg)"))
    notebook.cells[-1].attachments = {"x.svg": {"image/svg+xml": text}}


def _deep_metadata(notebook: NotebookNode) -> None:
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    for cell in notebook.cells:
        cell.metadata |= {"a": deep, "": deep, "x" * 10_000: 1, "attention_given_up": True}
    notebook.metadata |= {"deep": deep, "widgets": {"x": deep}, "authors": [{"name": "<script>"}]}


def _odd_ids(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.id = "<img src=x onerror=evil()>" * 99
    notebook.nbformat_minor, notebook.metadata.orig_nbformat = 10**9, -1


def _odd_names(notebook: NotebookNode) -> None:
    """Give cells names that are almost those of check cells."""
    for name in CHECKS:
        for odd in (
            f"{name} ",
            name.upper(),
            name.replace("c", "\u0441"),
            f"{name}\0",
            f"\n{name}",
        ):
            facts = dict(find(notebook, name).metadata.nbgrader) | {"grade_id": odd}
            notebook.cells.append(new_code_cell("5", metadata={"nbgrader": facts}))


def _many_cells(notebook: NotebookNode) -> None:
    notebook.cells += [new_code_cell("", metadata={}) for _ in range(2000)]
    notebook.cells += [new_markdown_cell("x") for _ in range(2000)]


def _long_cells(notebook: NotebookNode) -> None:
    for source in ("#" * 500_000, "0\n" * 20_000, "(" * 5000, "if 1:\n " * 3000, "\f\v\x1c\x85"):
        notebook.cells.append(new_code_cell(source))


def _endless_cell(notebook: NotebookNode) -> None:
    notebook.cells.append(new_code_cell("0\n" * 500_000))


def _hidden_in_check(notebook: NotebookNode) -> None:
    """Keep the look of each check, with code behind it, before it and at the ends of its lines."""
    for name in CHECKS:
        cell = find(notebook, name)
        cell.source = (
            cell.source.replace("check(", "check (").replace("\n", "\r") + "\u2028print(5)"
        )


def _solutions_locked(notebook: NotebookNode) -> None:
    """Claim that answers are locked, that they are checks, and that checks are answers."""
    for name in POINTS:
        find(notebook, name).metadata.nbgrader |= {"locked": True, "solution": False, "grade": True}
        find(notebook, f"check_{name}").metadata.nbgrader |= {"solution": True, "locked": False}


def _given_up(notebook: NotebookNode) -> None:
    """Ask for the course's solutions where they would count, in ways that might go unnoticed."""
    for source in (
        "give_up('softmax')",
        "x = [give_up(softmax)]",
        "eval('give_up(softmax)')",
        "%time give_up(softmax)",
    ):
        notebook.cells.insert(2, new_code_cell(f"from autograder import give_up\n{source}"))


def _claims_course(notebook: NotebookNode) -> None:
    """Claim that its cells are the course's own, which are shown but not run."""
    for cell in notebook.cells:
        cell.metadata["attention_shown"] = True
        if cell.cell_type == "code":
            cell.outputs = [new_output("stream", text="HELD NOT: brought along")]


ATTACKS = [
    Attack("check cells edited", "makes every check cell print praise", change=_edit),
    Attack("check cells deleted", "hands in no check cells", change=_delete),
    Attack("check cells doubled", "adds a second copy of each check cell", change=_duplicate),
    Attack("check cells moved", "puts all check cells first, in reverse", change=_move),
    Attack("check cells retyped", "makes check cells text, and of no known type", change=_retype),
    Attack("check cells retagged", "tags check cells so that they are skipped", change=_retag),
    Attack("check cells renamed", "gives each check cell the name of the next", change=_swap),
    Attack(
        "checks and answers exchanged",
        "gives answers the names of their checks, and checks the names of answers",
        change=_claim,
        honest=(),
        told="NameError",
    ),
    Attack("points raised", "makes each check worth a million points", change=_raise_points),
    Attack("verdicts brought along", "hands in verdicts and outputs", change=_forge_verdicts),
    Attack(
        "another kernelspec", "asks to be run by another language's kernel", change=_other_kernel
    ),
    Attack("grade cells of his own", "adds grade cells that always pass", change=_new_checks),
    Attack(
        "metadata of odd types",
        "makes nbgrader's metadata a list and the tags a mapping",
        change=_odd_metadata,
    ),
    Attack("scripts in text", "writes scripts for whoever looks at the notebook", change=_scripts),
    Attack("metadata nested deep", "nests metadata, and lies in it", change=_deep_metadata),
    Attack("ids that are HTML", "gives cells ids and versions that are none", change=_odd_ids),
    Attack("names almost of checks", "adds cells named almost like checks", change=_odd_names),
    Attack(
        "thousands of cells",
        "adds 4,000 empty cells",
        change=_many_cells,
        outcome="graded",
    ),
    Attack(
        "cells of odd lengths",
        "adds cells with one endless line or endless brackets",
        change=_long_cells,
        told="SyntaxError",
        outcome="graded",
    ),
    Attack(
        "a cell that takes long to compile",
        "adds half a million lines, which Python compiles without a break for interrupts",
        change=_endless_cell,
        told="this cell took more than",
        outcome="graded",
    ),
    Attack(
        "checks that look the same",
        "changes check cells in ways that nobody sees: blanks and line ends",
        change=_hidden_in_check,
    ),
    Attack("locks exchanged", "locks answers and unlocks their checks", change=_solutions_locked),
    Attack(
        "giving up in secret",
        "takes the course's solutions in ways that might go unnoticed",
        change=_given_up,
        told="NameError",
        outcome="",
    ),
    Attack(
        "outputs brought along",
        "claims that its cells are the course's, with outputs to be shown",
        change=_claims_course,
        outcome="graded",
    ),
]
