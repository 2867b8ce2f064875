"""Control groups: where they exist, the kernel counts and limits what a run uses in total."""

import os
from contextlib import closing
from textwrap import dedent

import pytest

from autograder.sandbox import cgroups, watch
from autograder.sandbox.cgroups import CHILDREN_HAVE, GRADER, PROCESSES, ControlGroup, home
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Cell, Sandbox
from tests.support.waiting import wait_until

ALL = "cpu memory pids"
MEGABYTE = 1 << 20


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder that looks like this process's group, before it passes on any controllers."""
    own = tmp_path / "fs" / "course.scope"
    own.mkdir(parents=True)
    fill(own, "cgroup.type", "domain")
    fill(own, CHILDREN_HAVE, "")
    fill(own, PROCESSES, f"{os.getpid()}\n{os.getppid()}")
    mounts, group = tmp_path / "mounts", tmp_path / "group"
    mounts.write_text(
        f"31 23 0:26 / /proc rw - proc proc rw\n30 23 0:26 / {own.parent} rw - cgroup2 cgroup2 rw\n"
    )
    group.write_text("1:name=systemd:/user\n0::/course.scope\n")
    monkeypatch.setattr(cgroups, "MOUNTS", mounts)
    monkeypatch.setattr(cgroups, "OWN", group)
    return own


def fill(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"{text}\n")


def find():
    return home.__wrapped__()


def test_the_grader_moves_aside_and_runs_get_groups(own):
    assert find() == own
    assert (own / GRADER / PROCESSES).read_text().strip() in (str(os.getpid()), str(os.getppid()))
    assert (own / CHILDREN_HAVE).read_text() == "+cpu +memory +pids"


def test_nobody_else_is_moved(own, monkeypatch):
    other = 2**22
    fill(own, PROCESSES, f"{os.getpid()}\n{other}")
    assert find() is None  # it may have ended, or be in another session
    monkeypatch.setattr(os, "getsid", lambda pid: int(pid == other))
    assert find() is None
    assert not (own / GRADER).exists()


def test_a_grader_that_has_moved_knows_its_group(own, tmp_path):
    fill(own, CHILDREN_HAVE, f"{ALL} io")
    fill(own / GRADER, CHILDREN_HAVE, "")
    (tmp_path / "group").write_text(f"0::/course.scope/{GRADER}\n")
    assert find() == own


def test_the_root_of_all_groups_keeps_its_processes(own):
    (own / "cgroup.type").unlink()
    assert find() == own
    assert not (own / GRADER).exists()


@pytest.mark.parametrize("file", ["mounts", "group"])
def test_a_system_without_them(own, tmp_path, file):
    (tmp_path / file).write_text("5:memory:/ / / / / - cgroup cgroup rw,memory\n")
    assert find() is None


def test_a_run_without_a_group(monkeypatch):
    monkeypatch.setattr(cgroups, "home", lambda: None)
    assert cgroups.new_group(Limits()) is None


def test_a_group_that_may_not_be_changed(own):
    (own / CHILDREN_HAVE).unlink()
    (own / CHILDREN_HAVE).mkdir()
    assert find() is None


def test_the_limits_of_a_run(tmp_path):
    with ControlGroup(tmp_path, Limits(memory_bytes=1000, scratch_bytes=24, threads=7)) as group:
        group.take([11, 12])
        (folder,) = tmp_path.iterdir()
        found = {path.name: path.read_text().strip() for path in folder.iterdir()}
        assert found["memory.max"] == "1024" and found["memory.oom.group"] == "1"
        assert found["pids.max"] == "14" and found["cpu.weight"] == "100"
        assert found[PROCESSES] == "12"
        fill(folder, "cpu.stat", "usage_usec 2500000\nuser_usec 1")
        fill(folder, "memory.events", "low 0\noom 0\noom_kill 3")
        assert group.seconds() == 2.5 and not group.ran_out_of_memory()
        fill(folder, "memory.events", "low 0\noom 1\noom_kill 3")
        assert group.ran_out_of_memory()
    assert (folder / "cgroup.kill").read_text() == "1\n"


# ---------------------------------------------------------------- where there are some


@pytest.fixture
def groups(sandbox):
    """The home of this process's groups. Most machines have none, which is fine."""
    return home() or pytest.skip("this process has no control group of its own")


def test_processor_time_counts_of_children_that_nobody_waits_for(groups):
    """In /proc, what such a child used is gone when it ends."""
    source = """
        import os, signal, time
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(100):
            if os.fork() == 0:
                end = time.process_time() + 0.2
                while time.process_time() < end: pass
                os._exit(0)
            time.sleep(0.3)
    """
    limits = Limits(cell_seconds=1e5, notebook_seconds=2.0, patience=1e5)
    assert "processor time" in stopped(source, limits)
    wait_until(lambda: cgroups.remove_empty(groups) or not [*groups.glob("run-*")])


def test_memory_that_the_watch_does_not_see_is_limited(groups, monkeypatch):
    monkeypatch.setattr(watch, "HELD_AT_MOST", ())
    source = """
        import os, time
        for _ in range(7):
            if os.fork() == 0:
                held = b"x" * (200 << 20)
                time.sleep(60)
        time.sleep(60)
    """
    limits = Limits(memory_bytes=1024 * MEGABYTE, scratch_bytes=8 * MEGABYTE)
    assert stopped(source, limits) == "it used more than 1.0 GB of memory"


def stopped(source, limits):
    with closing(Sandbox(limits=limits)) as sandbox:
        return sandbox.run([Cell(dedent(source), 1e5)]).stopped
