"""The palette works for people who see fewer colors, and in print without any."""

from itertools import combinations, pairwise

import pytest
from colorspacious import cspace_convert, deltaE

from autograder.utils.palette import BLUE, GRAY, HIDDEN, ORANGE, RED, WEIGHT_STOPS, ink_on

# A difference of 10 is easy to see side by side, and one of 15 between marks that are far apart.
APART, NEXT = 15, 8
# The simulation's names, at full strength. None: all colors are seen.
DEFICIENCIES = [None, "deuteranomaly", "protanomaly", "tritanomaly"]


def seen(color, deficiency):
    """Return how a color such as "#31688e" looks to a person, as shares of red, green and blue."""
    shares = [part / 255 for part in bytes.fromhex(color[1:])]
    if deficiency is None:
        return shares
    space = {"name": "sRGB1+CVD", "cvd_type": deficiency, "severity": 100}
    return cspace_convert(shares, space, "sRGB1").clip(0, 1)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("pair", list(combinations([BLUE, ORANGE, RED, GRAY], 2)), ids="-".join)
def test_no_two_meanings_look_alike(pair, deficiency):
    assert deltaE(*(seen(color, deficiency) for color in pair)) > APART


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_more_weight_is_darker(deficiency):
    looks = [seen(stop, deficiency) for stop in WEIGHT_STOPS]
    lightness = [cspace_convert(look, "sRGB1", "CAM02-UCS")[0] for look in looks]
    assert all(lighter > darker + NEXT / 2 for lighter, darker in pairwise(lightness))
    assert all(deltaE(*two) > NEXT for two in pairwise(looks))


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_what_a_mask_hides_looks_like_no_weight(deficiency):
    hidden = seen(HIDDEN, deficiency)
    assert min(deltaE(hidden, seen(stop, deficiency)) for stop in WEIGHT_STOPS) > APART


def test_ink_is_readable():
    assert ink_on(1, 1, 1) == ink_on(0.9, 0.6, 0.3) == "#000000"
    assert ink_on(0, 0, 0) == ink_on(0.7, 0, 0.1) == "#ffffff"
