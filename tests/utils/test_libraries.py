"""Keras computes with torch, and costs nothing until requested."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

CODE = """
import sys, torch
from autograder.utils.libraries import load_keras
assert "keras" not in sys.modules
torch.backends.mps.is_available = lambda: True  # as on a Mac
keras = load_keras()
print(keras.backend.backend(), torch.ones(2) + keras.ops.ones(2))
"""


@pytest.mark.parametrize(
    "settings", [{}, {"KERAS_BACKEND": "tensorflow", "KERAS_TORCH_DEVICE": "cuda"}], ids=str
)
def test_keras_runs_on_torch_on_the_cpu_whatever_the_readers_settings(settings):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERAS_")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=kept | settings, capture_output=True, encoding="utf-8"
    )
    assert done.stdout == "torch tensor([2., 2.])\n", done.stderr
