"""No right answer loses anything to the draw of the hidden cases.

Five draws find what is often refused; `make bench BENCH=draws` takes more, for what seldom is.
"""

import pytest

from autograder.building.hidden import grading_reference
from tests.bench.draws import SLOW, judgments_of, lost_by

DRAWS = 5


@pytest.mark.long
def test_no_alternative_loses_anything(lesson, one_thread):
    references = [grading_reference(lesson.name, f"draw {number}") for number in range(DRAWS)]
    lost = {
        (exercise.name, variant.name): aspects
        for exercise in lesson.exercises
        if exercise.name != SLOW
        for variant in exercise.alternatives
        for judgment in judgments_of(lesson, exercise, variant, references)
        if (aspects := lost_by(judgment))
    }
    assert lost == {}
