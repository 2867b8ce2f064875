"""Walls around one submission, put up by the process that is about to run it.

Python's standard library lacks these calls, so they go through libc. See unshare(2), mount(2),
user_namespaces(7), capabilities(7).
"""

import ctypes
import os
import resource
import signal
import stat
import sys
from collections.abc import Iterable

CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, INSTRUCTION_BYTES = 22, 2, 8
CAPABILITY_VERSION = 0x20080522
CAPABILITIES = 64
MOST_FILES = 4096
NEW_ROOT = "/tmp"  # where `see_only` mounts it
# Parts of /proc that affect the whole machine and that its owner could write to.
MACHINE_WIDE = ("sys", "sysrq-trigger", "irq", "bus")
# Devices belong to the machine: they may be used, but root could also change their permissions.
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
# /dev/zero can be mapped as shared memory, which no process counts. /dev/full reads the same.
SHOWN_AS = {"zero": "full"}
TERMINALS = "max=64,ptmxmode=666,mode=620"  # the machine has 4096 in all

_libc = ctypes.CDLL(None, use_errno=True)


def enter(own_table: bool = True) -> None:
    """Give this process its own mounts and network, and its next child its own process table.

    The network reaches nothing, not even the machine itself. Raises OSError.

    own_table: whether the child gets its own process table.
    """
    uid, gid = os.getuid(), os.getgid()
    kinds = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | (CLONE_NEWPID if own_table else 0)
    _call("unshare", CLONE_NEWUSER | kinds)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def mount_own(scratch: str, scratch_bytes: int, covered: str) -> None:
    """Mount a /proc, terminals and a scratch folder of this process's own, and hide `covered`.

    Call it in the first process after `enter`. The scratch folder is also /tmp and /dev/shm.
    Raises OSError.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _write("/proc/sys/user/max_user_namespaces", "0")
    for path in filter(os.path.exists, (f"/proc/{name}" for name in MACHINE_WIDE)):
        _bind_read_only(path, path, MS_NOEXEC | MS_NODEV)
    for device in DEVICES:
        _bind_read_only(f"/dev/{SHOWN_AS.get(device, device)}", f"/dev/{device}", MS_NOEXEC)
    _mount("devpts", "/dev/pts", "devpts", MS_RDONLY | MS_NOSUID | MS_NOEXEC, TERMINALS)
    _mount("tmpfs", covered, "tmpfs", MS_RDONLY, "size=4k")
    size = f"size={scratch_bytes},nr_inodes=20000,mode=700"
    _mount("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, size)
    for name, place in (("tmp", "/tmp"), ("shm", "/dev/shm")):
        os.mkdir(f"{scratch}/{name}")
        _keep_python(f"{scratch}/{name}", place)
        _mount(f"{scratch}/{name}", place, None, MS_BIND | MS_REC)


def see_only(paths: Iterable[str]) -> None:
    """Leave this process, after `enter`, only the files below these paths.

    It can still open them for writing if its user may. Raises OSError.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    existing = filter(os.path.lexists, paths)
    found = {path: os.open(path, os.O_PATH | os.O_NOFOLLOW) for path in existing}
    _mount("tmpfs", NEW_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path, descriptor in found.items():
        _show(descriptor, NEW_ROOT + path)
        os.close(descriptor)
    os.chroot(NEW_ROOT)
    os.chdir("/")


def _show(descriptor: int, place: str) -> None:
    """Show an open path at another place, unless something is there already."""
    if os.path.lexists(place):
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISLNK(kind):
        os.symlink(os.readlink("", dir_fd=descriptor), place)
        return
    if stat.S_ISDIR(kind):
        os.mkdir(place)
    else:
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
    _mount(f"/proc/self/fd/{descriptor}", place, None, MS_BIND | MS_REC)


def _keep_python(folder: str, place: str) -> None:
    """Bind the Python environment into `folder` too, if `folder` is about to cover it at `place`.

    The folders leading to it can't be written or renamed either, so nobody can replace it.
    """
    prefixes = {sys.base_prefix, sys.prefix}
    kept = {p: p.removeprefix(place) for p in prefixes if p.startswith(f"{place}/")}
    tops = {f"{folder}/{path.split('/')[1]}" for path in kept.values()}
    for top in tops:
        os.mkdir(top)
        _mount("tmpfs", top, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755")
    for prefix, path in kept.items():
        os.makedirs(folder + path, exist_ok=True)
        _bind_read_only(prefix, folder + path, MS_NODEV)
    for top in tops:
        _mount("none", top, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def drop_privileges() -> None:
    """Give up every capability for good. Raises OSError."""
    for capability in range(CAPABILITIES):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for those that do not exist
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("capset", (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)())


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def load_filter(program: bytes) -> None:
    """Limit the system calls of this thread, and of all it starts, for good.

    program: from `seccomp.program`. Call it after `drop_privileges`, before there are other
    threads. Raises OSError.
    """
    form = _Filter(len(program) // INSTRUCTION_BYTES, program)
    _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(form), 0, 0)


def die_with_parent() -> None:
    _call("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def close_to_others() -> None:
    """Keep other processes of the same user out of this one's memory and descriptors."""
    _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def close_files(but: int = 2) -> None:
    """Close every file of this process except the standard streams and one more."""
    os.closerange(3, but)
    os.closerange(but + 1, MOST_FILES)


def keep_only(descriptor: int) -> None:
    """Close every file except this one, and send all output nowhere."""
    close_files(but=descriptor)
    open_standard_streams()


def open_standard_streams() -> None:
    """Open the standard streams anew, as /dev/null.

    Do it after `mount_own`: root could change the permissions of the machine's own /dev/null
    through a descriptor that is not on one of its read-only mounts.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    os.close(nowhere)


def address_space() -> int:
    """Return the bytes of address space that this process has."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limit(**limits: int) -> None:
    """Set resource limits by name, such as limit(NOFILE=256), never above the current ones.

    Processor time ends with SIGXCPU, and a second later with SIGKILL.
    """
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(which)
        most = value + (name == "CPU")
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (min(value, most), most))


def _bind_read_only(source: str, target: str, more: int) -> None:
    _mount(source, target, None, MS_BIND | MS_REC)
    _mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | more)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    _call("mount", *texts, flags, options.encode() or None)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _call(name: str, *arguments) -> None:
    if getattr(_libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
