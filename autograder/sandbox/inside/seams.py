"""All that the sandbox changes in the libraries it runs notebooks with, and for what.

A launch costs a second, and what follows is a good part of what a cell takes otherwise. `check`
makes sure that the libraries still are what this was written for.
"""

import inspect
import os
import sys
import tempfile
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

import zmq
from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
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
    IPythonKernel={"_execute_sleep": 0},  # its client waits for the last output, not for a while
)
CELLS = os.path.join(tempfile.gettempdir(), "ipykernel_")  # how the file names of cells begin

_getmodule = inspect.getmodule


def check() -> None:
    """Raise ChangedLibrary when a library lacks what is changed below, or overridden elsewhere."""
    expect_set(OutStream, "_buffers")
    expect(OutStream, "flush", "self")
    expect(IPKernelApp, "init_control", "self", "context")
    expect(IPKernelApp, "parse_command_line", "self", "argv")
    expect(IPKernelApp, "shell_channel_thread")
    expect(IPythonKernel, "_execute_sleep")
    expect(NotebookClient, "process_message", "self", "msg", "cell", "cell_index")
    for name in ("cache_ports", "connection_file", "ip", "provisioner", "transport"):
        expect(AsyncKernelManager, name)
    expect(inspect, "getmodule", "object", "_filename")


class Stream(OutStream):
    """A kernel's output. It is flushed four times a cell, and there is seldom anything."""

    def flush(self) -> None:
        if self._buffers:
            super().flush()


class Kernel(IPKernelApp):
    """A kernel for one client, without a command line: to parse an empty one takes a while."""

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        pass

    def init_control(self, context: zmq.Context) -> None:
        super().init_control(context)
        self.shell_channel_thread = None  # it would pass on messages for several clients


def code_cell(source: str) -> NotebookNode:
    """A cell as nbformat makes it, but not validated: a good part of a cell's cost."""
    fields = {"cell_type": "code", "id": "", "source": source}
    return NotebookNode(fields, metadata=NotebookNode(), outputs=[], execution_count=None)


def have_no_debugger() -> None:
    """Keep kernels from setting one up: nobody can attach it here."""
    sys.modules["debugpy"] = None


def hasten_tracebacks() -> None:
    """Have ready what tracebacks take, for this process and its forks.

    The first one reads every module's place and compiles what colors code. A submission with one
    mistake may show twenty of them.
    """
    inspect.getmodule = _module_of
    try:
        raise NotImplementedError
    except NotImplementedError:
        FormattedTB("Context", theme_name="linux").structured_traceback(*sys.exc_info())


def _module_of(object: Any, _filename: str | None = None) -> ModuleType | None:
    """`inspect.getmodule`, which goes through all modules, many times for each traceback.

    For the code of a cell it finds none, which is known before.
    """
    code = isinstance(object, CodeType | FrameType | TracebackType)
    if code and (_filename or inspect.getfile(object)).startswith(CELLS):
        return None
    return _getmodule(object, _filename)
