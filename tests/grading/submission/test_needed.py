"""Only what a grade depends on is run."""

import pytest

from autograder.grading.submission.needed import LONGEST, needed
from autograder.lessons.cells import exercise_checked, exercise_defined
from autograder.lessons.lesson import Lesson, lesson_names

IMPORTS = "import torch\nfrom autograder import check"
WORDS = "words = torch.eye(3)"
SHOWN = "print(words)\nsize = len(words)"
ANSWER = "def double(x):\n    words = x\n    return 2 * words"
CHECK = "check(double)"
COURSE = [IMPORTS, WORDS, SHOWN, "torch.manual_seed(0)\nnoise = torch.randn(3)"]


def runs(*cells):
    """Return which of the cells run, as one string of 1s and 0s."""
    return "".join(str(int(runs)) for runs in needed(cells, COURSE))


def test_a_demonstration_is_not_run():
    assert runs(IMPORTS, WORDS, ANSWER, CHECK, SHOWN) == "10110"


@pytest.mark.parametrize(
    "answer",
    [
        "def double(x):\n    return 2 * x if len(words) else x",
        "double = lambda x: 2 * x * words.numel() / 9",
        "class double:\n    size = words.shape",
        "words[0] = 1",
        "words += 1",
        "del words",
        "%timeit words + 1",
        "print(words",
        "[word for word in words]",
    ],
)
def test_what_a_learners_cell_uses_is_run(answer):
    assert runs(IMPORTS, WORDS, SHOWN, answer, CHECK) == "11011"


def test_what_that_uses_is_run_too():
    assert runs(IMPORTS, WORDS, SHOWN, "size + 1") == "1111"


def test_a_changed_cell_of_the_course_is_the_learners():
    assert runs(IMPORTS, WORDS, SHOWN + "\n") == "111"


@pytest.mark.parametrize(
    "any_name", ["globals()['words']", "exec('words')", "Out[3]", "import __main__\n__main__.words"]
)
def test_everything_is_run_for_code_that_may_reach_any_name(any_name):
    assert runs(IMPORTS, WORDS, SHOWN, any_name) == "1111"


@pytest.mark.parametrize(
    "change",
    [
        "words[0] = 1",
        "words.grad = None",
        "words.zero_()",
        "words.T[0].zero_()",
        "for i in range(3):\n    words[i] = i",
        "def f():\n    global words\n    words = 1",
        "from torch import ones as words",
        "import torch.nn as words",
        "with open('f') as words: pass",
        "(words := 1)",
        "for words in []: pass",
    ],
)
def test_a_cell_that_changes_what_is_used_is_run(change):
    assert needed([IMPORTS, change, "words"], [IMPORTS, change])[1]


@pytest.mark.parametrize(
    "other", ["torch.manual_seed(0)", "[words for words in []]", "def f(words): words = 1", "words"]
)
def test_a_cell_that_changes_nothing_is_not_run(other):
    assert not needed([IMPORTS, other, "torch, words"], [IMPORTS, other])[1]


@pytest.mark.parametrize("source", ["(" * 10_000, "x = '\0'", "x = 1\n" * 100_000, "\ud800"])
def test_any_text_will_do(source):
    assert runs(IMPORTS, WORDS, source)[-1] == "1"


def test_any_word_in_a_very_long_cell_counts_as_used():
    assert runs(IMPORTS, WORDS, "# words") == "001"
    assert runs(IMPORTS, WORDS, "# words" + " " * LONGEST) == "111"


@pytest.mark.parametrize("name", lesson_names())
def test_most_of_a_lesson_need_not_be_run(name):
    sources = list(Lesson(name).code.values())
    course = [s for s in sources if not exercise_checked(s) and not exercise_defined(s)]
    running = needed(sources, course)
    ours = [s for s, runs in zip(sources, running, strict=True) if runs and s in course]
    assert len(ours) < len(course) / 2
    assert [s for s in ours if not s.lstrip("# ").startswith(("import", "def", "class", "@"))] == []
