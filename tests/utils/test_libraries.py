"""Keras computes with torch, and costs nothing until requested."""

import os
import subprocess
import sys

CODE = """
import sys, torch
from autograder.utils.libraries import load_keras
assert "keras" not in sys.modules
torch.backends.mps.is_available = lambda: True  # as on a Mac
keras = load_keras()
print(keras.backend.backend(), torch.ones(2) + keras.ops.ones(2))
"""


def run(**environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERAS_")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=kept | environment, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip() or done.stderr


def test_keras_runs_on_torch_on_the_cpu():
    assert run() == "torch tensor([2., 2.])"


def test_the_readers_settings_do_not_matter():
    settings = {"KERAS_BACKEND": "tensorflow", "KERAS_TORCH_DEVICE": "cuda"}
    assert run(**settings) == "torch tensor([2., 2.])"
