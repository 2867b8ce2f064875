"""Which parts of the autograder may import which; above all, asking never imports answers."""

import ast
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from autograder.building.sources import needed_files
from autograder.places import ROOT
from autograder.sandbox.walls import MOUNTED

AUTOGRADER = ROOT / "autograder"
CORE = {"asking", "judging", "references", "errors"}
# The parts that each part may import.
MAY_IMPORT = {
    "__init__": {"asking", "notebook"},
    "errors": set(),
    "places": set(),
    "atomic_writes": set(),
    "utils": {"errors"},
    "asking": {"errors", "utils"},
    "judging": {"asking", "errors", "utils"},
    "references": {"asking", "judging", "errors"},
    "notebook": {"places", *CORE, "atomic_writes", "utils"},
    "lessons": {"places", "notebook", "judging", "errors"},  # of judging, the form of a prediction
    "exercises": {"asking", "judging", "lessons", "utils", "errors"},
    "building": {"places", *CORE, "lessons", "atomic_writes"},
    "authoring": {"places", *CORE, "notebook", "lessons", "building", "atomic_writes"},
    "sandbox": {"places", "asking", "errors", "utils"},
    "course": {"places", "authoring", "grading", "lessons", "errors"},
    "grading": {"places", *CORE, "lessons", "building", "sandbox", "atomic_writes", "utils"},
}


def part_of(path):
    """Return the part that a file belongs to; the modules of `autograder.utils` are in `utils/`."""
    package, *below = path.relative_to(ROOT).with_suffix("").parts
    return "utils" if package == "utils" else below[0]


def imported_parts(path):
    """Yield the parts that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "autograder":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _parts([node.module])
        elif isinstance(node, ast.Import):
            yield from _parts([alias.name for alias in node.names])


def _parts(names):
    return [name.split(".")[1] for name in names if name.startswith("autograder.")]


# What is copied from there runs in a learner's repository.
ELSEWHERE = AUTOGRADER / "grading" / "packing" / "files"
FILES = sorted(
    path
    for folder in (AUTOGRADER, ROOT / "utils")
    for path in folder.rglob("*.py")
    if not path.is_relative_to(ELSEWHERE)
)


def test_every_part_has_its_rule():
    assert {part_of(path) for path in FILES} == set(MAY_IMPORT)


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_part_imports_what_it_may(part):
    allowed = {part, *MAY_IMPORT[part]}
    for path in FILES:
        if part_of(path) == part:
            assert set(imported_parts(path)) <= allowed, path


def test_a_type_has_a_name_of_its_own():
    places = defaultdict(set)
    for path in FILES:
        for name in _types_in(path):
            places[name].add(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def _types_in(path):
    """Yield the classes and aliases of types that a module defines for others to read."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            named = (target.id for target in node.targets if isinstance(target, ast.Name))
            yield from (name for name in named if re.match(r"[A-Z]\w*[a-z]", name))


def test_the_rules_have_no_circles():
    done: set[str] = set()
    while ready := {part for part, rule in MAY_IMPORT.items() if rule <= done} - done:
        done |= ready
    assert done == set(MAY_IMPORT)


def test_what_is_mounted_into_the_sandbox_needs_nothing_else():
    mounted = [AUTOGRADER / name for name in MOUNTED]
    files = {f for path in mounted for f in ([path] if path.is_file() else path.glob("*.py"))}
    assert {*needed_files(files, ROOT)} <= files | {*(ROOT / "utils").rglob("*.py")}


# Libraries that only one room of grading knows, besides the modules named.
ONLY_IN = {
    "gradebook": ({"nbgrader.api", "sqlalchemy"}, set()),
    # formgrader/templates.py fills nbgrader's own templates.
    "pages": ({"jinja2", "markupsafe", "nh3", "pygments"}, {"formgrader/templates.py"}),
}


def imported_modules(path):
    """Yield the full names of what a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("room", ONLY_IN)
def test_only_its_room_knows_a_library(room):
    libraries, others = ONLY_IN[room]
    grading = AUTOGRADER / "grading"
    users = {
        path.relative_to(grading).as_posix()
        for path in grading.rglob("*.py")
        if path.parent.name != room
        for name in imported_modules(path)
        if any(f"{name}.".startswith(f"{library}.") for library in libraries)
    }
    assert users == others


def rooms_imported():
    """Return for each room of grading the other rooms that it imports."""
    rooms = {}
    for path in (AUTOGRADER / "grading").rglob("*.py"):
        room = rooms.setdefault(path.parent.name, set())
        names = (name.split(".") for name in imported_modules(path))
        room |= {name[2] for name in names if name[:2] == ["autograder", "grading"]}
    return {room: others - {room} for room, others in rooms.items() if room != "grading"}


def test_the_rooms_of_grading_import_each_other_in_no_circle():
    rooms, done = rooms_imported(), set()
    while ready := {room for room, others in rooms.items() if others <= done} - done:
        done |= ready
    assert done == set(rooms) and rooms["term"] == set()


def test_only_its_room_opens_the_gradebooks_database():
    paths = (AUTOGRADER / "grading").rglob("*.py")
    trees = {p: ast.parse(p.read_text(encoding="utf-8")) for p in paths}
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    users = {
        path.parent.name
        for path, node in nodes
        if (isinstance(node, ast.Attribute) and node.attr == "db")
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "Gradebook")
    }
    assert users == {"gradebook"}


PRIVATE_PARTS = {
    AUTOGRADER / "grading/engine/patches.py",
    AUTOGRADER / "sandbox/inside/kernel_patches.py",
    # torch has no public names for a module's hooks, or for the parts of one by their own names.
    AUTOGRADER / "asking/unchanged.py",
    AUTOGRADER / "asking/arguments.py",
}


def private_names_of_others(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node) != "os._exit":
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and node.attr.startswith("_") and not node.attr.endswith("_"):
                yield f"{path.name}: {ast.unparse(node)}"


def test_few_modules_use_private_names_of_others():
    paths = {*FILES} - PRIVATE_PARTS
    assert [name for path in paths for name in private_names_of_others(path)] == []


@pytest.mark.parametrize("module", ["engine.autograde", "feedback.feedback_page"])
def test_no_torch_is_imported_where_a_command_of_nbgrader_starts(module):
    require_no_torch(f"import autograder.grading.{module}")


def test_pending_work_is_known_before_torch_is_loaded():
    """The sandbox, which loads torch too, then starts beside it and not after it."""
    require_no_torch(
        "from autograder.grading.engine import provenance\n"
        "assert provenance.source_digest(provenance.Lesson('01_dot_product_attention'))"
    )


def require_no_torch(code):
    """Run code in a new process, and assert that it did not load torch."""
    code += "\nimport sys; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
