"""`check`, `hint` and `progress` as a learner sees them."""

import functools
import os
import shutil
import subprocess
import sys
import types

import pytest
import torch

from autograder import ask_for_review, check, failing_case, give_up, hint, predict, progress
from autograder.asking.codec import decode, encode
from autograder.errors import CheckFailed, CourseError, NotAnsweredYet
from autograder.notebook import records
from autograder.notebook.calls import _course_solutions, _verdicts
from autograder.notebook.course_solution import course_solution
from autograder.notebook.failing_case import describe
from autograder.notebook.records import VARIABLE
from autograder.references import store as course


@pytest.fixture(autouse=True)
def fresh_notebook():
    for kept in (_verdicts, _course_solutions, records._of_this_kernel):
        kept.clear()


def attention_scores(words):
    return words @ words.T


def context_vector(attn_weights, words):
    raise NotImplementedError()


def add_score(largest, total, score):
    raise NotImplementedError()


def test_a_right_answer(capsys):
    check(attention_scores)
    assert "✓ attention_scores: 3 of 3 points" in capsys.readouterr().out


def scores_of_words(words):
    return words @ words.T


class Scores:
    def __call__(self, words):
        return words @ words.T


@pytest.mark.parametrize(
    "answer",
    [
        lambda words: words @ words.T,
        Scores(),
        functools.partial(lambda one, words: one * words @ words.T, 1),
        scores_of_words,
    ],
)
def test_an_answer_is_known_by_the_name_it_has_in_the_notebook(answer, monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["__main__"], "attention_scores", answer, raising=False)
    check(answer)
    assert "✓ attention_scores: 3 of 3 points" in capsys.readouterr().out


def test_a_wrong_answer(capsys):
    def attention_scores(words):
        return words.T @ words

    with pytest.raises(CheckFailed) as failure:
        check(attention_scores)
    card = capsys.readouterr().out
    assert "✗ attention_scores: 0 of 3 points" in card
    assert "expected: attn_scores" in card and "yours: attn_scores" in card
    lines = failure.value._render_traceback_()
    assert lines == ["CheckFailed: attention_scores: 0 of 3 points. See the card above."]
    assert "Words are rows, so transpose the second matrix, not the first." in card


def test_an_unanswered_stub(capsys):
    with pytest.raises(NotAnsweredYet, match="context_vector: not answered yet"):
        check(context_vector)
    assert "✗" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("softmax", r"takes what you wrote, not its name: check\(softmax\)"),
        (torch.ones(2), "this is a Tensor"),
        (None, "this is None"),
        (lambda x: x, r"named '<lambda>'. There are:\n01_\w+: .*, softmax, .*\n02_"),
        (len, "There is no exercise named 'len'"),
    ],
)
def test_checking_something_that_is_no_exercise(answer, words):
    with pytest.raises(CourseError, match=words):
        check(answer)


def test_a_misspelled_exercise():
    def soft_max(scores):
        return scores

    with pytest.raises(CourseError, match=r"'soft_max'\. Did you mean 'softmax'"):
        check(soft_max)


def test_a_failing_case_can_be_looked_at(capsys):
    def attention_scores(words):
        return words.T @ words

    assert failing_case(attention_scores) is None
    assert "attention_scores: no failing case" in capsys.readouterr().out
    with pytest.raises(CheckFailed):
        check(attention_scores)
    case = failing_case(attention_scores)
    assert list(case) == ["words"] and case["words"].dim() == 2
    torch.testing.assert_close(case.expected, attention_scores(case["words"].T))
    torch.testing.assert_close(case.yours, attention_scores(**case))


def test_a_failing_case_says_how_to_try_it_again(monkeypatch):
    def attention_scores(words):
        return words.T @ words

    with pytest.raises(CheckFailed):
        check(attention_scores)
    text = repr(failing_case("attention_scores"))
    pasted = {"failing_case": failing_case, "attention_scores": attention_scores}
    exec(text, pasted)
    assert "# words: float32 (2, 2)" in text and "the example above" in text
    assert "attention_scores(**case)" in text and "case.expected, case.yours" in text


class Named:
    def __init__(self, said):
        self.said = said

    def __repr__(self):
        return self.said


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (torch.ones(2, 3), "float32 (2, 3)"),
        (torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), "Sequential(0, 1)"),
        (torch.nn.Linear(2, 3), "Linear(weight, bias)"),
        (Named("<Named object at 0x7f>"), "Named"),
        (Named("two\nlines"), "Named"),
        ([1.5, None], "[1.5, None]"),
        ("a" * 99, "'" + "a" * 59 + " …"),
    ],
)
def test_a_failing_case_describes_each_input_in_a_line(value, described):
    assert describe(value) == described


def test_a_failing_case_builds_a_module_as_the_check_did():
    class LinearSelfAttention(torch.nn.Module):
        def __init__(self, d_in, d_k, d_v):
            super().__init__()
            self.query = torch.nn.Linear(d_in, d_k, bias=False)
            self.key = torch.nn.Linear(d_in, d_k, bias=False)
            self.value = torch.nn.Linear(d_in, d_v, bias=False)

        def forward(self, words):
            return self.query(words), self.key(words)

    with pytest.raises(CheckFailed):
        check(LinearSelfAttention)
    case = failing_case("LinearSelfAttention")
    module = case.build(LinearSelfAttention)
    for name, value in module.named_parameters():
        assert torch.equal(value, case.parameters[name])
    pasted = {"failing_case": failing_case, "LinearSelfAttention": LinearSelfAttention}
    exec(repr(case), pasted)
    assert "module = case.build(LinearSelfAttention)" in repr(case) and "module" in pasted


def test_a_failing_second_call_comes_with_the_first():
    cache = {}

    def context_vector(attn_weights, words):
        context = attn_weights @ words
        return context if torch.is_grad_enabled() else cache.setdefault("last", context)

    with pytest.raises(CheckFailed):
        check(context_vector)
    case = failing_case("context_vector")
    cache.clear()
    names = {"failing_case": failing_case, "context_vector": context_vector}
    with torch.no_grad():
        exec(repr(case), names)
    assert "context_vector(**case.earlier)  # the first call" in repr(case)
    assert torch.equal(cache["last"], case.earlier["attn_weights"] @ case.earlier["words"])


@pytest.fixture
def notebook(monkeypatch):
    """Return the notebook's names, in which `give_up` defines functions."""
    module = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def see_every_hint(exercise):
    for _ in course.find(exercise).keys[exercise].hints:
        hint(exercise)


def test_asking_for_review_says_who_will_see_it(capsys):
    ask_for_review("softmax", "My rows add up to 1.")
    said = capsys.readouterr().out
    assert "○ softmax: you ask for another look" in said and "Your instructor sees this" in said


@pytest.mark.parametrize(
    ("exercise", "why", "said"),
    [("sofa", "x", "sofa"), ("softmax", "  ", "Say why"), ("softmax", ..., "Say why")],
)
def test_asking_for_review_needs_an_exercise_and_a_reason(exercise, why, said):
    with pytest.raises(CourseError, match=said):
        ask_for_review(exercise, why)


def test_giving_up_lends_the_solution_for_no_points(notebook, capsys):
    see_every_hint("softmax")
    give_up("softmax")
    scores = torch.randn(3, 4)
    torch.testing.assert_close(notebook.softmax(scores), scores.softmax(-1))
    capsys.readouterr()
    check(notebook.softmax)  # raises nothing, so that the notebook goes on
    assert "○ softmax: given up, 0 of 5 points" in capsys.readouterr().out
    progress()
    assert "○ softmax: 0 of 5 points, given up" in capsys.readouterr().out


def test_an_exercise_can_build_on_one_that_was_given_up(notebook, capsys):
    see_every_hint("softmax")
    give_up("softmax")
    see_every_hint("simple_attention")
    give_up("simple_attention")
    theirs = {"softmax": notebook.softmax}
    exec("def simple_attention(words):\n    return softmax(words), 1", theirs)
    with pytest.raises(CheckFailed):
        check(theirs["simple_attention"])
    assert "Fix `softmax` first" not in capsys.readouterr().out


def test_using_an_undefined_exercise_says_to_fix_that_first(capsys):
    notebook = {}  # the cell with `softmax` had a syntax error
    exec("def simple_attention(words):\n    return softmax(words @ words.T) @ words, 1", notebook)
    with pytest.raises(CheckFailed):
        check(notebook["simple_attention"])
    assert "Fix `softmax` first: `simple_attention` builds on it." in capsys.readouterr().out


def test_solving_it_after_all_earns_the_points(notebook, capsys):
    see_every_hint("attention_scores")
    give_up("attention_scores")
    check(attention_scores)
    progress()
    assert "✓ attention_scores: 3 of 3 points" in capsys.readouterr().out


def test_giving_up_requires_all_hints(notebook):
    hint("softmax")
    with pytest.raises(CourseError, match=r"still hints \(2 left\): run hint\('softmax'\) first"):
        give_up("softmax")
    assert not hasattr(notebook, "softmax")


def test_giving_up_again_needs_no_hints(notebook, monkeypatch, tmp_path):
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "progress.json"))
    see_every_hint("softmax")
    give_up("softmax")
    records._of_this_kernel.clear()
    _course_solutions.clear()
    give_up("softmax")
    assert "softmax" in _course_solutions


def test_a_check_remembers_that_its_exercise_was_given_up(notebook, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "progress.json"))
    see_every_hint("context_vector")
    give_up("context_vector")
    for kept in (records._of_this_kernel, _course_solutions, _verdicts):  # the kernel restarts
        kept.clear()
    del notebook.context_vector
    check(context_vector)
    assert notebook.context_vector is _course_solutions["context_vector"]
    assert "given up" in capsys.readouterr().out


def test_a_course_without_solutions_has_none_to_give(notebook, monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.notebook.course_solution.TEXTS", tmp_path)
    see_every_hint("softmax")
    with pytest.raises(CourseError, match="Ask your instructor"):
        give_up("softmax")


def test_every_solution_can_be_taken(lesson):
    for name in lesson.asked:
        assert course_solution(name, lesson.name).__name__ == name


def test_hints_come_one_at_a_time(capsys):
    shown = []
    for _ in range(4):
        hint("softmax")
        shown.append(capsys.readouterr().out)
    assert [text.count("\n1. ") for text in shown] == [1, 1, 1, 1]
    assert [text.count("\n3. ") for text in shown] == [0, 0, 1, 1]
    assert "2 left" in shown[0] and "last hint" in shown[2]


def test_a_hint_for_no_exercise():
    with pytest.raises(CourseError, match="no exercise"):
        hint("sofa")
    with pytest.raises(CourseError, match=r"hint\(softmax\); this is an int"):
        hint(3)
    with pytest.raises(CourseError, match="this is None"):
        hint()


def test_progress_before_the_first_check_lists_the_lessons(capsys):
    progress()
    text = capsys.readouterr().out
    assert text.startswith("Nothing checked yet") and "Next: 1. Dot-product attention" in text
    assert "2. Query, key, value: not started" in text


def test_the_start_page_finds_the_progress_of_the_lessons(capsys, tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    for folder in ("start/lesson", "start"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(tmp_path / folder)
        if folder != "start":
            check(attention_scores)
            records._of_this_kernel.clear()
    capsys.readouterr()
    progress()
    assert capsys.readouterr().out.startswith("3 of ")


def test_progress_counts_the_points_so_far(capsys):
    check(attention_scores)
    with pytest.raises(NotAnsweredYet):
        check(context_vector)
    capsys.readouterr()
    progress()
    text = capsys.readouterr().out
    keys = course.find("softmax").keys.values()
    total = sum(key.points for key in keys if not key.challenge)
    assert f"1. Dot-product attention: 3 of {total} points" in text
    assert "2. Query, key, value: not started" in text
    assert "attention_scores: 3 of 3 points" in text
    assert "context_vector: 0 of 3 points" in text
    assert "softmax: not checked yet" in text


def test_the_last_prediction_of_a_question_counts(capsys):
    predict("slope")
    check(attention_scores)
    progress()
    assert "5 predictions: none made yet" in capsys.readouterr().out
    predict("slope", 4)
    progress()
    assert "5 predictions: 0 right, of 1 made" in capsys.readouterr().out
    predict("slope", 2)
    progress()
    assert "5 predictions: 1 right, of 1 made" in capsys.readouterr().out


def test_no_such_prediction():
    with pytest.raises(CourseError, match=r"no prediction named 'slop'. Did you mean 'slope'\?"):
        predict("slop", 2)


def test_a_challenge_may_stay_open_and_counts_nowhere(capsys):
    check(add_score)
    check(attention_scores)
    progress()
    text = capsys.readouterr().out
    assert "○ add_score: not answered yet" in text
    assert "○ add_score: a challenge, not solved yet" in text
    assert text.count(" of 19 points") == 2  # of the lesson, and of all that were begun


def test_a_challenge_is_solved_or_not(capsys):
    def add_score(largest, total, score):
        return torch.maximum(largest, score), total

    with pytest.raises(CheckFailed, match=r"add_score: not solved yet\. See the card"):
        check(add_score)
    check(course_solution("add_score", "01_dot_product_attention"))
    text = capsys.readouterr().out
    assert "✗ add_score: not solved yet" in text and "✓ add_score: solved" in text
    assert "point" not in text


@pytest.fixture
def reference_folder(tmp_path, monkeypatch):
    """A copy of the reference files that a test may damage."""
    folder = shutil.copytree(course.PUBLIC, tmp_path / "reference")
    monkeypatch.setattr(course, "PUBLIC", folder)
    kept = (course._indexes, course._loaded, course.entries_by_lesson)
    for read in kept:
        read.cache_clear()
    yield folder
    for read in kept:
        read.cache_clear()


def damage_missing(path):
    path.parent.joinpath("other.txt").touch()
    for file in path.parent.glob("*.safetensors"):
        file.unlink()


def damage_truncated(path):
    path.write_bytes(path.read_bytes()[:-1000])


def damage_header(path):
    path.write_bytes(path.read_bytes()[:500])


def damage_version(path):
    path.write_bytes(encode(decode(path.read_bytes()), {"format": 99}))


def damage_without_an_index(path):
    path.write_bytes(encode(decode(path.read_bytes())))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (damage_missing, "no reference files in reference/. Run `make reference`"),
        (damage_truncated, "01_dot_product_attention.safetensors is damaged"),
        (damage_header, "01_dot_product_attention.safetensors is damaged"),
        (damage_version, f"another format than this autograder reads, {course.FORMAT}. Run"),
        (damage_without_an_index, f"another format than this autograder reads, {course.FORMAT}."),
    ],
)
def test_a_damaged_reference_file(reference_folder, damage, words):
    damage(reference_folder / "01_dot_product_attention.safetensors")
    with pytest.raises(CourseError, match=words.replace(".", r"\.")):
        check(attention_scores)


@pytest.mark.usefixtures("reference_folder")
def test_only_the_lesson_at_hand_is_decoded():
    """All twelve take two seconds, and a learner's first check would wait for them."""
    check(course_solution("softmax", "01_dot_product_attention"))
    with pytest.raises(NotAnsweredYet):
        check(context_vector)
    progress()
    assert course._loaded.cache_info().misses == 1


def test_importing_needs_neither_nbgrader_nor_the_exercises():
    code = (
        "import sys, autograder; "
        "print([m for m in sys.modules if m.startswith(('nbgrader', 'jupytext', 'matplotlib', "
        "'autograder.exercises', 'autograder.building', 'autograder.grading'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_learners_cell_is_tried_outside_of_a_notebook(tmp_path):
    """As CONTRIBUTING says: PROGRESS_FILE= python try.py."""
    answer = "def attention_scores(words):\n    return words.T @ words\n"
    script = f"import torch\nfrom autograder import check\n{answer}check(attention_scores)\n"
    (tmp_path / "try.py").write_text(script, encoding="utf-8")
    environment = os.environ | {"PROGRESS_FILE": ""}
    command = [sys.executable, "try.py"]
    run = {"cwd": tmp_path, "env": environment, "capture_output": True, "encoding": "utf-8"}
    done = subprocess.run(command, **run)
    assert "Words are rows, so transpose the second matrix, not the first." in done.stdout
    assert done.stderr.splitlines()[-1].endswith("0 of 3 points. See the card above.")
    assert [path.name for path in tmp_path.iterdir()] == ["try.py"]
