"""Which of many like tests `make test` runs, and which wait for `make long`."""

from collections.abc import Iterable
from typing import Any

import pytest


def marks(number: int, step: int) -> Any:
    """Return the marks of test `number`, where `make test` runs every `step`-th."""
    return pytest.mark.long if number % step else ()


def every(step: int, names: Iterable[Any]) -> list[Any]:
    """Return parameters of which `make test` tries every `step`-th, beginning with the first."""
    return [pytest.param(one, marks=marks(number, step)) for number, one in enumerate(names)]
