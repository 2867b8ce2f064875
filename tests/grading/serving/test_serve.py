"""`make serve`: what arrives in the exchange is graded once, and feedback goes back."""

import os
import shutil
import threading

import pytest

from autograder.course.__main__ import main
from autograder.grading.serving import command
from autograder.grading.serving.command import LONGEST_WAIT, STEPS, WAIT, Served
from autograder.grading.serving.inbox import Inbox
from tests.demo.made_up_class import make_class
from tests.support.classroom import LESSON
from tests.support.exchange import course_with_exchange, feedback, hand_in, serve, stop
from tests.support.waiting import wait_until


class Steps:
    """A lesson whose steps only say that they were taken; those in `failing` fail."""

    def __init__(self, monkeypatch, tmp_path):
        self.failing, self.taken, self.now = set(), [], 0.0
        self.stop = threading.Event()
        monkeypatch.setattr(Served, "_take", self._take)
        monkeypatch.setattr(command.time, "monotonic", lambda: self.now)
        self.lesson = Served("01_first", tmp_path, self.stop)

    def _take(self, step, *options):
        self.taken.append(step)
        return step not in self.failing

    def look(self, arrived, now):
        """Return the steps that are taken."""
        self.taken, self.now = [], now
        self.lesson.look(set(arrived))
        return self.taken


ALL = [step for step, *_ in STEPS]


@pytest.fixture
def steps(monkeypatch, tmp_path):
    return Steps(monkeypatch, tmp_path)


def test_a_start_grades_and_so_does_what_arrives(steps, capsys):
    assert steps.look(["ada+01_first+2026"], 0) == ALL
    assert steps.look(["ada+01_first+2026"], 5) == []
    assert steps.look(["ada+01_first+2026", "bob+01_first+2026"], 10) == ALL
    said = capsys.readouterr().out
    assert "01_first: 1 submission in the exchange" in said
    assert "01_first: handed in by bob\n" in said


def test_without_submissions_there_is_nothing_to_do(steps, capsys):
    assert steps.look([], 0) == steps.look([], 1e9) == []
    assert "0 submissions in the exchange" in capsys.readouterr().out


def test_what_fails_is_tried_again_ever_later(steps, capsys):
    steps.failing = {"autograde"}
    there = ["ada+01_first+2026"]
    assert steps.look(there, 0) == ALL, "feedback for the others doesn't wait"
    assert "autograde: not everything was done; again in 1 minute" in capsys.readouterr().out
    assert steps.look(there, WAIT - 1) == []
    assert steps.look(there, WAIT) == ALL
    assert steps.look(there, 3 * WAIT - 1) == []
    assert steps.look(there, 3 * WAIT) == ALL
    later = [LONGEST_WAIT * hour for hour in range(1, 12)]
    assert all(steps.look(there, now) for now in later)
    steps.failing = set()
    assert steps.look(there, later[-1] + LONGEST_WAIT) == ALL
    assert steps.look(there, later[-1] + 9 * LONGEST_WAIT) == []


def test_stopping_ends_the_steps_between_two_of_them(steps, monkeypatch):
    def take(lesson, step, *options):
        steps.taken.append(step)
        return steps.stop.set() is None

    monkeypatch.setattr(Served, "_take", take)
    assert steps.look(["ada+01_first+2026"], 0) == ALL[:1]


def test_a_name_does_nothing_to_a_terminal(steps, capsys):
    steps.look(["bob+01_first+2026"], 0)
    steps.look(["\x1b[2J+01_first+2026"], 1)
    assert "\x1b" not in capsys.readouterr().out


@pytest.fixture
def course(tmp_path):
    with course_with_exchange(tmp_path) as course:
        yield course


@pytest.mark.long
def test_it_grades_what_arrives_and_no_more_after_a_restart(course, sandbox, tmp_path):
    said = tmp_path / "said.txt"
    first, second = make_class(LESSON, 2)
    process = serve(course, said, "--every=0.2")
    wait_until(lambda: "0 submissions in the exchange" in said.read_text())
    hand_in(course, "ada", first.notebook(LESSON))
    wait_until(feedback(course, "ada").exists)
    wait_until(lambda: "up to date" in said.read_text())
    stop(process)
    assert "handed in by ada" in said.read_text() and "Stopped." in said.read_text()
    page = feedback(course, "ada").read_text(encoding="utf-8")
    assert f"<strong>{first.true_grade}</strong>" in page
    graded = course / "autograded" / "ada" / LESSON.name / f"{LESSON.name}.ipynb"
    before = os.stat(graded).st_mtime_ns
    hand_in(course, "bob", second.notebook(LESSON))
    process = serve(course, said, "--every=0.2")
    wait_until(feedback(course, "bob").exists)
    stop(process)
    assert os.stat(graded).st_mtime_ns == before, "ada was graded twice"


def test_a_course_is_served_once(course, monkeypatch, capsys):
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)
    with command._alone(course):
        assert main(["serve", f"--course={course}"]) == 2
    assert "is being served already. Stop that first." in capsys.readouterr().err


def test_a_lesson_that_is_not_released_is_named(course, capsys):
    assert main(["serve", "01_dot", f"--course={course}"]) == 2
    assert f"01_dot is not released. Released are: {LESSON.name}." in capsys.readouterr().err


def test_half_a_copy_has_not_arrived(course):
    hand_in(course, "ada", make_class(LESSON, 1)[0].notebook(LESSON))
    inbox = Inbox.of_course(course)
    [name] = inbox.arrived(LESSON.name)
    (inbox.folder / name / "submission_secret.txt").unlink()
    assert not inbox.arrived(LESSON.name)


def test_without_an_exchange_it_says_what_to_do(course, capsys):
    shutil.rmtree(course.parent / "exchange")
    assert main(["serve", f"--course={course}"]) == 2
    assert "nbgrader release_assignment LESSON" in capsys.readouterr().err
