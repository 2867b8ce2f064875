"""Windows and macOS lack things that Linux has, and the code that runs there does without them.

Each test runs in a process that loses them after importing the libraries, which have separate code
for other systems.
"""

import os
import subprocess
import sys

import pytest

from autograder.places import ROOT

pytestmark = pytest.mark.long

POSIX_MODULES = ["fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"]
POSIX_NAMES = {
    "os": "O_NONBLOCK WNOHANG chown fork forkpty getegid geteuid getgid getloadavg getpgid getuid "
    "killpg mkfifo nice openpty pread pwrite register_at_fork sched_getaffinity setsid statvfs "
    "sysconf uname wait wait4",
    "select": "epoll poll",
    "signal": "ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGUSR1 SIG_BLOCK alarm getitimer pause "
    "pthread_kill pthread_sigmask setitimer sigwait",
    "socket": "AF_NETLINK AF_UNIX SCM_RIGHTS recv_fds send_fds",
    "time": "clock_gettime tzset",
}
LINUX_NAMES = {
    "os": "O_DIRECT O_PATH O_TMPFILE copy_file_range eventfd getrandom getxattr memfd_create "
    "pidfd_open pipe2 sched_getaffinity setns setresuid splice unshare",
    "resource": "prlimit",
    "select": "epoll",
    "signal": "SIGRTMIN pidfd_send_signal sigtimedwait sigwaitinfo",
    "socket": "AF_ALG AF_NETLINK AF_PACKET AF_VSOCK SO_PEERCRED",
}
LEARNER = """
import IPython.display, PIL.Image, jupytext, matplotlib.figure, pytest, tqdm
import safetensors.torch, torch.profiler, torch.utils.data

{lose}

from importlib import import_module
from pathlib import Path
from autograder.lessons.lesson import Lesson

learners = ("autograder", "autograder/asking", "autograder/judging", "autograder/references")
for path in (path for folder in learners for path in Path(folder).glob("*.py")):
    import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
for path in Path("utils").rglob("[!_]*.py"):
    if path.stem != "keras_on_torch":  # Keras looks for what there is
        import_module("autograder." + ".".join(path.with_suffix("").parts))

from autograder import check, hint, progress

lesson = Lesson("01_dot_product_attention")
namespace = lesson.namespace()
for name in lesson.solutions:
    hint(name)
    check(namespace[name])
progress()
import conftest
"""
AUTHOR = """
import distributed, nbgrader.apps, psutil, torch

{lose}

import autograder.authoring.commands, autograder.authoring.notebooks, autograder.authoring.table
import autograder.grading.engine.autograde, autograder.grading.report.write_reports
import autograder.building.hidden
import conftest
"""


def lose(names, modules=()):
    """Make code that removes names from modules, and whole modules."""
    lines = ["import importlib, sys"]
    lines += [f"sys.modules[{module!r}] = None" for module in modules]
    for module, listed in names.items():
        lines.append(f"module = importlib.import_module({module!r})")
        lines += [f"vars(module).pop({name!r}, None)" for name in listed.split()]
    return "\n".join(lines)


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_learners_half_runs_on_windows():
    # Windows reads files in its own encoding; a notebook's output is in UTF-8.
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    if not f"{ROOT}{sys.prefix}{sys.base_prefix}".isascii():
        locale = {}  # there, torch itself can't be imported from such a path
    said = run(
        LEARNER.format(lose=lose(POSIX_NAMES, POSIX_MODULES)), **locale, PYTHONIOENCODING="utf-8"
    )
    assert "1. Dot-product attention: 19 of 19 points" in said


def test_the_authors_half_is_there_on_macos():
    run(AUTHOR.format(lose=lose(LINUX_NAMES)))
