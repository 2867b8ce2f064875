"""Everything that the sandbox patches in the libraries that run notebooks, and why.

`check` makes sure that the libraries still match.
"""

import errno
import inspect
import os
import tempfile
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from ipykernel.iostream import IOPubThread
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from traitlets.config import Config

from inside.expect import expect

OPTIONS = Config(
    HistoryManager={"enabled": False},
    IPKernelApp={
        "log_level": "CRITICAL",
        "logging_config": {"loggers": {"Kernel": {"level": "CRITICAL"}}},
    },
)
# How the system calls that the sandbox refuses fail, and a note for such errors.
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)
NOTE = (
    "This notebook was graded in a sandbox, which refuses what only other programs need: "
    "networks, mounts, tracing, shared memory without a file, and the like."
)
CELLS = os.path.join(tempfile.gettempdir(), "ipykernel_")  # the start of cells' file names

_getmodule = inspect.getmodule


def check() -> None:
    """Raise ChangedLibrary if a library lacks what is patched here or overridden elsewhere."""
    expect(NotebookClient, "process_message", "self", "msg", "cell", "cell_index")
    for name in ("cache_ports", "connection_file", "ip", "provisioner", "transport"):
        expect(AsyncKernelManager, name)
    expect(InteractiveShell, "set_custom_exc", "self", "exc_tuple", "handler")
    expect(inspect, "getmodule", "object", "_filename")
    expect(IOPubThread, "_setup_pipe_in", "self")


def explain_refusals(shell: InteractiveShell) -> None:
    """Add a note to the errors of a cell that come from a refused system call."""
    shell.set_custom_exc((OSError,), _show_error)


def _show_error(
    shell: InteractiveShell,
    kind: type[OSError],
    error: OSError,
    place: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    if error.errno in REFUSED and NOTE not in getattr(error, "__notes__", ()):
        error.add_note(NOTE)
    shell.showtraceback((kind, error, place), tb_offset=tb_offset, running_compiled_code=True)


def do_without_tcp() -> None:
    """Leave out the way over TCP on which forks send what they print: nothing gets through there.

    ZeroMQ ends the kernel where there are no such sockets at all.
    """
    IOPubThread._setup_pipe_in = _no_pipe  # type: ignore[method-assign]


def _no_pipe(thread: IOPubThread) -> None:
    thread._pipe_flag = False


def hasten_tracebacks() -> None:
    """Speed up tracebacks in cells: a submission with one mistake may show twenty of them."""
    inspect.getmodule = _module_of


def _module_of(object: Any, _filename: str | None = None) -> ModuleType | None:
    """Skip `inspect.getmodule` for the code of cells, which belongs to no module.

    It would search all modules, many times for each traceback.
    """
    code = isinstance(object, CodeType | FrameType | TracebackType)
    if code and (_filename or inspect.getfile(object)).startswith(CELLS):
        return None
    return _getmodule(object, _filename)
