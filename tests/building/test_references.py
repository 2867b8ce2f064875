"""The stored references are up to date, and reject and name every known mistake."""

import dataclasses
from collections import Counter

import pytest

from autograder.authoring.table import outcomes, print_table
from autograder.building import drawing, reference, sources
from autograder.building.reference import ExerciseBuilder, build
from autograder.building.sources import needed_files, source_digest
from autograder.lessons import lesson as lessons
from autograder.lessons.lesson import Lesson
from autograder.lessons.variants import Mistake
from autograder.places import ROOT
from autograder.references.store import (
    PUBLIC,
    LessonReference,
    entries_by_lesson,
    load,
    predictions_by_lesson,
    titles,
)
from tests.support.freshness import differences

REMEDY = "it is stale: run `make build LESSON={}`"
EVERY = 8  # only every eighth known mistake is made again: all of them take ten minutes


def stored(lesson):
    return load(PUBLIC / f"{lesson.name}.safetensors")


def test_the_reference_is_fresh(lesson):
    """Nothing that it was built from has changed since."""
    assert stored(lesson).source == source_digest(lesson), REMEDY.format(lesson.name)


def test_the_index_is_that_of_the_content(lesson):
    reference = stored(lesson)
    assert titles()[lesson.name] == reference.title == lesson.title
    assert entries_by_lesson()[lesson.name] == reference.entries()
    assert [*reference.entries()] == [*lesson.asked]
    assert predictions_by_lesson()[lesson.name] == [*reference.predictions]


@pytest.mark.anywhere
def test_the_reference_comes_out_the_same(lesson, one_thread, monkeypatch):
    of_exercise = Lesson.mistakes
    monkeypatch.setattr(Lesson, "mistakes", lambda *given: of_exercise(*given)[::EVERY])
    whole = stored(lesson)
    keys = {
        name: dataclasses.replace(key, mistakes=key.mistakes[::EVERY])
        for name, key in whole.keys.items()
    }
    assert list(differences(build(lesson), dataclasses.replace(whole, keys=keys))) == []


@pytest.mark.anywhere
def test_the_table_of_mistakes(one_thread):
    """The audit of a build asks the same of every lesson, so one is enough here."""
    rows = outcomes(LESSON, build(LESSON))
    assert [row for row in rows if not row.good] == []


def test_the_table_shows_what_a_rule_would_say_about_a_mistake(softmax, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "400")
    print_table(LESSON.name, outcomes(LESSON, softmax))
    said = "All your weights together sum to 1. Each row needs its own sum: give `sum` the"
    ruled = "│ `weights` needs one more step: divide each row by its sum."
    assert [line for line in capsys.readouterr().out.splitlines() if said in line and ruled in line]


def test_few_mistakes_share_a_sentence(lesson):
    """Nearly all have a sentence of their own; the audit makes sure that they get it."""
    own = total = 0
    for exercise in lesson.asked.values():
        known = lesson.mistakes(exercise)
        said = Counter(mistake.say for mistake in known)
        own += sum(len(mistake.variants) for mistake in known if said[mistake.say] == 1)
        total += sum(len(mistake.variants) for mistake in known)
    assert own >= 0.9 * total


# ---------------------------------------------------------------- stale references are detected

LESSON = Lesson("01_dot_product_attention")
SOFTMAX = next(exercise for exercise in LESSON.exercises if exercise.name == "softmax")


def of_one_exercise(exercise=SOFTMAX):
    question, key = ExerciseBuilder(LESSON, exercise).build()
    source = source_digest(LESSON)
    return LessonReference(
        LESSON.name, LESSON.title, source, {"softmax": question}, {"softmax": key}, {}
    )


@pytest.fixture(scope="module")
def softmax():
    return of_one_exercise()


def test_two_builds_do_not_differ(softmax):
    assert list(differences(of_one_exercise(), softmax)) == []


def test_another_seed_is_noticed(softmax, monkeypatch):
    for module in (reference, drawing):
        monkeypatch.setattr(module, "SHOWN_SEED", "another")
    found = list(differences(of_one_exercise(), softmax))
    assert any("arguments" in line for line in found)
    assert any("case 0 of softmax" in line for line in found)


def test_another_edit_of_a_mistake_is_noticed(softmax):
    first, *others = SOFTMAX.mistakes
    edited = Mistake(first.name, first.say, "return scores.exp() * 1.01")
    found = list(
        differences(
            of_one_exercise(dataclasses.replace(SOFTMAX, mistakes=[edited, *others])), softmax
        )
    )
    assert found and all(f"the mistake {first.name!r}" in line for line in found)


def test_another_solution_is_noticed(softmax):
    """Every expected number is compared, so that any one beyond its tolerance is noticed."""
    key = softmax.keys["softmax"]
    for number, case in enumerate(key.cases):
        for name, value in case.expected.items():
            if not value.is_floating_point():
                continue
            off = case.expected | {name: value + 2 * case.tolerance[name]}
            cases = [*key.cases]
            cases[number] = dataclasses.replace(case, expected=off)
            changed = {"softmax": dataclasses.replace(key, cases=cases)}
            found = list(differences(dataclasses.replace(softmax, keys=changed), softmax))
            assert found == [f"{name} of case {number} of softmax"]


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Copy the parts of the tree that the lesson's reference is built from."""
    files = needed_files([LESSON.text_path, sources.BUILDER], ROOT)
    for path in {*files, *needed_files(LESSON.exercises_path.glob("*.py"), ROOT)}:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    monkeypatch.setattr(sources, "BUILDER", tmp_path / sources.BUILDER.relative_to(ROOT))
    monkeypatch.setattr(lessons, "PACKAGE", tmp_path / "autograder")
    monkeypatch.setattr(lessons, "TEXTS", tmp_path / "solutions")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "autograder/exercises/01_dot_product_attention/softmax.py",
        "autograder/exercises/slips.py",
        "autograder/lessons/draw.py",
        "autograder/building/audit.py",
        "autograder/asking/codec.py",
        "autograder/judging/judge.py",
        "utils/data/examples.py",
        "utils/data/broken_runs.csv",
    ],
)
def test_an_edit_of_any_source_is_noticed(copied, name):
    before = source_digest(LESSON)
    path = copied / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert source_digest(LESSON) == before
    path.write_bytes(path.read_bytes() + b"# edited\n")
    assert source_digest(LESSON) != before


@pytest.mark.parametrize("name", ["utils/plots/bars.py", "utils/views/live.py"])
def test_an_edit_of_a_picture_makes_no_reference_stale(copied, name):
    before, path = source_digest(LESSON), copied / name
    path.write_bytes(path.read_bytes() + b"# edited\n")
    assert source_digest(LESSON) == before


def test_only_the_lessons_own_exercises_make_a_reference_stale(copied):
    before, exercises = source_digest(LESSON), copied / "autograder" / "exercises"
    other = exercises / "02_qkv_projections" / "project.py"
    other.parent.mkdir()
    other.write_text("EXERCISE = None\n")
    assert source_digest(LESSON) == before
    (exercises / LESSON.name / "another.py").write_text("EXERCISE = None\n")
    assert source_digest(LESSON) != before


def test_definitions_make_a_reference_stale_but_prose_and_figures_do_not(copied):
    text = copied / "solutions" / f"{LESSON.name}.py"
    before = source_digest(LESSON)
    prose = text.read_bytes().replace(b"# %% [markdown]\n", b"# %% [markdown]\n# More.\n")
    shown = prose + b"\n# %%\nplot_matrix(torch.eye(2), caption='Edited.')\n"
    for unlike in (prose, shown):
        text.write_bytes(unlike)
        assert source_digest(Lesson(LESSON.name)) == before
    text.write_bytes(shown + b"\n# %%\ndef edited():\n    return True\n")
    assert source_digest(Lesson(LESSON.name)) != before


# ---------------------------------------------------------------- what is read from annotations


def test_the_key_knows_the_dimensions_that_the_solution_names():
    dims = stored(Lesson("02_qkv_projections")).keys["scaled_dot_product_attention"].dims
    assert dims == {"context": "*batch n_query d_v", "attn_weights": "*batch n_query n_key"}
