"""Independent witnesses for the references: plain loops, or a library's own functions."""

import importlib
import pkgutil


def all_witnesses():
    """Collect the witnesses for all lessons, by exercise."""
    witnesses = {}
    for module in pkgutil.iter_modules(__path__):
        witnesses |= importlib.import_module(f"{__name__}.{module.name}").WITNESSES
    return witnesses
