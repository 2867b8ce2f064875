"""Grading with a PostgreSQL gradebook, on a server that lives as long as these tests."""

import os
import pwd
import shutil
import subprocess
import tempfile
from glob import glob
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.support import beside, programs
from tests.support.classroom import LESSON, make_course, nbgrader, verdicts
from tests.support.waiting import HANG

pytestmark = pytest.mark.usefixtures("sandbox")
COUNT = 4


def as_owner(folder, *command):
    """Run a server command as the owner of its folder, because the server refuses root."""
    owner = folder.stat().st_uid
    return subprocess.run(
        command,
        cwd=folder,
        user=owner if owner != os.getuid() else None,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def db_url():
    """The address of a new database, on a server that listens on a socket in its own folder."""
    folders = sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)
    initdb, pg_ctl = (programs.find(name, "postgresql", *folders) for name in ("initdb", "pg_ctl"))
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # all users can reach it; sockets need a short path
    if os.getuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    data = str(folder / "data")
    settings = ["--auth=trust", "--username=instructor", "--locale=C", "--encoding=UTF8"]
    made = as_owner(folder, initdb, *settings, "-D", data)
    assert made.returncode == 0, made.stderr
    log = folder / "server.txt"
    wait = ["-w", f"-t{HANG:.0f}"]
    started = as_owner(folder, pg_ctl, *wait, "-D", data, "-l", str(log), "-o", options, "start")
    assert started.returncode == 0, log.read_text(encoding="utf-8")
    yield f"postgresql+psycopg://instructor@/postgres?host={folder}"
    as_owner(folder, pg_ctl, "-m", "immediate", "-D", data, "stop")
    shutil.rmtree(folder)


def test_the_marks_are_the_true_ones(db_url, tmp_path):
    option = f"--CourseDirectory.db_url={db_url}"
    marks = make_course(tmp_path, COUNT, option)
    with beside.at_work(db_url) as report:
        nbgrader(tmp_path, "autograde", LESSON.name, option)
    found, by_hand = beside.marks(Gradebook(db_url, "attention-from-scratch"))
    assert found == marks
    assert by_hand == set(report["given"])
    assert len(verdicts(tmp_path)) == COUNT
    assert not (tmp_path / "gradebook.db").exists()
    nbgrader(tmp_path, "export", option, f"--to={tmp_path / 'grades.csv'}")
    assert len((tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()) == COUNT + 1
