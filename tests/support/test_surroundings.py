"""The streams of a test remain pytest's."""

import importlib
import io
import logging.config
import sys


def test_keras_does_not_close_the_streams_of_pytest(monkeypatch):
    importlib.import_module("absl.logging")  # as Keras does
    of_pytest = sys.stdout, sys.stderr
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    logging.config.dictConfig({"version": 1})  # as nbgrader does
    assert not any(stream.closed for stream in of_pytest)
