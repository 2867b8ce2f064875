"""Tracebacks at a lower price. A submission with one mistake may show twenty of them."""

import inspect
import os
import sys
import tempfile
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from IPython.core.ultratb import FormattedTB

CELLS = os.path.join(tempfile.gettempdir(), "ipykernel_")  # how the file names of cells begin

_search = inspect.getmodule


def prepare() -> None:
    """Have ready what tracebacks take, for this process and its forks."""
    inspect.getmodule = _getmodule
    _fail_once()


def _getmodule(object: Any, _filename: str | None = None) -> ModuleType | None:
    """`inspect.getmodule`, which goes through all modules, many times for each traceback.

    For the code of a cell it finds none, which is known before.
    """
    code = isinstance(object, CodeType | FrameType | TracebackType)
    if code and (_filename or inspect.getfile(object)).startswith(CELLS):
        return None
    return _search(object, _filename)


def _fail_once() -> None:
    """The first traceback reads every module's place and compiles what colours code."""
    try:
        raise NotImplementedError
    except NotImplementedError:
        FormattedTB("Context", theme_name="linux").structured_traceback(*sys.exc_info())
