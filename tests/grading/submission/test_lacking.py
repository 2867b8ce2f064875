"""What only the grader's machine lacks is left out, and nothing else."""

import pytest
from nbformat.v4 import new_output

from autograder.grading.submission.lacking import lacked_modules, without_module


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("from google.colab import drive\nimport torch", "(None)\nimport torch"),
        (
            "import torch\nfrom google.colab import drive\ndrive.mount('/x')",
            "import torch\n(None)\n(None)",
        ),
        ("from google.colab import (\n    drive,\n)\nx = 1", "(None\n\n)\nx = 1"),
        ("import google.colab as c\nc.drive.mount()\ny = c", "(None)\n(None)\ny = c"),
        ("import google", None),
        ("import googlemaps, torch", None),
        ("import google.colab, torch, a.b as c", "(None); import torch, a.b as c"),
        ("import torch; from google.colab import drive", "import torch; (None)"),
        ("é = 'é'; import google.colab; x = 1", "é = 'é'; (None); x = 1"),
        ("from google.colab import (\n    drive); x = 1", "(None\n); x = 1"),
        ("s = '\u2028'\nimport google.colab\nx = 1", "s = '\u2028'\n(None)\nx = 1"),
        ("import (", None),
        ("if here:\n    import google.colab", "if here:\n    (None)"),
        ("if here: import google.colab as c; c.mount()", "if here: (None); (None)"),
        (
            "match x:\n    case 1:\n        import google.colab",
            "match x:\n    case 1:\n        (None)",
        ),
        ("try:\n    import google.colab\nexcept ImportError:\n    pass", None),
        ("try:\n    import google.colab\nexcept:\n    pass", None),
        (
            "try:\n    import google.colab\nexcept KeyError:\n    pass",
            "try:\n    (None)\nexcept KeyError:\n    pass",
        ),
        (
            "try:\n import google.colab\nexcept ImportError:\n !pip\n import google.colab",
            "try:\n import google.colab\nexcept ImportError:\n !pip\n (None)",
        ),
        ("def f(c):\n    import google.colab as c\n    c.mount()", None),
        ("%%time\n%matplotlib inline\nimport google.colab", "%%time\n%matplotlib inline\n(None)"),
        ("%%bash\nimport google.colab fi", None),
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
