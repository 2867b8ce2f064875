"""PostgreSQL and a Dask cluster for as long as a test needs them. Only this machine sees them."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path

from distributed import Client

from tests.support import kills, programs
from tests.support.classroom import start_program
from tests.support.processes import descendants
from tests.support.waiting import HANG


@contextmanager
def postgresql() -> Iterator[str]:
    """Give the address of a new database, whose server listens on a socket in its own folder."""
    folders = sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True)
    initdb, pg_ctl = (programs.find(name, "postgresql", *folders) for name in ("initdb", "pg_ctl"))
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # all users can reach it; sockets need a short path
    if os.getuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    data = str(folder / "data")
    settings = ["--auth=trust", "--username=instructor", "--locale=C", "--encoding=UTF8"]
    made = _as_owner(folder, initdb, *settings, "-D", data)
    assert made.returncode == 0, made.stderr
    log = folder / "server.txt"
    wait = ["-w", f"-t{HANG:.0f}"]
    started = _as_owner(folder, pg_ctl, *wait, "-D", data, "-l", str(log), "-o", options, "start")
    assert started.returncode == 0, log.read_text(encoding="utf-8")
    try:
        yield f"postgresql+psycopg://instructor@/postgres?host={folder}"
    finally:
        _as_owner(folder, pg_ctl, "-m", "immediate", "-D", data, "stop")
        shutil.rmtree(folder)


def _as_owner(folder: Path, *command: str) -> subprocess.CompletedProcess:
    """Run a server command as the owner of its folder, because the server refuses root."""
    owner = folder.stat().st_uid
    return subprocess.run(
        command,
        cwd=folder,
        user=owner if owner != os.getuid() else None,
        capture_output=True,
        text=True,
    )


@contextmanager
def dask_scheduler(place: Path) -> Iterator[str]:
    """Give the address of a scheduler; `place` is a folder for its files."""
    file = place / "scheduler.json"
    process = _dask(place, "scheduler", "--port=0", f"--scheduler-file={file}")
    try:
        with Client(scheduler_file=str(file), timeout=HANG) as client:
            address = client.scheduler.address
        yield address
    finally:
        _end(process)


@contextmanager
def dask_workers(scheduler: str, place: Path, count: int, threads: int) -> Iterator[Client]:
    """Give a client of the scheduler while it has workers; `place` identifies their processes."""
    (place / "tmp").mkdir()
    options = (f"--nworkers={count}", f"--nthreads={threads}", f"--local-directory={place}")
    process = _dask(place, "worker", scheduler, *options, TMPDIR=str(place / "tmp"))
    try:
        with Client(scheduler, timeout=HANG) as client:
            client.wait_for_workers(count, timeout=HANG)
            yield client
    finally:
        own = descendants(process.pid)
        _end(process)
        kills.wait_for_end(own, place)


def _dask(place: Path, kind: str, *options: str, **environment: str) -> subprocess.Popen:
    program = [sys.executable, "-m", "dask", kind, *options, "--host=127.0.0.1", "--no-dashboard"]
    return start_program(program, place / f"{kind}.txt", **environment)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    process.wait(HANG)
