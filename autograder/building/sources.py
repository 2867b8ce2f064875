"""Find the project's own modules that a module imports, directly or indirectly, and hash them.

Tables beside a module that names them are part of it.

Files are read, not imported, so that grading knows what to do before torch is loaded.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from autograder.lessons.lesson import Lesson
from autograder.places import PACKAGE

ROOT = PACKAGE.parent  # what modules are imported from, here or in the grader's wheel
BUILDER = PACKAGE / "building" / "reference.py"
UTILS = ["autograder", "utils"]  # in the repository, its modules are in `utils/`
PICTURES = ("utils/plots/", "utils/views/")  # what lessons only show
DATA = re.compile(r'"([\w-]+\.csv)"')  # a data file beside the module that names it


def source_digest(lesson: Lesson, *also: Path) -> str:
    """Hash everything that a reference is built from: the lesson, and the code that builds it.

    A lesson's prose, demonstrations and pictures don't count.

    also: further code, such as what makes something else from the reference.
    """
    exercises = lesson.exercises_path.glob("*.py")
    files = needed_files([lesson.text_path, *exercises, BUILDER, *also], ROOT, PICTURES)
    code = repr([source for source, _ in lesson.definitions.values()])
    return digest_of((path for path in files if path != lesson.text_path), ROOT, code)


def needed_files(start: Iterable[Path], root: Path, but: tuple[str, ...] = ()) -> list[Path]:
    """List the files below `root` that the files in `start` need, including themselves, sorted.

    A module needs the modules that it imports, and the data files beside it that it names.

    but: folders to leave out.
    """
    found: set[Path] = set()
    todo = list(start)
    while todo:
        path = todo.pop()
        if path not in found and not _name(path, root).startswith(but):
            found.add(path)
            todo += _files(path, root)
    return sorted(found, key=lambda path: _name(path, root).split("/"))


def digest_of(files: Iterable[Path], root: Path, salt: str) -> str:
    """Hash text files, their names below `root`, and `salt`; line endings don't matter."""
    digest = hashlib.sha256(salt.encode())
    for path in files:
        text = path.read_text(encoding="utf-8")
        digest.update(f"{_name(path, root)} {len(text)}\n{text}".encode())
    return digest.hexdigest()


def _name(path: Path, root: Path) -> str:
    """Return a file's name in the repository, wherever it is installed."""
    name = path.relative_to(root).as_posix()
    return name.removeprefix("autograder/") if name.startswith("autograder/utils/") else name


def _files(path: Path, root: Path) -> Iterator[Path]:
    if path.suffix != ".py":
        return
    text = path.read_text(encoding="utf-8")
    for level, name in _imports(text):
        parts = name.split(".")
        start = path.parents[level - 1] if level else root
        for count in range(1, len(parts) + 1):
            module = _module(parts[:count], start)
            candidates = (module.with_suffix(".py"), module / "__init__.py")
            yield from filter(Path.is_file, candidates)
    yield from filter(Path.is_file, map(path.with_name, DATA.findall(text)))


def _module(parts: list[str], start: Path) -> Path:
    """Return where a module is, without its suffix."""
    inside = start.joinpath(*UTILS)
    is_beside = parts[:2] == UTILS and not (inside / "data").is_dir()
    return start.joinpath(*parts[1 if is_beside else 0 :])


@cache
def _imports(text: str) -> list[tuple[int, str]]:
    """List a module's imports from the project: how many dots they begin with, and the full name.

    A name imported from a package may be a module.
    """
    names: list[tuple[int, str]] = []
    for node in _walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [(node.level, f"{node.module}.{alias.name}") for alias in node.names]
    return [(level, name) for level, name in names if level or name.split(".")[0] == "autograder"]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and the statements below it, except those for type checkers only."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody"):
        for child in getattr(node, block, []):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from _walk(child)
