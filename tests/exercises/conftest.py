"""Answers that a check once judged wrongly are about numbers, so `make anywhere` tries them."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("long"):
            item.add_marker(pytest.mark.anywhere)
