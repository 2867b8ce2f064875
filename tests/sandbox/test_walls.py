"""Each wall of the sandbox, tested from the inside by a harmless probe."""

import ast
import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from nbgrader.exchange.default import Exchange

from autograder.places import ROOT
from autograder.sandbox import walls
from autograder.sandbox.sandbox import Cell, Sandbox
from tests.sandbox.probes import NAMES, look

pytestmark = pytest.mark.usefixtures("sandbox")
IN_USR = "/usr/share/zoneinfo"
# Variables that text, numbers and files may depend on.
SURROUNDINGS = {
    "HOME": "/scratch/home",
    "USER": "learner",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "KERAS_BACKEND": "torch",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "GIVEN": "beyond these",
}
# Those parts of the system and of Python that exist here.
PLACES = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime"]
PLACES += [
    f"{prefix}/{name}"
    for prefix in (sys.prefix, sys.base_prefix)
    for name in ("bin", "lib", "lib64", "share", "etc", "ssl", "pyvenv.cfg")
]


@pytest.fixture(scope="module")
def seen():
    return look()


@pytest.mark.parametrize("wall", NAMES)
def test_it_holds(seen, wall):
    assert not seen[wall], seen[wall]


def test_what_is_not_the_systems_is_hidden_in_usr(monkeypatch):
    monkeypatch.setattr(walls, "COVERED", (IN_USR, "/usr/no/such/folder"))
    look = f"import os\nprint(os.listdir({IN_USR!r}))\nos.mkdir('{IN_USR}/probe')"
    with closing(Sandbox()) as sandbox:
        [cell] = sandbox.run([Cell(look, 10.0)]).cells
    assert cell.outputs[0].text == "[]\n"
    assert "Read-only file system" in cell.outputs[1].evalue


def test_nbgraders_exchange_and_the_course_are_hidden_in_usr():
    places = [Path(Exchange.root.default_value), ROOT]
    assert all(any(place.is_relative_to(path) for path in walls.COVERED) for place in places)


def test_what_a_notebook_finds_is_the_same_on_every_machine():
    look = f"""
import os, socket, sys
print([path for path in {PLACES} if os.path.lexists(path)])
print([socket.gethostname(), sys.flags.safe_path])
print(dict(os.environ))
"""
    with closing(Sandbox(environment={"GIVEN": SURROUNDINGS["GIVEN"]})) as sandbox:
        [cell] = sandbox.run([Cell(look, 10.0)]).cells
    places, about, variables = map(ast.literal_eval, cell.outputs[0].text.splitlines())
    assert places == [path for path in PLACES if os.path.lexists(path)]
    assert about == ["sandbox", True]
    assert {name: variables.get(name) for name in SURROUNDINGS} == SURROUNDINGS
