"""Where no sandbox is possible, the instructor is told why, and what to do about it."""

import pickle
import platform
import shutil
import sys

import pytest

from autograder.errors import CourseError
from autograder.sandbox import seccomp, walls

TOOLS = {"bwrap": "apt install bubblewrap", "unshare": "util-linux", "setpriv": "util-linux"}


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A folder with a program for each tool, and no other folder on the path."""
    for name in TOOLS:
        (tmp_path / name).symlink_to(shutil.which("true"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setitem(seccomp.MACHINES, platform.machine(), 0)
    return tmp_path


def why_not():
    with pytest.raises(walls.NoSandbox) as error:
        walls.standing().require()
    assert "UNSEALED=1" in str(error.value)
    return str(error.value)


def test_with_all_tools_there_is_one(tools):
    walls.standing().require()


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_is_missing(tools, tool):
    (tools / tool).unlink()
    said = why_not()
    assert f"the program {tool!r} is missing" in said and TOOLS[tool] in said


def test_another_system(tools, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    said = why_not()
    assert "this is darwin" in said and "Grade on Linux" in said


def test_another_processor(tools, monkeypatch):
    monkeypatch.delitem(seccomp.MACHINES, platform.machine())
    said = why_not()
    assert f"system calls of {platform.machine()}" in said and "Grade on Linux" in said


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_was_refused(tool):
    error = walls.standing().explain(f"{tool}: Operation not permitted")
    assert isinstance(error, walls.NoSandbox)
    assert f"No sandbox: {tool}: Operation not permitted" in str(error)
    assert "making namespaces" in str(error)


def test_a_failure_inside_does_not_mean_that_there_is_no_sandbox():
    error = walls.standing().explain("MemoryError: bwrap: none")
    assert type(error) is CourseError
    assert str(error).endswith("nothing comes up in it: MemoryError: bwrap: none")


def test_it_comes_from_a_worker_as_it_was():
    error = walls.NoSandbox("it is dark", "system")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (walls.NoSandbox, str(error))
    assert (again.reason, again.remedy) == ("it is dark", "system")
