"""The system call filters: what they decide, and what that means for code in the sandbox."""

import errno
import os
import re
import signal
import socket
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from autograder.sandbox import seccomp
from autograder.sandbox.allowed_calls import CLERK, LEARNER
from autograder.sandbox.inside import namespaces
from autograder.sandbox.sandbox import Cell, Sandbox
from autograder.sandbox.system_calls import numbers
from tests.sandbox import honest

MACHINES = list(seccomp.MACHINES)
POLICIES = {"learner": LEARNER, "clerk": CLERK}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
# Names that the generic header has only for 32-bit machines, or as variants of others.
OTHERS = re.compile(r".*(time64|gettime64|settime64|getres_time64|adjtime64|sync_file_range2)$")
X32 = 0x40000000
PR_SET_NAME, TIOCSTI, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ = 15, 0x5412, 1024, 1026, 1031
THREAD = 0x10000 | 0x100 | 0x800  # CLONE_THREAD, CLONE_VM, CLONE_SIGHAND
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
ALLOWED = 0

LEARNERS = [
    ("read", (), ALLOWED),
    ("execve", (), ALLOWED),
    ("clone", (THREAD,), ALLOWED),
    ("clone", (signal.SIGCHLD,), ALLOWED),
    *(("clone", (signal.SIGCHLD | kind,), errno.EPERM) for kind in NAMESPACES),
    ("clone3", (), errno.ENOSYS),
    ("fcntl", (0, 3), ALLOWED),
    *(("fcntl", (0, what), errno.EPERM) for what in (F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ)),
    ("ioctl", (0, 0x5401), ALLOWED),
    ("ioctl", (0, TIOCSTI), errno.ENOTTY),
    ("mmap", (0, 4096, 3, 0x22), ALLOWED),
    ("mmap", (0, 4096, 3, 0x01), ALLOWED),
    ("mmap", (0, 4096, 3, 0x21), errno.EPERM),
    ("mmap", (0, 4096, 3, 0x4023), errno.EPERM),
    ("mknodat", (0, 0, 0o100644), ALLOWED),
    ("mknodat", (0, 0, 0o010644), ALLOWED),
    ("mknodat", (0, 0, 0o020644), errno.EPERM),
    ("mknodat", (0, 0, 0o060644), errno.EPERM),
    ("personality", (0xFFFFFFFF,), ALLOWED),
    ("personality", (0x0040000,), errno.EPERM),
    ("prctl", (PR_SET_NAME,), ALLOWED),
    ("prctl", (22,), errno.EINVAL),
    ("sched_setscheduler", (0, 0), ALLOWED),
    ("sched_setscheduler", (0, 1), errno.EPERM),
    ("setsockopt", (0, 1, 2), ALLOWED),
    ("setsockopt", (0, 6, 7), ALLOWED),
    ("setsockopt", (0, 1, 7), errno.EPERM),
    ("socket", (1, 1, 0), ALLOWED),
    ("socket", (2, 1, 6), ALLOWED),
    ("socket", (10, 2, 17), ALLOWED),
    ("socket", (16, 3, 0), ALLOWED),
    ("socket", (16, 3, 12), errno.EAFNOSUPPORT),  # netlink's netfilter
    ("socket", (2, 1, 132), errno.EAFNOSUPPORT),  # SCTP
    *(("socket", (family, 2, 0), errno.EAFNOSUPPORT) for family in (0, 17, 29, 38, 40, 44)),
    *(
        (name, (), errno.EPERM)
        for name in ("mount", "unshare", "setns", "ptrace", "chroot", "bpf", "process_vm_readv")
    ),
    *(
        (name, (), errno.ENOSYS)
        for name in ("keyctl", "memfd_create", "inotify_init1", "io_setup", "io_uring_setup")
    ),
    *((name, (), errno.ENOSYS) for name in ("flock", "fanotify_init", "userfaultfd", "shmget")),
    ("setxattr", (), errno.EOPNOTSUPP),
]
CLERKS = [
    *((name, (), ALLOWED) for name in ("read", "write", "sendmsg", "futex", "statx", "exit_group")),
    ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC), ALLOWED),
    *(
        ("openat", (0, 0, flags), errno.EPERM)
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, 0o20200000)
    ),
    ("openat2", (), errno.ENOSYS),
    ("clone", (THREAD,), ALLOWED),
    ("clone", (signal.SIGCHLD,), errno.EPERM),
    ("clone", (THREAD | 0x20000,), errno.EPERM),
    *(
        (name, (), errno.EPERM)
        for name in ("execve", "kill", "tgkill", "connect", "unlinkat", "renameat2", "ptrace")
    ),
    ("socket", (1, 1, 0), errno.EPERM),
]


def decide(policy, machine, name, arguments=(), machine_called=None):
    """Return the errno of a call, 0 if it is allowed, found by running the filter as Linux does."""
    number = numbers(machine)[name] if isinstance(name, str) else name
    facts = {seccomp.NUMBER: number, seccomp.MACHINE: machine_called or seccomp.MACHINES[machine]}
    facts |= {seccomp.ARGUMENTS + 8 * place: value for place, value in enumerate(arguments)}
    place, loaded = 0, 0
    lines = seccomp.instructions(policy, machine)
    holds = {
        seccomp.EQUAL: lambda value: loaded == value,
        seccomp.AT_LEAST: lambda value: loaded >= value,
        seccomp.ANY_BIT: lambda value: loaded & value != 0,
    }
    while True:
        what, if_so, if_not, value = lines[place]
        place += 1
        if what == seccomp.RETURN:
            return 0 if value == seccomp.ALLOW else value - seccomp.FAIL
        if what == seccomp.LOAD:
            loaded = facts.get(value, 0)
        else:
            place += if_so if holds[what](value) else if_not


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "error"), LEARNERS)
def test_what_a_learner_may_do(machine, name, arguments, error):
    assert decide(LEARNER, machine, name, arguments) == error


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "error"), CLERKS)
def test_what_a_clerk_may_do(machine, name, arguments, error):
    assert decide(CLERK, machine, name, arguments) == error


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_call_is_decided_as_the_policy_says(policy, machine):
    for name in set(numbers(machine)) - set(policy.depending):
        expected = 0 if name in policy.allowed else policy.errors.get(name, errno.ENOSYS)
        assert decide(policy, machine, name) == expected, name


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_other_numbers_and_other_machines_are_refused(policy, machine):
    known = set(numbers(machine).values())
    for number in {*range(600), X32, X32 | 1, X32 | 39, 0xFFFFFFFF} - known:
        assert decide(policy, machine, number) == errno.ENOSYS, number
    assert decide(policy, machine, "read", machine_called=0x40000003) == errno.ENOSYS  # 32 bits


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_filter_fits_the_kernel(policy, machine):
    assert len(seccomp.program(policy, machine)) == 8 * len(seccomp.instructions(policy, machine))
    assert len(seccomp.instructions(policy, machine)) < 4096


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_name_is_one_of_linux(policy):
    known = {name for machine in MACHINES for name in numbers(machine)}
    assert {*policy.allowed, *policy.depending, *policy.errors} <= known
    assert not policy.allowed & {*policy.depending, *policy.errors}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine):
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed (Debian: linux-libc-dev)")
    text = HEADERS[machine].read_text(encoding="utf-8").partition("#undef __NR_syscalls")[0]
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.MULTILINE)
    known = {name: int(number) for name, number in found if not OTHERS.match(name)}
    for special in ("arch_specific_syscall", "syscalls"):
        known.pop(special, None)
    if "fstatat" in known:
        known["newfstatat"] = known.pop("fstatat")
    assert len(known) > 290
    assert {name: number for name, number in numbers(machine).items() if name in known} == known


@pytest.mark.parametrize("machine", MACHINES)
def test_no_number_has_two_names(machine):
    found = sorted(numbers(machine).values())
    assert all(one < other for one, other in pairwise(found))


needs_linux = pytest.mark.skipif(
    sys.platform != "linux" or not seccomp.is_known(), reason="filters are for Linux"
)


def in_a_clerk(work):
    """Run `work` in a fork with the clerk's filter; return its exit status."""
    program = seccomp.program(CLERK)
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            namespaces.drop_privileges()
            namespaces.load_filter(program)
            status = work() or 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@needs_linux
def test_a_clerk_reads_computes_and_answers():
    ours, theirs = socket.socketpair()

    def work():
        import json
        import threading
        import wave  # noqa: F401 - reads files that nothing has read yet

        import torch

        thread = threading.Thread(target=os.listdir, args=("/",))
        thread.start()
        thread.join()
        total = torch.ones(300, 300).matmul(torch.ones(300, 300)).sum().item()
        theirs.sendall(json.dumps([total, len(Path(__file__).read_text("utf-8")) > 0]).encode())

    with ours, theirs:
        assert in_a_clerk(work) == 0
        assert ours.recv(100) == b"[27000000.0, true]"


CHANGES = {
    "create": lambda folder: os.open(f"{folder}/new", os.O_CREAT | os.O_WRONLY),
    "write": lambda folder: os.open(f"{folder}/old", os.O_RDWR),
    "remove": lambda folder: os.remove(f"{folder}/old"),
    "rename": lambda folder: os.rename(f"{folder}/old", f"{folder}/new"),
    "make a folder": lambda folder: os.mkdir(f"{folder}/new"),
    "change permissions": lambda folder: os.chmod(f"{folder}/old", 0),
    "change permissions of what is open": lambda folder: os.fchmod(0, 0o600),
    "change its priority": lambda folder: os.setpriority(os.PRIO_PROCESS, 0, 5),
    "fork": lambda folder: os.fork(),
    "run a program": lambda folder: os.execv("/bin/true", ["true"]),
    "send a signal": lambda folder: os.kill(os.getppid(), 0),
    "make a socket": lambda folder: socket.socket(),
    "make sockets": lambda folder: socket.socketpair(),
}


@needs_linux
@pytest.mark.parametrize("change", CHANGES)
def test_a_clerk_changes_nothing(tmp_path, change):
    (tmp_path / "old").write_text("old", encoding="utf-8")

    def work():
        try:
            CHANGES[change](tmp_path)
        except PermissionError:
            return 7

    assert in_a_clerk(work) == 7
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.fixture(scope="module")
def run(sandbox):
    """Runs cells in a sandbox; returns what each printed, and its errors with their tracebacks."""
    with closing(Sandbox(["torch", "keras", "matplotlib.pyplot"])) as place:
        yield lambda *sources: list(_run(place, sources))


def _run(place, sources):
    done = place.run([Cell(source, 30.0) for source in sources])
    assert not done.stopped, done.stopped
    for cell in done.cells:
        streams = [o for o in cell.outputs if o.output_type == "stream" and o.name == "stdout"]
        errors = [o for o in cell.outputs if o.output_type == "error"]
        yield "".join(o.text for o in streams), errors


@pytest.mark.long
def test_honest_programs_work(run):
    results = run(*honest.cells())
    for (name, (_, said)), (printed, errors) in zip(honest.PROGRAMS.items(), results, strict=True):
        assert not errors, (name, errors)
        assert printed.strip().endswith(said), (name, printed)


REFUSED = {
    "a family of sockets": ("import socket; socket.socket(socket.AF_PACKET)", "[Errno 97]"),
    "shared memory without a file": ("import mmap; mmap.mmap(-1, 4096)", "[Errno 1]"),
    "memory of no process": ("import os; os.memfd_create('x')", "[Errno 38]"),
    "a lease": ("import fcntl; fcntl.fcntl(open('x', 'w'), fcntl.F_SETLEASE, 1)", "[Errno 1]"),
    "another root": ("import os; os.chroot('/tmp')", "[Errno 1]"),
    "a device": ("import os; os.mknod('disk', 0o60600)", "[Errno 1]"),
    "another user": ("import os; os.setuid(12345)", "[Errno 1]"),
}


def test_a_refused_call_says_where_it_was_refused(run):
    sources = [source for source, _ in REFUSED.values()]
    results = run(*sources, "open('/no/such/file')")
    for (name, (_, number)), (_, [error]) in zip(REFUSED.items(), results, strict=False):
        assert number in error.evalue, name
        assert "graded in a sandbox" in error.traceback[-1], name
    _, [missing] = results[-1]
    assert missing.ename == "FileNotFoundError"
    assert "sandbox" not in "\n".join(missing.traceback)


def test_open_devices_can_not_be_changed(run):
    look = """
        import os, stat
        for number in range(256):
            try: mode = os.fstat(number).st_mode
            except OSError: continue
            if stat.S_ISCHR(mode):
                try: print(os.fchmod(number, stat.S_IMODE(mode)))
                except OSError as error: print(error.errno)
    """
    [(printed, _)] = run(dedent(look))
    assert set(printed.split()) == {str(errno.EROFS)}
