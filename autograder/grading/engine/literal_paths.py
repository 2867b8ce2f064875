"""nbgrader looks for files by patterns, in which it takes the course directory for one too.

A folder called "course [2]" is then one called "course 2".
"""

import glob
import os
from types import SimpleNamespace

from nbgrader import utils
from nbgrader.apps import api
from nbgrader.converters import base


def find(pattern: str) -> list[str]:
    """`glob.glob`, but brackets in the name of what there is are no pattern."""
    parts = pattern.split(os.sep)
    for count in range(len(parts), 0, -1):
        place = os.sep.join(parts[:count])
        if not {"*", "?"} & set(place) and os.path.exists(place):
            return glob.glob(os.sep.join([glob.escape(place), *parts[count:]]))
    return glob.glob(pattern)


def install() -> None:
    """Make nbgrader find files so."""
    base.glob = api.glob = utils.glob = SimpleNamespace(glob=find)
