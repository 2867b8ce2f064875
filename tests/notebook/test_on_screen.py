"""A check speaks about the answer on the screen, and about none that an earlier run left behind."""

import json
import os

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.notebook import history, records
from autograder.notebook.saved_notebook import JUPYTER, VS_CODE

IMPORTS = "import torch\nfrom autograder import check, hint"
RIGHT = """def query_scores(query, words):
    return torch.stack([word @ query for word in words])"""
CHECK = "check(query_scores)"
OLDER = "I would be checking your older `query_scores`."


class Notebook:
    """A kernel and its cells, which run as in Jupyter."""

    def __init__(self, capsys):
        config = Config()
        config.HistoryManager.enabled = False
        self.shell, self.capsys = InteractiveShell(config=config, colors="nocolor"), capsys
        history.watch(self.shell)

    def run(self, cell, source):
        """Run a cell; return what it shows."""
        self.shell.run_cell(source, cell_id=cell)
        return self.capsys.readouterr().out

    def answer(self, source):
        """Run the answer's cell and then the check's; return what the latter shows."""
        self.run("query_scores", source)
        return self.run("check", CHECK)


@pytest.fixture
def just_started(capsys, monkeypatch):
    """A notebook in which nothing has run."""
    monkeypatch.setattr(history, "_history", None)
    monkeypatch.setattr(records, "_of_this_kernel", {})
    return Notebook(capsys)


@pytest.fixture
def notebook(just_started):
    """A notebook in which only the imports have run."""
    just_started.run("imports", IMPORTS)
    return just_started


# What a person types over an answer, and what is then wrong with the cell.
SLIPS = {
    "no colon": (RIGHT.replace("):\n", ")\n"), "Your last cell didn't run: line 1, expected ':'."),
    "not indented": (RIGHT.replace("    ", ""), "line 2, expected an indented block"),
    "indented too far": (RIGHT.replace("    ", "    x = 1\n      "), "line 3, unexpected indent"),
    "no bracket": (RIGHT[:-1], "line 2, '(' was never closed."),
    "a bracket too many": (f"{RIGHT})", "line 2, unmatched ')'."),
    "no quotation mark": (f"{RIGHT}\nprint('done)", "line 3, unterminated string literal"),
    "a word too many": (RIGHT.replace("return", "return the"), "line 2, invalid syntax"),
    "only the body": (RIGHT.splitlines()[1].strip(), "It lacks the line that begins with `def "),
    "no function": ("torch.stack([torch.ones(1)])", "Your last cell ran without defining `query_"),
    "another name": (
        RIGHT.replace("scores", "score", 1),
        "defines `query_score`, but the exercise",
    ),
    "a capital letter": (RIGHT.replace("query_s", "Query_s"), "defines `Query_scores`, but"),
    "dashes": (RIGHT.replace("query_scores", "query-scores"), "line 1, expected '('"),
    "an unknown type": (
        RIGHT.replace("query,", "query: Tensr,"),
        "stopped before it defined `query_scores`: `NameError: name 'Tensr' is not defined`",
    ),
    "an error above it": (f"torch.stck\n{RIGHT}", "no attribute 'stck'` (line 1, `torch.stck`)."),
}


@pytest.mark.parametrize(("typed", "said"), SLIPS.values(), ids=SLIPS.keys())
def test_a_slip_after_an_answer_is_what_the_check_speaks_about(notebook, typed, said):
    assert "✓ query_scores" in notebook.answer(RIGHT)
    shown = notebook.answer(typed)
    assert "○ query_scores: not checked" in shown and OLDER in shown and said in shown
    assert "NotChecked: query_scores: not checked. See the card above." in shown
    assert "✓ query_scores" in notebook.answer(RIGHT)


@pytest.mark.parametrize(("typed", "said"), SLIPS.values(), ids=SLIPS.keys())
def test_a_slip_in_the_first_answer_is_told_beside_the_missing_name(notebook, typed, said):
    shown = notebook.answer(typed)
    assert "○ Before you go on" in shown and said in shown
    assert OLDER not in shown and "I would be" not in shown
    assert "✓ query_scores" in notebook.answer(RIGHT)


def test_an_answer_in_a_cell_of_the_learners_own(notebook):
    notebook.run("own", RIGHT)
    notebook.run("own", "torch.ones(1)")
    assert "ran without defining `query_scores`" in notebook.run("check", CHECK)


def test_a_failing_cell_elsewhere_stops_no_check(notebook):
    notebook.run("answer", RIGHT)
    notebook.run("scratch", "query_scores(1")
    notebook.run("scratch", "query_scores(1, 2)")
    assert "✓ query_scores" in notebook.run("check", CHECK)


def test_an_answer_counts_though_its_cell_fails_below_it(notebook):
    assert "✓ query_scores" in notebook.answer(f"{RIGHT}\nquery_scores(1, 2)")


def test_the_answer_may_stand_in_the_cell_of_its_check(notebook):
    notebook.answer(RIGHT.replace("):\n", ")\n"))
    assert "✓ query_scores" in notebook.run("check", f"{RIGHT}\n{CHECK}")


def test_a_method_of_the_same_name_is_no_attempt(notebook):
    notebook.answer(RIGHT)
    notebook.run("scratch", "class Model:\n    def query_scores(self):\n        pass\n\n1 / 0")
    assert "✓ query_scores" in notebook.run("check", CHECK)


def test_without_cell_ids_the_definition_itself_is_known(notebook):
    notebook.run(None, RIGHT)
    assert "✓ query_scores" in notebook.run(None, CHECK)
    notebook.run(None, RIGHT.replace("):\n", ")\n"))
    assert "didn't run: line 1, expected ':'." in notebook.run(None, CHECK)


def test_a_slip_that_is_not_the_last_cell_is_called_by_its_exercise(notebook):
    notebook.answer(RIGHT)
    notebook.run("query_scores", RIGHT.replace("):\n", ")\n"))
    notebook.run("other", "1 + 1")
    assert "The cell with `query_scores` didn't run: line 1" in notebook.run("check", CHECK)


def test_a_kernel_that_has_just_started(just_started):
    shown = just_started.run("check", CHECK)
    assert "no cell above this one has run. Choose Run > Run All Above Selected Cell" in shown


def test_a_kernel_in_which_something_else_has_run(just_started):
    just_started.run("scratch", "1 + 1")
    shown = just_started.run("check", CHECK)
    assert "The cell above that makes `check` has not run since the kernel started." in shown


def test_a_cell_that_ran_before_the_imports_need_only_run_again(just_started):
    just_started.run("query_scores", RIGHT.replace("(query, words)", "(query: Tensor, words)"))
    just_started.run("imports", f"from torch import Tensor\n{IMPORTS}")
    shown = just_started.run("check", CHECK)
    assert "`Tensor` is there now: run that cell again, then this one." in shown
    assert "Fix it" not in shown


def test_a_misspelled_name_in_a_check(notebook):
    notebook.answer(RIGHT)
    shown = notebook.run("check", "check(query_score)")
    assert "There is no `query_score` here. Did you mean `query_scores`?" in shown
    assert "Did you mean" not in notebook.run("scratch", "nothing_like_it")


def test_a_call_of_the_course_that_the_notebook_has_overwritten(notebook):
    notebook.answer(RIGHT)
    notebook.run("scratch", "check = 3")
    shown = notebook.run("check", CHECK)
    assert "`check` the name of something else (int). `from autograder import check`" in shown
    assert "brings" not in notebook.run("scratch", "len(3)")


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Save the notebook's cells, sources by id, as Jupyter does."""

    def save(cells, later=60):
        path = tmp_path / "lesson.ipynb"
        tree = [{"cell_type": "code", "id": name, "source": [text]} for name, text in cells.items()]
        path.write_text(json.dumps({"cells": tree}), encoding="utf-8")
        at = path.stat().st_mtime + later
        os.utime(path, (at, at))
        monkeypatch.setenv(JUPYTER, str(path))
        return path

    return save


def test_a_definition_that_is_older_than_the_saved_text(notebook, saved):
    notebook.answer(RIGHT)
    saved({"query_scores": RIGHT.replace("stack", "cat"), "check": CHECK})
    shown = notebook.run("check", CHECK)
    assert f"The cell with `query_scores` has changed since you ran it. {OLDER}" in shown


def test_a_text_that_was_saved_before_it_ran_or_says_the_same(notebook, saved):
    notebook.answer(RIGHT)
    saved({"query_scores": "def query_scores(): pass", "check": CHECK}, later=-60)
    assert "✓ query_scores" in notebook.run("check", CHECK)
    saved({"query_scores": f"{RIGHT}  # done\n"})
    assert "✓ query_scores" in notebook.run("check", CHECK)


def test_a_name_from_a_cell_above_that_has_not_run(notebook, saved):
    saved({"imports": IMPORTS, "made": "journey = torch.ones(3)", "use": "journey", "below": "x=1"})
    shown = notebook.run("use", "journey + 1")
    assert "The cell above that makes `journey` has not run since the kernel started." in shown
    assert "Before you go on" not in notebook.run("use", "x")
    notebook.run("made", "journey = torch.ones(3)")
    assert "Before you go on" not in notebook.run("use", "del journey; journey")


def test_a_name_whose_cell_failed_before_it_was_made(notebook):
    notebook.run("made", "length = 3\njourney = torch.ones(length, dtype=float16)")
    shown = notebook.run("use", "journey + 1")
    assert (
        "The cell with `journey` stopped before it defined `journey`: `NameError: name 'float16' "
        "is not defined` (line 2, `journey = torch.ones(length, dtype=float16)`). Fix it, run the "
        "cell, then this one."
    ) in shown
    assert "Before you go on" not in notebook.run("use", "length")
    notebook.run("made", "journey = torch.ones(3)")
    assert "Before you go on" not in notebook.run("use", "del journey; journey")


def test_a_run_of_all_cells_that_stopped_above(notebook, saved):
    wrong = RIGHT.replace("return", "print")
    below = {"check_softmax": "check(softmax)", "made": "x = 1", "use": "x", "scratch": "[][0]"}
    saved({"imports": IMPORTS, "query_scores": wrong, "check": CHECK, **below})
    for cell in ("check_softmax", "use"):
        notebook.answer(wrong)
        shown = notebook.run(cell, below[cell])
        assert "The run stopped above, at `check(query_scores)`, so the cells below" in shown
        assert "Run the cell with your `softmax`" not in shown
    notebook.run("scratch", below["scratch"])
    assert "The run stopped" not in notebook.run("check_softmax", below["check_softmax"])


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"cells": [{}]}', b"\xff"])
def test_a_file_that_is_no_notebook_is_not_asked(notebook, saved, content):
    saved({}).write_bytes(content)
    assert "✓ query_scores" in notebook.answer(RIGHT)
    assert "Before you go on" not in notebook.run("use", "journey")


def test_vs_code_names_its_file_and_its_own_button(just_started, saved, monkeypatch):
    path = saved({"query_scores": RIGHT})
    monkeypatch.delenv(JUPYTER)
    just_started.shell.user_ns[VS_CODE] = str(path)
    assert "Click “Execute Above Cells” on this cell" in just_started.run("check", CHECK)


def test_nothing_is_watched_while_a_notebook_is_graded(capsys, monkeypatch):
    monkeypatch.setattr(history, "_history", None)
    monkeypatch.setenv(history.QUESTIONS_VARIABLE, "questions")
    notebook = Notebook(capsys)
    assert history.history() is None
    assert "Before you go on" not in notebook.run("check", CHECK)
