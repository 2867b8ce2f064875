"""`make bench`: measure what should be fast or good. It prints numbers and judges nothing.

Runs the `report` of every other module here, or of those named.
"""

import importlib
import sys
from pathlib import Path

import torch


def main() -> None:
    torch.set_num_threads(1)
    every = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    for name in sys.argv[1:] or every:
        print(f"\n{name}")
        importlib.import_module(f"tests.bench.{name}").report()


if __name__ == "__main__":
    main()
