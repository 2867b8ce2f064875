"""Mutants: which ones are made, how they are counted, and what a check must not let pass."""

import dataclasses

import pytest

from autograder.authoring import commands
from autograder.authoring.mutants import survey as surveys_of
from autograder.authoring.mutants.around import mutants_around
from autograder.authoring.mutants.of_python import python_mutants
from autograder.authoring.mutants.of_tensors import (
    einsum_mutants,
    in_place_mutants,
    name_mutants,
    pattern_mutants,
)
from autograder.authoring.mutants.survey import (
    Survey,
    print_surveys,
    require_clear_words,
    require_soundness,
    survey,
    survey_lesson,
)
from autograder.authoring.mutants.trial import TriedMutant, mutants_of, try_mutants
from autograder.building.hidden import grading_reference
from autograder.building.reference import ExerciseBuilder
from autograder.errors import AuthoringError
from autograder.judging.verdict import AspectResult, Verdict
from autograder.lessons.lesson import Lesson
from autograder.references.store import PUBLIC, load

LESSON = Lesson("01_dot_product_attention")
ALL = slice(None)


@pytest.fixture(scope="module")
def reference():
    return grading_reference(LESSON.name, "mutants")


def cell(body):
    return f"def f(query: A | B, key):\n    ### BEGIN SOLUTION\n    {body}\n    ### END SOLUTION\n"


def changes(make, body):
    return {mutant.change for mutant in make(cell(body))}


def named(name):
    return next(exercise for exercise in LESSON.exercises if exercise.name == name)


@pytest.mark.parametrize(
    ("make", "body", "change"),
    [
        (python_mutants, "return query / key", "query / key → query * key"),
        (python_mutants, "return query - key", "query - key → key - query"),
        (python_mutants, "return query - key", "query - key → key"),
        (python_mutants, "return query < key", "query < key → query <= key"),
        (python_mutants, "return query ** 0.5", "0.5 → -0.5"),
        (python_mutants, "return query.sum(-1, keepdim=True)", "True → False"),
        (python_mutants, "return query.sum(2)", "2 → 3"),
        (python_mutants, "return f(query, key)", "f(query, key) → f(key, query)"),
        (python_mutants, "return g(query.exp())", "query.exp() → query"),
        (python_mutants, "return query, key", "(query, key) → (key, query)"),
        (python_mutants, "return query[1:]", "1: → :"),
        (python_mutants, "query = key", "query = key → pass"),
        (python_mutants, "return query and key", "query and key → query or key"),
        (pattern_mutants, "return query @ key", "$A.detach() @ $B"),
        (pattern_mutants, "return torch.softmax(x, dim=-1)", "torch.softmax($X, dim=0)"),
        (einsum_mutants, 'return einsum("id,jd->ij")', "id,jd->ij → id,jd->ji"),
        (name_mutants, "return query @ query.T", "query → key in query @ query.T"),
        (in_place_mutants, "return query - 1", "query - 1 → query.sub_(1)"),
        (in_place_mutants, "return key.exp()", "key.exp() → key.exp_()"),
    ],
)
def test_the_rules_make_their_mutants(make, body, change):
    assert change in changes(make, body)


@pytest.mark.parametrize(
    "body", ['raise ValueError("no")', 'x = f"{query + 1}"', "return zip(query, strict=True)"]
)
def test_messages_annotations_and_strict_are_left_alone(body):
    rules = {mutant.rule for mutant in python_mutants(cell(body))}
    assert rules <= {"statement dropped", "argument dropped", "call dropped"}


def test_around_a_function_of_floats_there_are_faults_of_all_kinds(reference):
    question, key = reference.questions["softmax"], reference.keys["softmax"]
    dims = {"scores": "*batch n"}
    rules = {m.rule for m in mutants_around(LESSON.solutions["softmax"], question, key, dims)}
    assert {
        "result squeezed",
        "result detached",
        "result rounded to 4 digits",
        "seed changed",
        "gradients left off",
        "inputs require gradients",
        "without gradients",
        "right at one size only",
        "size of the first call kept",
    } <= rules


def test_faults_at_certain_sizes_go_through_all_dimensions(reference):
    question, key = reference.questions["context_vector"], reference.keys["context_vector"]
    dims = {"attn_weights": "n", "words": "n d"}
    source = LESSON.solutions["context_vector"]
    faults = [(m.rule, m.change) for m in mutants_around(source, question, key, dims)]
    assert ("wrong at equal sizes", "n = d") in faults
    assert {change for rule, change in faults if rule == "wrong at one size alone"} == {"n", "d"}


def test_only_tensor_results_are_spoiled_as_tensors():
    lesson = Lesson("10_tiny_language_model")
    reference = load(PUBLIC / f"{lesson.name}.safetensors")
    for name in ("sample", "without_head"):
        around = reference.questions[name], reference.keys[name]
        rules = {mutant.rule for mutant in mutants_around(lesson.solutions[name], *around, {})}
        assert "seed changed" in rules and not any(rule.startswith("result") for rule in rules)


def test_mutants_differ_in_code_and_label(reference):
    question, key = reference.questions["softmax"], reference.keys["softmax"]
    mutants = mutants_of(LESSON, named("softmax"), question, key)
    assert len({m.label for m in mutants}) == len({m.source for m in mutants}) == len(mutants)


@pytest.mark.anywhere
def test_no_mutant_of_the_first_exercise_survives():
    surveyed = next(survey_lesson(LESSON, load(PUBLIC / f"{LESSON.name}.safetensors")))
    require_soundness([surveyed])
    recorded = surveys_of.recorded()[LESSON.name]["exercises"]
    assert surveyed.counts() == recorded[surveyed.exercise]


def test_no_mutant_of_any_lesson_survived(lesson):
    """Trying them all takes minutes, so it is up to the author."""
    found = surveys_of.recorded()[lesson.name]
    assert found["source"] == surveys_of.surveyed_source(lesson), (
        f"run `make build LESSON={lesson.name}`"
    )
    shown = found["exercises"]
    assert list(shown) == [*lesson.asked]
    assert not any(counts["survivors"] for counts in shown.values())


def test_a_record_is_stale_once_anything_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(surveys_of, "RECORD", tmp_path / "record.json")
    assert surveys_of.recorded() == {}
    surveys_of.record(LESSON, [Survey("softmax", named=2)])
    surveys_of.record(Lesson("04_masks"), [])
    found = surveys_of.recorded()[LESSON.name]
    assert found["source"] == surveys_of.surveyed_source(LESSON)
    assert found["exercises"]["softmax"]["named"] == 2
    monkeypatch.setattr(surveys_of, "source_digest", lambda *sources: "another")
    assert found["source"] != surveys_of.surveyed_source(LESSON)


def test_a_stale_reference_is_not_tried(monkeypatch):
    stale = dataclasses.replace(load(PUBLIC / f"{LESSON.name}.safetensors"), source="another")
    monkeypatch.setattr(commands, "load", lambda path: stale)
    monkeypatch.setattr(commands, "_try_mutants", lambda *tried: pytest.fail("they were tried"))
    with pytest.raises(AuthoringError, match=f"make draft LESSON={LESSON.name}$"):
        commands.mutants(LESSON)


def test_a_check_with_a_hole_is_refused():
    softmax = named("softmax")
    aspects = [aspect for aspect in softmax.aspects if not aspect.gradients]
    exercise = dataclasses.replace(softmax, also=(), mistakes=[], aspects=aspects)
    question, key = ExerciseBuilder(LESSON, exercise).build()
    found = survey("softmax", {}, try_mutants(LESSON, exercise, question, key, ALL))
    assert "result detached: value.detach()" in found.survivors
    with pytest.raises(AuthoringError, match=r"(?s)softmax lets mutants pass.*result detached"):
        require_soundness([found])


def verdict(passed=False, mistake="", recognized=True):
    aspects = [AspectResult("values", 1, passed)]
    return Verdict("f", "l", aspects, "?", mistake=mistake, recognized=recognized)


def test_a_survey_counts_and_excuses(capsys):
    trials = [
        TriedMutant("a: 1", verdict(mistake="x")),
        TriedMutant("b: 1", verdict()),
        TriedMutant("c: 1", verdict(recognized=False)),
        TriedMutant("d: 1", verdict(passed=True)),
        TriedMutant("e: 1", verdict(passed=True)),
    ]
    [found] = print_surveys("lesson", [survey("f", {"d:": "why", "z:": "why"}, trials)])
    assert (found.named, found.told, len(found.generic)) == (1, 1, 1)
    assert (found.excused, found.survivors, found.idle) == (["d: 1"], ["e: 1"], ["z:"])
    assert "survives: e: 1" in capsys.readouterr().out


def test_idle_excuses_and_silent_checks_are_refused():
    with pytest.raises(AuthoringError, match=r"f excuses mutants .*: z"):
        require_soundness([Survey("f", idle=["z"])])
    with pytest.raises(AuthoringError, match="5 of 10 rejected mutants hear only"):
        require_clear_words([Survey("f", told=5, generic=["?"] * 5)])
