"""Each wall of the sandbox, felt from the inside by a harmless probe."""

import ast
import sys
from contextlib import closing

import pytest

from autograder.sandbox import seccomp, walls
from autograder.sandbox.sandbox import Cell, Sandbox
from tests.sandbox.probes import NAMES, look

pytestmark = pytest.mark.usefixtures("sandbox")
IN_USR = "/usr/share/zoneinfo"
# What texts, numbers and files may depend on.
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


def test_what_a_notebook_finds_is_the_same_on_every_machine():
    look = "import os, socket\nprint(dict(os.environ) | {'host': socket.gethostname()})"
    with closing(Sandbox(environment={"GIVEN": SURROUNDINGS["GIVEN"]})) as sandbox:
        [cell] = sandbox.run([Cell(look, 10.0)]).cells
    found = ast.literal_eval(cell.outputs[0].text)
    assert found["host"] == "sandbox"
    assert {name: found.get(name) for name in SURROUNDINGS} == SURROUNDINGS


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_of_system_calls(machine):
    for name, numbers in seccomp.FORBIDDEN.items():
        assert not _allows(machine, numbers[machine]), name
    for family in range(50):
        allowed = _allows(machine, seccomp.SOCKET[machine], family)
        assert allowed == (family in seccomp.FAMILIES), family
    assert _allows(machine, 0) and _allows(machine, 100)
    assert not _allows(machine, 0, machine_called=0x40000003)  # 32-bit programs
    assert not _allows(machine, 0x40000000 | 1)


def _allows(machine, number, argument=0, machine_called=None):
    """Whether the filter allows a call, found by running it as the kernel does."""
    facts = {
        seccomp.NUMBER: number,
        seccomp.MACHINE: machine_called or seccomp.MACHINES[machine],
        seccomp.FIRST_ARGUMENT: argument,
    }
    place, loaded = 0, 0
    lines = seccomp.instructions(machine)
    while True:
        what, if_so, if_not, value = lines[place]
        place += 1
        if what == seccomp.RETURN:
            return value == seccomp.ALLOW
        if what == seccomp.LOAD:
            loaded = facts[value]
        else:
            place += if_so if _holds(what, loaded, value) else if_not


def _holds(what, loaded, value):
    return loaded == value if what == seccomp.EQUAL else loaded >= value
