"""State in a lesson's notebook what has its single source elsewhere.

That is points, minutes, and which version of each exercise it has, where the checks read it. An
exercise knows its points; a question that a person grades states its own in its heading. The text's
headings say how long each takes, and the table at its top what the lesson is good for. How long it
takes is computed. What is added here is removed again on the way back from a notebook to its text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import takewhile

from nbformat import NotebookNode

from autograder.authoring.published import Published, published, with_addresses
from autograder.errors import AuthoringError
from autograder.lessons.lesson import Lesson
from autograder.lessons.minutes import minutes_needed
from autograder.lessons.written_questions import with_points, written_questions

HEADING = re.compile(r"^(### Exercise \d+: `(\w+)` \()(?:\d+ points?, )?(\d+ minutes\))", re.M)
ROWS = re.compile(r"^\| \*\*(?:Exercises|Time)\*\* \|.*\n?", re.M)
LAST_ROW = re.compile(r"^(\| \*\*You can then\*\* \| *(.*?) *\|\n?)", re.M)
TITLE = re.compile(r"# (.+)")
LISTED = re.compile(r"^\| \[.*\]\(notebooks/.*\) \|.*\n", re.M)  # in the README's table
MOST_POINTS = 1_000
IMPORT = re.compile(r"^from autograder import ", re.M)
NAME = "attention-from-scratch"
# What a notebook's first cell begins with. PyPI has another package named `autograder`.
INSTALLED = """try:
    from autograder import made_for
except Exception as error:
    install = "%pip uninstall -y autograder, then %pip install and the course's wheel"
    raise ImportError(f"Install the course ({install}), then restart. {error}") from None

"""
# What stands before its `except` once the site has the wheel, for Colab and the like. The wheel has
# a local version, which pip prefers to the same release on an index, whoever put it there.
INSTALLS = """except ModuleNotFoundError:
    course = "--find-links {wheels} {name}=={release}"
    get_ipython().run_line_magic("pip", "install --quiet " + course)
    from autograder import made_for
"""
BEGINS = re.compile(r"\Atry:\n    from autograder import made_for\nexcept .*? from None\n\n", re.S)
STATEMENT = re.compile(r"\n\nmade_for\([^)]*\)\s*\Z")


def state_points(cells: Sequence[NotebookNode], points: Mapping[str, int], minutes: int) -> None:
    """Add the points to the headings of exercises, and their sum and the time to the table on top.

    points: by exercise. Other headings stay as they are.
    """
    asked = [question.points for question in written_questions(cells).values()]
    questions = f" and {len(asked)} question{'s' * (len(asked) != 1)}" if asked else ""
    most = sum(points.values()) + sum(asked)
    rows = (
        f"| **Exercises** | {len(points)}{questions}, together {most} points |\n"
        f"| **Time** | {minutes} minutes |\n"
    )
    for cell in cells:
        if cell.cell_type == "markdown":
            text = leave_out_points(cell.source)
            text = HEADING.sub(lambda match: _heading(match, points), text)
            cell.source = LAST_ROW.sub(lambda match: match[1] + rows, text)


def leave_out_points(text: str) -> str:
    """Return a markdown cell as it stands in a lesson's text."""
    return ROWS.sub("", HEADING.sub(r"\1\3", text))


def settle_points(cells: Sequence[NotebookNode]) -> None:
    """Let the headings of questions state points that were changed in nbgrader's toolbar.

    In a source notebook, the cell that asks also keeps the points with which it was built.
    Raises AuthoringError if heading and toolbar were both changed, and differ.
    """
    for number, question in written_questions(cells).items():
        built, given = (_nbgrader_points(cell) for cell in cells[number : number + 2])
        if built is None or given in (None, built, question.points):
            continue
        if question.points != built or given not in range(1, MOST_POINTS):
            raise AuthoringError(
                f"the question {question.name} is worth {question.points} in its heading and "
                f"{given} in nbgrader's toolbar: give it the same whole number in both"
            )
        cells[number].source = with_points(cells[number].source, int(given))


def state_contracts(
    cells: Sequence[NotebookNode], lesson: str, contracts: Iterable[str], where: Published
) -> None:
    """Let the cell with the imports say what the notebook was made for, and install the course.

    contracts: a digest of what each exercise of the lesson asks for.
    where: without a site, the cell only says what to install. Raises AuthoringError.
    """
    importing = [cell for cell in cells if cell.cell_type == "code" and IMPORT.search(cell.source)]
    if len(importing) != 1:
        raise AuthoringError(
            "One cell should import from autograder, so that the notebook can say what it was made "
            f"for; {len(importing)} do"
        )
    source = leave_out_contracts(importing[0].source)
    made = f'made_for("{lesson}", "{"-".join(contracts)}")'
    importing[0].source = f"{beginning(where)}{source}\n\n{made}"


def beginning(where: Published) -> str:
    """Return what the cell with the imports begins with."""
    if not where.wheels:
        return INSTALLED
    release = version(NAME).partition("+")[0]
    installs = INSTALLS.format(wheels=where.wheels, name=NAME, release=release)
    return INSTALLED.replace("except", f"{installs}except", 1)


def leave_out_contracts(source: str) -> str:
    """Return a code cell as it stands in a lesson's text."""
    return STATEMENT.sub("", BEGINS.sub("", source))


def fold_plumbing(cells: Sequence[NotebookNode]) -> None:
    """Fold the code of imports and settings: the cells between a lesson's opening and its text."""
    for cell in takewhile(lambda cell: cell.cell_type == "code", cells[1:]):
        cell.metadata["jupyter"] = {"source_hidden": True}


@dataclass(frozen=True)
class Opening:
    """What a lesson's first cell says of it: its title, how long it takes, and what it is good for.

    use: goes on after "then you can".
    """

    title: str
    minutes: str
    use: str


def opening(lesson: Lesson) -> Opening:
    """Read a lesson's opening. Raises AuthoringError."""
    top = lesson.notebook.cells[0].source
    title, use = TITLE.match(top), LAST_ROW.search(top)
    if not (use and title):
        raise AuthoringError(
            f"The first cell of {lesson.text_path.name} does not say what the lesson is good for. "
            "Add a row to its table: | **You can then** | build an encoder |"
        )
    return Opening(title[1], str(minutes_needed(lesson.notebook.cells)), use[2])


def stated_in_readme(readme: str, lesson: Lesson) -> str:
    """Return the README with the lesson's row in its table of lessons.

    A lesson that the table lacks comes last. The course's addresses are stated, too.
    Raises AuthoringError.
    """
    row = listed(lesson, "notebooks/")
    readme = with_addresses(readme, published())
    there = re.compile(rf"^\| \[.*\]\(notebooks/{lesson.name}/.*\) \|.*\n", re.M)
    if there.search(readme):
        return there.sub(lambda _: row, readme)
    *_, last = LISTED.finditer(readme)
    return readme[: last.end()] + row + readme[last.end() :]


def listed(lesson: Lesson, folder: str = "") -> str:
    """Return the row of a table of lessons: a link, minutes, points, and what one can do after it.

    folder: where the notebooks are, seen from the table. Raises AuthoringError.
    """
    said = opening(lesson)
    questions = written_questions(lesson.notebook.cells).values()
    points = sum(e.points for e in lesson.exercises) + sum(q.points for q in questions)
    return f"| {link(lesson, folder)} | {said.minutes} | {points} | {said.use} |\n"


def link(lesson: Lesson, folder: str = "") -> str:
    """Return a link to the lesson's notebook, by its title. Raises AuthoringError."""
    return f"[{opening(lesson).title}]({folder}{lesson.name}/{lesson.name}.ipynb)"


def _nbgrader_points(cell: NotebookNode) -> float | None:
    return cell.metadata.get("nbgrader", {}).get("points")


def _heading(match: re.Match[str], points: Mapping[str, int]) -> str:
    if match[2] not in points:
        return match[0]
    many = points[match[2]]
    return f"{match[1]}{many} point{'s' * (many != 1)}, {match[3]}"
