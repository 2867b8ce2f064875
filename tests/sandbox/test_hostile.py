"""Hostile submissions earn points only for honest answers, and harm nobody.

Every fourteenth of each kind is tried here, half of those by `make long`, and all of them by
`make bench BENCH=hostile`.
"""

import nbformat
import pytest

from tests.sandbox.hostile import ATTACKS, KINDS
from tests.sandbox.hostile.attack import POINTS
from tests.sandbox.hostile.stage import Stage, points_of
from tests.sandbox.probes import HOME, broken_walls
from tests.support.sharing import every

SHARE = [attack for kind in KINDS.values() for attack in kind[::14]]


@pytest.fixture(scope="session")
def walls_hold(sandbox):
    """Run nothing hostile where a harmless probe gets through."""
    if broken := broken_walls():
        pytest.fail(f"not run, for the walls do not hold: {broken}")


@pytest.fixture(scope="module")
def stage(walls_hold, tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("course"), HOME)
    yield stage
    stage.close()


def test_names_are_unique():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 200


def test_an_honest_submission_gets_full_marks(stage):
    graded = stage.honest()
    assert graded.outcome == "graded"
    assert points_of(nbformat.reads(graded.notebook, as_version=4)) == POINTS


@pytest.fixture(scope="module")
def open_files(stage):
    """The number of open files once the first submission has been graded."""
    stage.honest()
    return stage.open_files()


@pytest.mark.usefixtures("open_files")
@pytest.mark.parametrize("attack", every(2, SHARE), ids=lambda attack: attack.name)
def test_it_is_held(stage, attack):
    happened = stage.perform(attack)
    assert not happened.wrong, "\n".join([attack.tries, *happened.wrong])


def test_nothing_piles_up(stage, open_files):
    assert stage.open_files() <= open_files + 10
