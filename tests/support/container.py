"""A container like Docker's: root with a few rights, and no way to make namespaces.

It has this system's programs and Python, a root of its own that can be written to, and, unlike most
containers, no network but a loopback that is up.
"""

import errno
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.sandbox import seccomp
from autograder.sandbox.allowed_calls import CLONE_AWAY
from autograder.sandbox.system_calls import numbers
from autograder.sandbox.walls import SYSTEM, python_files
from tests.support.programs import find

# What Docker leaves to root by default; see its documentation on runtime privileges.
RIGHTS = """
    AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID
    SETPCAP SETUID SYS_CHROOT
"""
REFUSED = frozenset(
    ("fsopen", "mount", "move_mount", "open_tree", "pivot_root", "setns", "umount2", "unshare")
)
FILTER = "9"  # the descriptor of the filter of system calls
NO_NAMESPACES = seccomp.Policy(
    allowed=frozenset(numbers(platform.machine())) - REFUSED - {"clone", "clone3"},
    depending={
        "clone": ((seccomp.Condition(0, (CLONE_AWAY & ~0xA000,), wanted=False, bits=True),),)
    },
    errors=dict.fromkeys((*REFUSED, "clone"), errno.EPERM),
)


def run_in_container(
    command: list[str], folders: Mapping[Path, Path]
) -> subprocess.CompletedProcess[str]:
    """Run a command as root in a container; skip the test where nobody can be root.

    folders: what is there besides the system's own, by its place inside.
    """
    bwrap = find("bwrap", "bubblewrap")
    arguments = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    arguments += ["--cap-drop", "ALL"]
    for right in RIGHTS.split():
        arguments += ["--cap-add", f"CAP_{right}"]
    for path in SYSTEM:
        link = os.path.islink(path)
        show = ["--symlink", os.readlink(path)] if link else ["--ro-bind-try", path]
        arguments += [*show, path]
    for path in python_files():
        arguments += [*_open_parents(path), "--ro-bind-try", path, path]
    for place, path in folders.items():
        arguments += [*_open_parents(place), "--bind", str(path), str(place)]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp", "--chmod", "1777", "/tmp"]
    arguments += ["--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin:/sbin:/bin"]
    arguments += ["--setenv", "HOME", "/root"]
    arguments += ["--seccomp", FILTER, "--chdir", "/", "--", *command]
    with tempfile.NamedTemporaryFile() as file:
        file.write(seccomp.program(NO_NAMESPACES))
        file.flush()
        opened = ["bash", "-c", f'exec "$@" {FILTER}<"$0"', file.name]  # sudo would close it
        return subprocess.run([*_as_root(), *opened, *arguments], capture_output=True, text=True)


def _open_parents(place: str | Path) -> list[str]:
    """Return the options that make the folders above a place, for everyone to pass through."""
    above = reversed([*Path(place).parents][:-1])
    return [word for folder in above for word in ("--perms", "0755", "--dir", str(folder))]


def _as_root() -> list[str]:
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    pytest.skip("only root can be somebody else in a container")
