"""Harmless probes of each wall of the sandbox, from the inside.

A probe does just enough to tell whether the wall is there, and cleans up if it is not. Nothing
hostile is run on a machine where a probe fails (`tests.sandbox.hostile`).
"""

import contextlib
import os
import pwd
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Cell, CellRun, Sandbox
from autograder.sandbox.walls import MOUNTED

LIMITS = Limits(
    cell_seconds=10.0, notebook_seconds=60.0, memory_bytes=1 << 30, scratch_bytes=32 << 20
)
SECONDS = 10.0
ROOT = Path(__file__).parents[2]


def _home() -> Path:
    """Return the user's home according to the system, whatever the environment says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()


HOME = _home()

TOOLS = """
import contextlib, ctypes, os, resource, signal, socket, stat, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def fails(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        return True
    return False
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
"""

# By name: code that raises AssertionError unless the wall holds.
PROBES = {
    "its own process table": """
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        assert sorted(pids) == sorted({1, os.getpid(), *pids}) and max(pids) < 50, pids
        assert os.getppid() == 1, os.getppid()
        assert fails(os.kill, HOST_PID, 0) or HOST_PID in pids, "the test's own process is seen"
        for pid in pids:
            assert b"pytest" not in open(f"/proc/{pid}/cmdline", "rb").read(), pid
    """,
    "no network but a loopback that is down": """
        assert [name for _, name in socket.if_nameindex()] == ["lo"], socket.if_nameindex()
        assert len(open("/proc/net/route").readlines()) <= 1, "there are routes"
    """,
    "no way to the host's loopback": """
        assert fails(socket.create_connection, ("127.0.0.1", PORT), 1), "connected"
    """,
    "no way to the host's abstract sockets": """
        assert fails(socket.socket(socket.AF_UNIX).connect, ABSTRACT), "connected"
    """,
    "no way to the host's sockets with a path": """
        assert fails(socket.socket(socket.AF_UNIX).connect, SOCKET), "connected"
    """,
    "no other kinds of networks": """
        for family in (socket.AF_VSOCK, socket.AF_PACKET, socket.AF_ALG):
            assert fails(socket.socket, family, socket.SOCK_DGRAM), family
    """,
    "nothing outside can be read": """
        for path in SECRETS:
            assert not os.path.lexists(path), path
        python = sys.prefix, sys.base_prefix
        def leads_to_python(path):
            if path in python or not os.path.exists(path):
                return True
            if not any(prefix.startswith(f"{path}/") for prefix in python):
                return False
            return all(leads_to_python(f"{path}/{name}") for name in os.listdir(path))
        for path in ("/home", "/var", "/run", "/mnt", "/media", "/boot", "/sys"):
            assert leads_to_python(path), path
        for name in os.listdir("/tmp"):
            assert leads_to_python(f"/tmp/{name}"), name
        assert os.listdir("/dev/shm") == []
        assert sorted(os.listdir("/etc")) <= ["ld.so.cache", "localtime"], os.listdir("/etc")
    """,
    "no solutions, references or grader": """
        import autograder
        folder = os.path.dirname(autograder.__file__)
        assert folder == "/course/autograder", folder
        there = sorted(os.listdir(folder))
        assert there == ["__init__.py", "asking", "errors.py", "utils"], there
        assert os.listdir("/grader") == [], os.listdir("/grader")
        assert sorted(os.listdir("/course")) == ["autograder", "utils"], os.listdir("/course")
    """,
    "a short environment": """
        text = repr(os.environ) + open("/proc/self/environ").read()
        assert SECRET[:16] not in text and len(os.environ) < 30, text
        assert fails(lambda: open("/proc/1/environ").read())
    """,
    "no files left open": """
        opened = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        found = [path for path in opened if os.path.isfile(path) or os.path.isdir(path)]
        assert not found, list(map(os.readlink, found))
    """,
    "nothing but scratch can be written": """
        import autograder, autograder.utils
        python = [sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)]
        own = [*autograder.__path__, *autograder.utils.__path__, "/course/utils"]
        course = ["/course", "/grader", *own]
        for place in ("/", "/dev", "/dev/pts", "/proc/sys", "/usr", "/etc", *python, *course):
            path = f"{place}/.probe"
            if not fails(os.mkdir, path):
                os.rmdir(path)
                raise AssertionError(place)
    """,
    "every other mount is read only": """
        free = {"/proc", "/scratch", "/tmp", "/dev/shm"}
        for line in open("/proc/self/mountinfo"):
            place, options = line.split()[4:6]
            if os.path.exists(place) and place not in free:  # else something is mounted over it
                assert os.statvfs(place).f_flag & os.ST_RDONLY, line
        assert os.statvfs("/").f_flag & os.ST_NOSUID
    """,
    "devices keep their permissions": """
        for name in ("null", "zero", "full", "random", "urandom", "tty", "pts"):
            mode = stat.S_IMODE(os.stat(f"/dev/{name}").st_mode)
            assert fails(os.chmod, f"/dev/{name}", mode), name
        assert not [n for n in os.listdir("/dev") if stat.S_ISBLK(os.lstat(f"/dev/{n}").st_mode)]
    """,
    "settings of the machine can't be written": """
        for name in ("sys/kernel/hostname", "sys/user/max_user_namespaces", "sysrq-trigger"):
            assert fails(lambda: os.close(os.open(f"/proc/{name}", os.O_WRONLY))), name
    """,
    "no capabilities": """
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0, (name, status[name])
        assert int(status["NoNewPrivs"]) == 1 and int(status["Seccomp"]) == 2
    """,
    "no new namespaces": """
        for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000):
            pid = os.fork()
            if pid == 0:
                os._exit(fails(call, "unshare", flag))
            assert os.waitpid(pid, 0)[1] == 1 << 8, hex(flag)
    """,
    "process 1 is closed": """
        for name in ("mem", "environ", "maps", "fd/0"):
            assert fails(lambda: os.close(os.open(f"/proc/1/{name}", os.O_RDONLY))), name
        os.kill(1, signal.SIGKILL)  # the kernel drops it
        assert fails(call, "ptrace", 16, 1, 0, 0)
    """,
    "no memory without an owner, no keyrings": """
        assert fails(os.memfd_create, "probe")
        assert fails(call, "shmget", 0, 4096, 0o1600)
        number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
        assert fails(call, "syscall", number, 0, -4, 0)
    """,
    "no kernel memory without an owner": """
        import mmap
        assert fails(call, "inotify_init1", 0)
        assert fails(call, "mq_open", b"/probe", os.O_CREAT | os.O_RDWR, 0o600, None)
        assert fails(mmap.mmap, -1, 4096)
        with open("/dev/zero", "rb") as zero:
            assert zero.read(2) == bytes(2) and fails(mmap.mmap, zero.fileno(), 4096)
    """,
    "open devices keep their permissions": """
        for number in range(256):
            with contextlib.suppress(OSError):
                mode = os.fstat(number).st_mode
                if stat.S_ISCHR(mode):
                    assert fails(os.fchmod, number, stat.S_IMODE(mode)), number
    """,
    "limits are set": """
        limit = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in
                 ("AS", "NOFILE", "FSIZE", "CORE", "CPU", "NPROC", "SIGPENDING")}
        assert all(hard - soft == (name == "CPU") for name, (soft, hard) in limit.items()), limit
        most = {"AS": 1 << 33, "NOFILE": 1024, "CORE": 0, "FSIZE": SCRATCH, "CPU": 300}
        most["SIGPENDING"] = 1000
        assert all(0 <= limit[name][0] <= value for name, value in most.items()), limit
        space = {os.stat(p).st_dev: os.statvfs(p) for p in ("/scratch", "/tmp", "/dev/shm")}
        [scratch] = space.values()
        assert scratch.f_blocks * scratch.f_frsize <= SCRATCH and scratch.f_files < 50_000
    """,
}

# What one submission tries to leave behind, and how the next one looks for it.
LEAVE = """
    for place in ("/tmp", "/dev/shm", "/scratch", "/scratch/home"):
        open(f"{place}/left", "w").close()
    import torch, json
    torch.left = json.left = True
    os.environ["LEFT"] = "left"
    os.umask(0o777)
    left = socket.socket(socket.AF_UNIX)
    left.bind("\\0left")
    if os.fork() == 0:
        os.setsid()
        time.sleep(7200)
        os._exit(0)
"""
LEFT = {
    "no files are left": """
        assert os.umask(0o022) == 0o022
        for place in ("/tmp", "/dev/shm", "/scratch", "/scratch/home"):
            assert "left" not in os.listdir(place), place
    """,
    "no patches are left": """
        import torch, json
        assert not hasattr(torch, "left") and not hasattr(json, "left") and "LEFT" not in os.environ
    """,
    "no sockets are left": """
        assert fails(socket.socket(socket.AF_UNIX).connect, "\\0left")
    """,
    "no processes are left": """
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
        assert len(pids) == 2, pids
    """,
}
NAMES = [*PROBES, *LEFT]


def broken_walls() -> list[str]:
    """Return the walls that do not hold here, with the reasons; empty if all hold."""
    return [f"{name}: {said}" for name, said in look().items() if said]


def look() -> dict[str, str]:
    """Return what each wall's probe said; "" if the wall holds."""
    with _surroundings() as facts, contextlib.closing(_sandbox()) as sandbox:
        seen = _run(sandbox, PROBES, facts)
        _run(sandbox, {"leave": LEAVE}, facts)
        seen |= _run(sandbox, LEFT, facts)
        reached = facts["reached"]
    if reached:
        seen["no way to the host's loopback"] = f"listeners were reached: {reached}"
    return seen


def _sandbox() -> Sandbox:
    return Sandbox(["torch", "autograder"], LIMITS)


def _run(sandbox: Sandbox, probes: dict[str, str], facts: dict[str, Any]) -> dict[str, str]:
    known = "\n".join(f"{name} = {value!r}" for name, value in facts.items())
    sources = [TOOLS + known, *(f"if True:{code}" for code in probes.values())]
    run = sandbox.run([Cell(source, SECONDS) for source in sources])
    cells = [*run.cells[1:], *[None] * (len(sources) - len(run.cells))]
    return {
        name: _said(cell) if cell else f"it did not run: {run.stopped}"
        for name, cell in zip(probes, cells, strict=True)
    }


def _said(cell: CellRun) -> str:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    return "; ".join(f"{error.ename}: {error.evalue}" for error in errors)


@contextmanager
def _surroundings() -> Iterator[dict[str, Any]]:
    """Create things that nobody inside should see, and listeners that record who connects."""
    secret, reached = secrets.token_hex(16), []
    os.environ["PROBE_CANARY"] = secret
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        Path(folder, "gradebook.db").write_text(secret, encoding="utf-8")
        path = os.path.relpath(f"{folder}/socket")
        addresses = {
            "PORT": (socket.AF_INET, ("127.0.0.1", 0)),
            "ABSTRACT": (socket.AF_UNIX, f"\0{secret}"),
            "SOCKET": (socket.AF_UNIX, path),
        }
        facts = {name: _listen(stack, *where, reached) for name, where in addresses.items()}
        places = [folder, *map(str, _private())]
        yield facts | {
            "SOCKET": f"{folder}/socket",
            "SECRET": secret,
            "SECRETS": places,
            "HOST_PID": os.getpid(),
            "SCRATCH": LIMITS.scratch_bytes,
            "reached": reached,
        }
    del os.environ["PROBE_CANARY"]


def _private() -> list[Path]:
    """List what is in the course but not meant for learners, and what is in the user's home."""
    inner = [path for path in (ROOT / "autograder").glob("[!_]*") if path.name not in MOUNTED]
    folders = [folder for folder in (ROOT, HOME) if folder.is_dir() and folder != Path("/")]
    around = [path for folder in folders for path in folder.iterdir()]
    return [*inner, *filter(_is_hidden, around)]


def _is_hidden(path: Path) -> bool:
    """Whether a path should not exist inside, not even as a parent of Python."""
    seen = sys.prefix, sys.base_prefix, "/course/autograder"
    return not any(Path(place).is_relative_to(path) for place in seen)


def _listen(stack: contextlib.ExitStack, family: int, address: Any, reached: list[str]) -> Any:
    listener = stack.enter_context(socket.socket(family))
    listener.bind(address)
    listener.listen()
    threading.Thread(target=_accept, args=(listener, reached), daemon=True).start()
    name = listener.getsockname()
    return name[1] if family == socket.AF_INET else name


def _accept(listener: socket.socket, reached: list[str]) -> None:
    with contextlib.suppress(OSError):
        while True:
            listener.accept()
            reached.append(str(listener.getsockname()))
