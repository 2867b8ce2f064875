"""The helpers that lessons share. Here they are in `utils/`, beside this package; in a wheel, here.

A wheel with a package named `utils` would get in the way of everyone else's.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "utils")]
