"""Each platform, set up once for all tests."""

import pytest

from tests.support.classroom import LESSON
from tests.support.platforms import PLACES, Place


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    return {
        name: set_up(tmp_path_factory.mktemp(name), LESSON.name) for name, set_up in PLACES.items()
    }


@pytest.fixture(params=[*PLACES])
def place(request: pytest.FixtureRequest, places: dict[str, Place]) -> Place:
    return places[request.param]
