"""What all tests of grading share."""

from collections.abc import Iterator
from functools import cache

import pytest
from nbgrader import api


@pytest.fixture(scope="session", autouse=True)
def known_schema() -> Iterator[None]:
    """Ask for nbgrader's newest schema once: for each new gradebook, it would start a program."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
        yield
