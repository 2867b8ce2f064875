"""Lesson 8: the patients are what they are said to be, and the course's tests find it."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from autograder.asking.collect import collect
from autograder.judging.judge import judge
from autograder.lessons.lesson import Lesson
from autograder.references.store import find
from autograder.utils.models import (
    BLIND_SPOT,
    DROPOUT,
    HEALTHY,
    LEAK,
    MIXING,
    PATIENTS,
    SOUND,
    WRONG_SCALE,
    WRONG_SUM,
    Patient,
    admit,
    rotate_pairs,
)
from autograder.utils.plots.scoreboard import outcomes
from tests.course.forty_patients import FORTY_PATIENTS

SIZES = [(16, 4, 2), (24, 6, 3), (30, 6, 2)]  # d_model, n_heads, n_kv_heads
SOUND_ONES = [name for name, patient in PATIENTS.items() if not patient.diseases]
ILL_ONES = [name for name, patient in PATIENTS.items() if patient.diseases]


@pytest.fixture(scope="module")
def lesson_8():
    return Lesson("08_debugging_clinic").namespace()


@pytest.fixture(scope="module")
def tests(lesson_8):
    return {
        LEAK: lesson_8["find_leak"],
        BLIND_SPOT: lesson_8["find_blind_spot"],
        MIXING: lesson_8["find_mixing"],
        WRONG_SUM: lesson_8["find_wrong_sum"],
        WRONG_SCALE: lesson_8["find_scale"],
    }


def test_there_are_sixteen_ill_ones_and_four_that_only_look_ill():
    assert len(ILL_ONES) == 16 and len(SOUND_ONES) == 4
    assert all(PATIENTS[name].link for name in ILL_ONES)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", SOUND_ONES)
def test_sound_ones_compute_what_the_healthy_one_does(name, sizes):
    x = torch.randn(2, 12, sizes[0])
    sound, healthy = PATIENTS[name].make(*sizes), HEALTHY.make(*sizes)
    torch.testing.assert_close(sound(x), healthy(x), rtol=0, atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ILL_ONES)
def test_ill_ones_compute_something_else(name, sizes):
    x = torch.randn(2, 12, sizes[0])
    ill, healthy = PATIENTS[name].make(*sizes), HEALTHY.make(*sizes)
    assert (ill(x) - healthy(x)).abs().max() > 0.01


@pytest.mark.anywhere
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("disease", [LEAK, BLIND_SPOT, MIXING, WRONG_SUM, WRONG_SCALE])
def test_a_test_finds_exactly_the_patients_that_count(tests, disease, seed):
    for name, patient in PATIENTS.items():
        for sizes in SIZES:
            if patient.counts_for(disease):
                found = tests[disease](patient.make(*sizes, seed=seed))
                assert found == (disease in patient.diseases), name


def test_a_test_leaves_the_patient_as_it_was(tests):
    patient = HEALTHY.make()
    before = {name: value.clone() for name, value in patient.state_dict().items()}
    for test in tests.values():
        test(patient)
    assert all(torch.equal(value, before[name]) for name, value in patient.state_dict().items())


@pytest.mark.parametrize("sizes", SIZES)
def test_a_diagnosis_names_the_only_disease(lesson_8, sizes):
    for name, patient in PATIENTS.items():
        if len(patient.diseases) < 2:
            [said] = patient.diseases or [SOUND]
            assert lesson_8["diagnose"](patient.make(*sizes)) == said, name


@pytest.fixture(params=FORTY_PATIENTS)
def stranger(request):
    """Build one of the forty, and tell its diagnosis."""
    made, diagnosis = FORTY_PATIENTS[request.param]

    def build(sizes, seed):
        torch.manual_seed(seed)
        return made(*sizes).eval().requires_grad_(False)

    return build, diagnosis


@pytest.mark.parametrize("sizes", SIZES[:2])
@pytest.mark.parametrize("seed", range(2))
def test_a_stranger_is_diagnosed(lesson_8, stranger, sizes, seed):
    build, diagnosis = stranger
    assert lesson_8["diagnose"](build(sizes, seed)) == diagnosis


def test_each_test_is_right_about_a_stranger(tests, stranger):
    build, diagnosis = stranger
    patient = Patient(() if diagnosis == SOUND else (diagnosis,), "")
    asked = {disease: test for disease, test in tests.items() if patient.counts_for(disease)}
    said = {disease: bool(test(build(SIZES[1], 3))) for disease, test in asked.items()}
    assert said == {disease: disease == diagnosis for disease in asked}


@pytest.mark.parametrize(
    "words, scale, said",
    [(1, 0.0, "doesn't tell the two modules apart"), (3, 1.0, "has 3 words; 1 would do")],
)
def test_a_wrong_input_gets_its_explanation(words, scale, said):
    def always_the_same(healthy, ill):
        x = torch.arange(float(words * healthy.query.in_features)).sin()
        return scale * x.view(1, words, -1)

    reference = find("smallest_input")
    answers = collect(always_the_same, reference.questions["smallest_input"])
    assert said in judge(reference.keys["smallest_input"], answers).sentence


def test_random_outputs_look_like_other_diseases(tests):
    patient = next(p for p in PATIENTS.values() if DROPOUT in p.diseases)
    assert not any(patient.counts_for(disease) for disease in tests)
    assert tests[LEAK](patient.make())


def test_an_edit_that_no_longer_fits_is_an_error():
    with pytest.raises(ValueError, match="occurs 0 times"):
        Patient((), "", edits={"not there": ""}).make()


def never(attention):
    return False


def unwritten(attention):
    raise NotImplementedError()


def test_outcomes_of_a_test_that_finds_nothing():
    found = outcomes(never, LEAK)
    assert found["A"] == "missed" and found["B"] == "quiet"
    assert found["H"] == found["M"] == ""
    assert outcomes(lambda attention: True, LEAK)["B"] == "false alarm"


def test_a_test_that_isnt_written_yet_is_left_out():
    assert outcomes(unwritten, LEAK) == {}


@pytest.mark.parametrize(
    ("edits", "diagnosis"), [({}, SOUND), ({"/ self.d_head**0.5": ""}, WRONG_SCALE)]
)
@pytest.mark.parametrize("sizes", [(64, 4, 4), (24, 6, 1)])
def test_a_module_that_a_learner_brings_is_admitted(lesson_8, edits, diagnosis, sizes):
    """In train mode, with gradients and biases, in float64, of other sizes."""
    module = replace(HEALTHY, edits=edits).make(*sizes).train().double().requires_grad_()
    for name in ("query", "key", "value", "output"):
        getattr(module, name).bias = nn.Parameter(torch.randn(getattr(module, name).out_features))
    del module.d_head, module.n_kv_heads
    admitted = admit(module)
    assert lesson_8["diagnose"](admitted) == diagnosis
    assert module.training and module.query.bias.any()  # the learner's own stays as it is


def test_what_is_no_attention_is_not_admitted():
    with pytest.raises(ValueError, match=r"no nn\.Linear called `query`"):
        admit(nn.Linear(2, 2))
    module = HEALTHY.make()
    del module.n_heads
    with pytest.raises(ValueError, match="no attribute `n_heads`"):
        admit(module)


@pytest.mark.parametrize(
    ("n", "dtype", "same"),
    [
        (1000, torch.float32, True),
        (257, torch.bfloat16, True),
        (258, torch.bfloat16, False),
    ],
)
def test_patient_u_is_ill_in_bfloat16_after_257_words(lesson_8, n, dtype, same):
    place, words = torch.arange(n), torch.randn(64).to(dtype).expand(n, 64)
    healthy, ill = lesson_8["turn"](words, place), lesson_8["patient_u"](words, place)
    assert torch.equal(healthy, ill) == same
    torch.testing.assert_close(
        healthy.float(), rotate_pairs(words.float(), place), atol=0.02, rtol=0
    )
