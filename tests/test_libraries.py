"""Keras computes with torch, and costs nothing until it is asked for."""

import os
import subprocess
import sys

CODE = """
import sys, torch
from utils.libraries import load_keras
assert "keras" not in sys.modules
keras = load_keras()
print(keras.backend.backend(), isinstance(keras.ops.ones(2), torch.Tensor))
"""


def run(**environment):
    kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=kept | environment, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip() or done.stderr


def test_keras_runs_on_torch():
    assert run() == "torch True"


def test_whatever_the_reader_has_set():
    assert run(KERAS_BACKEND="tensorflow") == "torch True"
