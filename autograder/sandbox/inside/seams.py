"""Everything that the sandbox patches in the libraries that run notebooks, and why.

Nearly all is for speed: a launch costs a second, and the work avoided here is much of what a cell
would otherwise take. `check` makes sure that the libraries still match.
"""

import errno
import inspect
import os
import sys
import tempfile
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.ultratb import FormattedTB
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from inside.expect import expect, expect_set

OPTIONS = Config(
    HistoryManager={"enabled": False},
    IPKernelApp={
        "log_level": "CRITICAL",
        "logging_config": {"loggers": {"Kernel": {"level": "CRITICAL"}}},
        "outstream_class": "inside.seams.Stream",
    },
    IPythonKernel={"_execute_sleep": 0},  # no delay: the client waits for the last output
)
# How system calls fail that the sandbox refuses, and a note for errors like that.
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EAFNOSUPPORT)
NOTE = (
    "This notebook was graded in a sandbox, which refuses what only other programs need: "
    "networks, mounts, tracing, shared memory without a file, and the like."
)
CELLS = os.path.join(tempfile.gettempdir(), "ipykernel_")  # the start of cells' file names

_getmodule = inspect.getmodule


def check() -> None:
    """Raise ChangedLibrary if a library lacks what is patched below or overridden elsewhere."""
    expect_set(OutStream, "_buffers")
    expect(OutStream, "flush", "self")
    expect(IPKernelApp, "parse_command_line", "self", "argv")
    expect(IPythonKernel, "_execute_sleep")
    expect(NotebookClient, "process_message", "self", "msg", "cell", "cell_index")
    for name in ("cache_ports", "connection_file", "ip", "provisioner", "transport"):
        expect(AsyncKernelManager, name)
    expect(InteractiveShell, "set_custom_exc", "self", "exc_tuple", "handler")
    expect(inspect, "getmodule", "object", "_filename")


class Stream(OutStream):
    """A kernel's output, flushed four times per cell but usually empty."""

    def flush(self) -> None:
        if self._buffers:
            super().flush()


class Kernel(IPKernelApp):
    """A kernel without a command line: parsing even an empty one is slow."""

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        pass


def code_cell(source: str) -> NotebookNode:
    """Make a cell as nbformat does, but without validation, which is much of a cell's cost."""
    fields = {"cell_type": "code", "id": "", "source": source}
    return NotebookNode(fields, metadata=NotebookNode(), outputs=[], execution_count=None)


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


def have_no_debugger() -> None:
    """Keep kernels from setting up a debugger, which nobody can attach here."""
    sys.modules["debugpy"] = None


def hasten_tracebacks() -> None:
    """Prepare for tracebacks, in this process and its forks.

    The first one looks up every module's file and compiles the code coloring. A submission with one
    mistake may show twenty tracebacks.
    """
    inspect.getmodule = _module_of
    try:
        raise NotImplementedError
    except NotImplementedError:
        FormattedTB("Context", theme_name="linux").structured_traceback(*sys.exc_info())


def _module_of(object: Any, _filename: str | None = None) -> ModuleType | None:
    """Skip `inspect.getmodule` for the code of cells, which belongs to no module.

    It would search all modules, many times for each traceback.
    """
    code = isinstance(object, CodeType | FrameType | TracebackType)
    if code and (_filename or inspect.getfile(object)).startswith(CELLS):
        return None
    return _getmodule(object, _filename)
