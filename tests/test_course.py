"""The course's commands: a wrong argument prints a sentence, and nothing happens."""

import pytest

from autograder.authoring import commands as author
from autograder.course.__main__ import AUTHORS, COLLECTED, PACKED, PLATFORMS, SYSTEMS, main
from autograder.grading.engine.ctrl_c import INTERRUPTED
from autograder.grading.lms import commands as exchange
from autograder.grading.packing import command as packing
from autograder.grading.platforms import command as platforms


def test_each_command_that_is_offered_exists():
    assert [*author.COMMANDS] == [*AUTHORS]
    assert {*exchange.COLLECTORS} == {*COLLECTED}
    assert {*filter(None, exchange.EXPORTERS)} == {*SYSTEMS}
    assert {*platforms.PLATFORMS} == {*PLATFORMS}
    assert {*packing.PACK} == {*PACKED}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "The following arguments are required: COMMAND. python -m autograder.course --help"),
        (["grade"], "invalid choice: 'grade'"),
        (["export", "--lms=canvs"], "'canvs' is unknown: write canvas or moodle (LMS=…). python"),
        (["collect", "01", "a.zip"], "The following arguments are required: --lms"),
        (["feedback", "01", "--lms=moodle"], "The following arguments are required: --to"),
    ],
)
def test_a_wrong_argument_is_a_sentence(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    assert ended.value.code == 2 and said in captured.err
    assert "usage" not in captured.out + captured.err and captured.err.count("\n") == 1


def test_ctrl_c_is_a_word(monkeypatch, capsys):
    def stopped(lessons):
        raise KeyboardInterrupt

    monkeypatch.setitem(author.COMMANDS, "draft", stopped)
    assert main(["draft"]) == INTERRUPTED
    assert capsys.readouterr().err == "Stopped.\n"


def test_mistakes_of_one_exercise(capsys):
    assert main(["mistakes", "--exercise=softmax", "01_dot_product_attention"]) == 0
    said = capsys.readouterr().out
    assert "  softmax " in said and "  context_vector " not in said


def test_an_exercise_that_does_not_exist_is_named(capsys):
    assert main(["mutants", "--exercise=softmix", "01_dot_product_attention"]) == 2
    assert "There is no exercise softmix. Did you mean softmax?" in capsys.readouterr().err


def test_a_lesson_that_does_not_exist_is_named(capsys):
    assert main(["draft", "01_dot", "02_qkv_projections"]) == 2
    assert "There is no lesson 01_dot, only 01_dot_product_attention, 02" in capsys.readouterr().err
