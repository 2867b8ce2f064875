"""What the documentation says is true: commands, links, words, versions and examples."""

import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import jupytext
import pytest
import torch
import yaml
from nbformat import NotebookNode
from nbgrader.apps.nbgraderapp import NbGraderApp

from autograder.building.reference import ExerciseBuilder
from autograder.judging.card import verdict_card
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.places import ROOT
from autograder.references.store import find
from tests.course.test_witnesses import assert_agrees, witnessed

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.M | re.S)
GLOSSARY = PAGES["docs/architecture.md"].partition("## Glossary\n")[2]
WORDS = re.findall(r"^\| ([a-z ]+) \| (?!meaning)", GLOSSARY, re.M)

# ---------------------------------------------------------------- commands

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([\w-]+):.*## ", MAKEFILE, re.M))
VARIABLES = set(re.findall(r"\$\((?:\w+ \w+,)?(\w+)\)", MAKEFILE))
NEEDS = dict(re.findall(r"^([\w-]+):.*## .*\n\t\$\(call needs,([\w ]+)\)", MAKEFILE, re.M))
SAME_AS = {b: a for a, b in re.findall(r"^[\w-]+: (\w+) \?= \$\((\w+)\)$", MAKEFILE, re.M)}
SYSTEM = {"apt", "cd", "chmod", "chown", "echo", "git", "mkdir", "mv", "rm", "source", "useradd"}
# Other commands, by how they begin, and the file with a test that runs them.
RUN_IN = {
    "python -m venv": ".github/workflows/tests.yml",
    "pip install -c lock.txt": ".github/workflows/tests.yml",
    "python -m autograder.course grade-one": "tests/grading/single/test_command.py",
    "pytest -n 2": ".github/workflows/tests.yml",
    "jupyter lab": "tests/support/lab.py",
    "PROGRESS_FILE= python try.py": "tests/notebook/test_check.py",
    "pip wheel": "tests/support/wheels.py",
    "pip install --no-deps": "tests/support/wheels.py",
}
BY_HAND = (  # for which a test would need another machine, or the network
    "pip install gguf tokenizers",
    "pip install jupyterhub==",
    "pip install nbgrader==",
    "pip install pre-commit",
    "pip install wheels/*.whl",
    "pre-commit install",
    "systemd-run --user --scope -p Delegate=yes make grade",
)


def blocks(page):
    """Yield the commands of each console block, except for those marked as not tried."""
    for block in BLOCK.finditer(page):
        before = page[: block.start()].rstrip().rpartition("\n\n")[2]
        after = page[block.end() :].lstrip().partition("\n\n")[0]
        if block[1] in ("console", "powershell") and "(not tried)" not in before + after:
            lines = re.sub(r"(^|\s+)# .*", "", block[2].replace("\\\n", ""), flags=re.M)
            yield from filter(None, re.split(r"\n| && ", lines))


COMMANDS = [(name, command) for name, page in PAGES.items() for command in blocks(page)]
IN_TEXT = [
    (name, command)
    for name, page in PAGES.items()
    for command in re.findall(r"`((?:make|nbgrader) [^`]+)`", BLOCK.sub("", page))
]


def is_known(command):
    program, *words = shlex.split(command)
    if program == "make":
        given = [word.partition("=")[0] for word in words if "=" in word]
        return words[0] in TARGETS and set(given) <= VARIABLES
    if program == "nbgrader":
        return words[0] in NbGraderApp.subcommands
    return program in SYSTEM


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_is_run_somewhere(page, command):
    command = re.sub(r"^sudo |\.venv(\\Scripts\\|/bin/)", "", command)
    found = [file for begins, file in RUN_IN.items() if command.startswith(begins)]
    assert found or command.startswith(BY_HAND) or is_known(command), page
    if command.startswith("make "):
        _, target, *given = shlex.split(command)
        needed = NEEDS.get(target, "").split()
        named = {SAME_AS.get(name, name) for name in (word.partition("=")[0] for word in given)}
        assert {*needed} <= named, page


@pytest.mark.parametrize(("page", "command"), IN_TEXT)
def test_a_command_in_the_text_exists(page, command):
    assert is_known(command.replace("'", "")), page


@pytest.mark.parametrize(("begins", "file"), RUN_IN.items())
def test_the_test_that_runs_a_command_contains_it(begins, file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert all(word in text for word in begins.split())


# ---------------------------------------------------------------- links, words, versions


def anchors(page):
    """Return the ids that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    prose = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", PAGES[name]))
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not link.startswith("https://"):
            path, _, anchor = link.partition("#")
            target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
            assert target.exists(), link
            assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_names_exist(name):
    folders = "autograder|utils|tests|docs|solutions|notebooks"
    for path in re.findall(rf"`((?:{folders})/[\w./]*)`", BLOCK.sub("", PAGES[name])):
        made = "NN_topic" in path or "_build" in path or "mean_of_heads" in path
        assert made or (ROOT / path).exists(), path


def test_messages_send_people_to_headings_that_exist():
    code = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "autograder").rglob("*.py"))
    found = re.findall(r"([\w/.]+), under ([A-Z][\w ]+)", re.sub(r'"\n\s*"', "", code))
    assert found
    for name, heading in found:
        assert heading.lower().replace(" ", "-") in anchors(PAGES[name]), heading


def test_the_readme_is_one_page():
    assert len(PAGES["README.md"].splitlines()) <= 110


def test_the_map_has_every_room_and_no_other():
    tables = PAGES["docs/architecture.md"].split("| what it is for |\n")[1:]
    beside = {"notebooks", "solutions", "docs", "tests"}
    for folder, table, others in zip(
        ("autograder", "autograder/grading"), tables, (beside, set()), strict=True
    ):
        rooms = {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
        listed = re.findall(r"^\| `(?:autograder/)?(\w+)/` \|", table.partition("\n\n")[0], re.M)
        assert sorted(listed) == sorted(rooms | others), folder


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_glossary_is_used(word):
    pages = [page.replace(GLOSSARY, "") for page in PAGES.values()]
    code = (path.read_text(encoding="utf-8") for path in (ROOT / "autograder").rglob("*.py"))
    used = re.compile(rf"\b{word}".replace(" ", r"[\s_-]"), re.I)
    assert any(used.search(text) for text in chain(pages, code))


def test_the_glossary_is_sorted():
    assert len(WORDS) > 40 and sorted(WORDS) == WORDS


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/install.md"])
def test_it_says_which_versions_of_python_work(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    first, end = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", project["requires-python"]).groups()
    *others, last = (f"3.{minor}" for minor in range(int(first), int(end)))
    assert f"Python {', '.join(others)} or {last}" in " ".join(PAGES[name].split())


# ---------------------------------------------------------------- files for other programs


def test_files_for_other_programs_can_be_read():
    for path in [*ROOT.glob(".github/**/*.yml"), ROOT / "CITATION.cff"]:
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert f'RELEASE = "{citation["version"]}"' in (ROOT / "setup.py").read_text(encoding="utf-8")


def test_pre_commit_has_the_locked_ruff():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    [ruff] = {hook["additional_dependencies"][0] for hook in hooks["repos"][0]["hooks"]}
    assert f"\n{ruff}\n" in (ROOT / "lock.txt").read_text(encoding="utf-8")


def test_whoever_sets_up_a_machine_gets_the_packages_of_ci():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    packages = set(re.search(r'^packages="(.*)"$', script, re.M)[1].split()) | {"chromium"}
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert packages <= set(container["onCreateCommand"].split())
    assert f"sudo apt install {' '.join(sorted(packages))}\n" in PAGES["CONTRIBUTING.md"]


# ---------------------------------------------------------------- examples


def test_the_card_in_the_readme_is_what_learners_see():
    lesson, name = Lesson("01_dot_product_attention"), "query_scores"
    known = lesson.mistakes(lesson.asked[name])
    early = next(mistake for mistake in known if "inside the loop" in mistake.say)
    answer = lesson.namespace({name: early.variants[0]})[name]
    reference = find(name)
    verdict = judge_answer(answer, reference.questions[name], reference.keys[name])
    [shown] = [block[2] for block in BLOCK.finditer(PAGES["README.md"]) if block[1] == "text"]
    assert shown.removeprefix(f">>> check({name})").split() == verdict_card(verdict).text.split()


@dataclass(frozen=True)
class LongerLesson(Lesson):
    """A lesson of the course with more cells at its end."""

    more: str

    @cached_property
    def notebook(self) -> NotebookNode:
        text = self.text_path.read_text(encoding="utf-8")
        return jupytext.reads(f"{text}\n\n{self.more}", "py:percent")


def test_the_exercise_in_contributing_builds_and_has_a_witness():
    parts = BLOCK.findall(PAGES["CONTRIBUTING.md"])
    task, known, witness = (code for language, code in parts if language == "python")
    namespace = {"torch": torch}
    exec(known, namespace)
    exec(witness, namespace)
    exercise = namespace["EXERCISE"]
    question, key = ExerciseBuilder(LongerLesson("03_multi_head", task), exercise).build()
    for call, case in zip(question.calls, key.cases, strict=True):
        for output, value in witnessed(namespace[exercise.name], question, call).items():
            assert_agrees(value.to(case.expected[output].dtype), case.expected[output], None)
