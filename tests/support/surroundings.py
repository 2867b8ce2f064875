"""Give tests the same environment on every machine, whoever runs them and from wherever."""

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest
import torch

from autograder.lessons.lesson import ROOT
from tests.support.programs import NO_SKIPS

# How many threads a process computes with. Small tensors are fastest with one.
THREADS = os.environ.get("THREADS", "1")
# Variables kept from the caller: where things are, and options for the tests themselves.
KEPT = {"PATH", "TMPDIR", "USER", "LOGNAME", "CI", NO_SKIPS, "THREADS", "ATEN_CPU_CAPABILITY"}
KEPT_FAMILIES = ("PYTEST_", "LD_", "MKL_", "ONEDNN_")
GIVEN = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": THREADS,
    "CUDA_VISIBLE_DEVICES": "",
    "COURSE_SECRET": "",  # none: hidden cases come from the secret that ships
    "PROGRESS_FILE": "",  # none: `progress()` shows only what its own notebook did
    "PIP_CONFIG_FILE": os.devnull,
}


def settle(config: pytest.Config) -> None:
    """Give this process, and everything it starts, a clean environment.

    A new home directory removes all of the user's settings for Jupyter, IPython and others.
    Windows needs most of its variables, so it keeps them.
    """
    os.chdir(ROOT)
    torch.set_num_threads(int(THREADS))
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


def _is_kept(name: str) -> bool:
    return name in KEPT or name.startswith(KEPT_FAMILIES)
