"""Give tests the same environment on every machine, whoever runs them and from wherever."""

import os
import sys
import tempfile
import time
from pathlib import Path

import absl.logging
import pytest
import torch

from autograder.places import ROOT
from tests.support.programs import NO_SKIPS

# How many threads each process uses. Small tensors are fastest with one.
THREADS = os.environ.get("THREADS", "1")
# Variables kept from the caller: locations, and options for the tests themselves.
KEPT = {"PATH", "TMPDIR", "USER", "LOGNAME", "CI", NO_SKIPS, "THREADS", "ATEN_CPU_CAPABILITY"}
KEPT_FAMILIES = ("PYTEST_", "LD_", "MKL_", "ONEDNN_")
GIVEN = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": THREADS,
    "OMP_WAIT_POLICY": "passive",  # a waiting thread leaves its core to other tests
    "CUDA_VISIBLE_DEVICES": "",
    "COURSE_SECRET": "",  # empty: hidden cases come from the secret that ships
    "PROGRESS_FILE": "",  # empty: `progress()` shows only its own notebook's work
    "PIP_CONFIG_FILE": os.devnull,
}


def settle(config: pytest.Config) -> None:
    """Give this process, and everything it starts, a clean environment.

    A new home directory removes all of the user's settings for Jupyter, IPython and others.
    Windows needs most of its variables, so it keeps them.
    """
    os.chdir(ROOT)
    torch.set_num_threads(int(THREADS))
    _keep_absl_from_closing_streams()
    if os.name == "nt":
        os.environ.update(GIVEN)
        return
    home = tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    kept = {name: value for name, value in os.environ.items() if _is_kept(name)}
    # nbgrader, and the alembic that it calls, are next to this interpreter.
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    os.environ.clear()
    os.environ.update(kept | GIVEN | {"HOME": home.name, "PATH": path})
    time.tzset()
    os.umask(0o022)


def _keep_absl_from_closing_streams() -> None:
    """Make absl, which Keras imports, log to a stream that it never closes.

    When nbgrader sets up logging anew, absl closes the stream it logs to, unless that is one of the
    standard streams of the moment. pytest puts its own in their place, and would lose them.
    """
    absl.logging.get_absl_handler().python_handler.stream = sys.__stderr__


def _is_kept(name: str) -> bool:
    return name in KEPT or name.startswith(KEPT_FAMILIES)
