"""What only the grader's machine lacks is left out, and nothing else."""

import pytest
from nbformat.v4 import new_output

from autograder.grading.submission.lacking import lacked_modules, without_module


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("from google.colab import drive\nimport torch", "pass\nimport torch"),
        (
            "import torch\nfrom google.colab import drive\ndrive.mount('/x')",
            "import torch\npass\npass",
        ),
        ("from google.colab import (\n    drive,\n)\nx = 1", "pass\n\n\nx = 1"),
        ("import google.colab as c\nc.drive.mount()\ny = c", "pass\npass\ny = c"),
        ("import google", "pass"),
        ("import googlemaps, torch", "import googlemaps, torch"),
        (
            "import torch; from google.colab import drive",
            "import torch; from google.colab import drive",
        ),
        ("import (", "import ("),
        ("try:\n    import google.colab\nexcept ImportError:\n    pass", None),
    ],
)
def test_what_needs_the_module_is_left_out(source, left):
    assert without_module(source, "google.colab") == (source if left is None else left)


def test_only_the_error_names_a_module():
    missing = new_output(
        "error", ename="ModuleNotFoundError", evalue="No module named 'google.colab'"
    )
    other = new_output("error", ename="NameError", evalue="No module named 'x'")
    printed = new_output("stream", text="No module named 'y'")
    assert [*lacked_modules([printed, missing, other])] == ["google.colab"]
