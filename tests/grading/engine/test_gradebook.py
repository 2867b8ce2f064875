"""Grading changes the gradebook the way nbgrader does, even while others work in it."""

import os
import re
import shutil
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.engine import autograde
from autograder.grading.engine.history import entries
from autograder.grading.engine.pool import local_pool
from autograder.grading.engine.roll import Roll
from autograder.grading.engine.stale_grades import stale_grades
from autograder.grading.engine.summary import NO_TIMES, Summary
from autograder.grading.gradebook.course_files import files_of
from autograder.grading.report.gather import gather
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker.job import Job
from autograder.lessons.cells import grade_id_of, nbgrader_metadata
from tests.support import beside, classroom
from tests.support.classroom import LESSON, command, gradebook, make_course, nbgrader
from tests.support.commands import run

pytestmark = [
    pytest.mark.usefixtures("sandbox"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
SMALL = "small"
DUE = "2030-01-02 00:00:00 UTC"
LATE = "2030-01-03 00:00:00 UTC"
EARLY, LATER = "2030-01-01 00:00:00 UTC", "2030-01-01 10:00:00 UTC"


def cell(make, source, grade_id, **facts):
    return make(source, metadata={"nbgrader": nbgrader_metadata(grade_id, **facts)})


def small_notebook(answer):
    return new_notebook(
        cells=[
            cell(new_code_cell, f"x = {answer}", "x", solution=True),
            cell(new_code_cell, "assert x == 1", "check_x", points=3),
            cell(new_markdown_cell, f"Because {answer}.", "why", points=2, solution=True),
        ]
    )


def hand_in(course, learner, answer, timestamp):
    folder = course / "submitted" / learner / SMALL
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(small_notebook(answer), folder / f"{SMALL}.ipynb")
    (folder / "timestamp.txt").write_text(timestamp, encoding="utf-8")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """nbgrader's API for a course with one small assignment."""
    course = tmp_path_factory.mktemp("course")
    config = classroom.configuration(course)
    config.LateSubmissionPlugin.penalty_method = "zero"
    (course / "solutions" / SMALL).mkdir(parents=True)
    nbformat.write(small_notebook(1), course / "solutions" / SMALL / f"{SMALL}.ipynb")
    api = classroom.api(config)
    with api.gradebook as book:
        book.update_or_create_assignment(SMALL, duedate=DUE)
    assert api.generate_assignment(SMALL)["success"]
    return api


@pytest.fixture(scope="module", autouse=True)
def one_pool():
    """Start the workers and their sandboxes once for all runs in this process."""
    pool = local_pool(2, Job("", Blueprint([])), lambda job: job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograde, "local_pool", lambda *_: pool)
        patch.setattr(autograde, "closing", nullcontext)
        yield
    pool.close()


def grade(api, learner="*", force=False, success=True):
    done = api.autograde(SMALL, learner, force=force)
    assert done["success"] is success, done
    return done["log"]


@pytest.fixture
def course(api):
    return Path(api.coursedir.root)


def submission(api, learner):
    """Return a learner's points, penalty, and grades by cell."""
    with api.gradebook as book:
        found = book.find_submission(SMALL, learner)
        grades = {g.cell.name: g for g in found.notebooks[0].grades}
        facts = {n: (g.auto_score, g.manual_score, g.needs_manual_grade) for n, g in grades.items()}
        return found.score, found.late_submission_penalty, facts


def give_by_hand(api, learner, **points):
    with api.gradebook as book:
        for name, score in points.items():
            given = book.find_grade(name, SMALL, SMALL, learner)
            given.manual_score, given.needs_manual_grade = score, False
        book.db.commit()


def test_a_late_submission_is_penalized(api, course):
    hand_in(course, "late", 1, LATE)
    said = grade(api, "late")
    assert "late: late\n" in said and "seconds late" not in said and "penalty:" not in said
    score, penalty, grades = submission(api, "late")
    assert (score, penalty) == (3, 3)  # nbgrader subtracts it when it exports
    assert grades["check_x"][0] == 3


def test_a_submission_without_a_time_is_not_late_whatever_the_last_one_was(api, course):
    hand_in(course, "timeless", 1, LATE)
    grade(api, "timeless")
    assert submission(api, "timeless")[1] == 3
    (course / "submitted" / "timeless" / SMALL / "timestamp.txt").unlink()
    assert "when it was handed in changed" in grade(api, "timeless")
    assert not submission(api, "timeless")[1]


def test_learners_whose_lateness_is_unknown_are_named(api, course):
    tables = course / "lessons.csv"
    tables.write_text(f"lesson,due,late_percent\n{SMALL},2030-01-02 00:00,10\n", encoding="utf-8")
    hand_in(course, "timely", 1, EARLY)
    hand_in(course, "dateless", 1, "")
    said = grade(api)
    tables.unlink()
    [told] = [line for line in said.splitlines() if "timestamp.txt" in line]
    assert "not late, because timestamp.txt is missing or has no time: " in told
    assert "dateless" in told and "timely" not in told


def test_a_class_without_times_takes_one_line():
    summary = Summary({})
    summary.roll = Roll(without_time=frozenset({"ada", "bob"}), here=2)
    assert NO_TIMES in summary.lines()
    assert not any("ada" in line for line in summary.lines())


def test_points_given_by_hand_are_settled_until_something_they_were_given_for_changes(api, course):
    hand_in(course, "settled", 2, EARLY)
    grade(api, "settled")
    give_by_hand(api, "settled", check_x=2.5, why=1)
    path = course / "submitted" / "settled" / SMALL / "timestamp.txt"
    path.write_text(LATER, encoding="utf-8")
    said = grade(api, "settled")
    assert "when it was handed in changed" in said and "to grade by hand" not in said
    assert submission(api, "settled")[2]["check_x"] == (0, 2.5, False)
    hand_in(course, "settled", 3, LATER)
    assert "to grade by hand, in formgrader: settled\n" in grade(api, "settled")


def failing(course, step):
    """Run one of nbgrader's commands, which must fail; return its output."""
    done = run(*command(course, step, SMALL, "--force"))
    assert done.status == 1
    return done.said


def test_a_damaged_gradebook_is_a_sentence_and_stays_as_it_is(api, course):
    book = course / "gradebook.db"
    kept = book.read_bytes()
    book.write_text("garbage", encoding="utf-8")
    try:
        for step in ("autograde", "generate_feedback", "generate_assignment"):
            said = failing(course, step)
            assert "The gradebook can't be read (DatabaseError)" in said
            assert "Traceback" not in said
        assert book.read_text(encoding="utf-8") == "garbage"
    finally:
        book.write_bytes(kept)


@pytest.fixture
def lost(course):
    """Lose the gradebook, and find it again after the test."""
    book = course / "gradebook.db"
    kept = book.read_bytes()
    book.unlink()
    yield book
    book.write_bytes(kept)
    shutil.rmtree(course / "submitted" / "lost")


def test_a_lost_gradebook_is_filled_again_as_grading_says(api, course, lost):
    hand_in(course, "lost", 1, EARLY)
    book, kept = lost, (course / "notebooks" / SMALL / f"{SMALL}.ipynb").stat().st_ino
    said = nbgrader(course, "generate_assignment", SMALL)
    assert "--force releases it again, and enters it in a new gradebook" in said
    assert (course / "notebooks" / SMALL / f"{SMALL}.ipynb").stat().st_ino == kept
    said = grade(api, "lost", success=False)
    assert "small is released, but not in the gradebook. If the gradebook was lost" in said
    assert not book.exists()
    [remedy] = re.findall("To enter small in a new one: nbgrader (.*)", said)
    for gone in (False, True):
        nbgrader(course, *remedy.split())
        said = grade(api, "lost", force=True)
        assert said.count("points and comments given by hand are gone with it. A backup") == gone
        book.unlink()


def test_grades_given_by_hand_stay_when_a_submission_is_graded_again(api, course):
    hand_in(course, "by_hand", 1, EARLY)
    grade(api, "by_hand")
    assert submission(api, "by_hand")[2]["why"] == (None, None, True)
    give_by_hand(api, "by_hand", check_x=2.5, why=1)
    hand_in(course, "by_hand", 2, LATER)
    grade(api, "by_hand")
    score, _, grades = submission(api, "by_hand")
    assert grades["check_x"] == (0, 2.5, True)
    assert grades["why"] == (None, 1, True)
    assert score == 3.5


def test_what_is_graded_when(api, course):
    """Only the named learner, nothing twice, newer submissions, and everything if forced."""
    hand_in(course, "one", 1, EARLY)
    hand_in(course, "two", 1, EARLY)
    folder = {name: course / "autograded" / name / SMALL for name in ("one", "two")}
    grade(api, "one")
    assert folder["one"].exists() and not folder["two"].exists()
    grade(api, "two")
    before = {name: folder[name].stat().st_ino for name in folder}

    def changed():
        return {name for name in folder if folder[name].stat().st_ino != before[name]}

    assert "0 graded, 0 unanswered, 0 not graded" in grade(api)
    assert changed() == set()
    hand_in(course, "two", 2, LATER)
    grade(api)
    assert changed() == {"two"}
    assert submission(api, "two")[2]["check_x"][0] == 0
    grade(api, "one", force=True)
    assert changed() == {"one", "two"}


def test_what_was_changed_is_graded_again_with_no_other_timestamp(api, course):
    hand_in(course, "three", "__import__('helper').one", EARLY)
    grade(api, "three")
    assert submission(api, "three")[2]["check_x"][0] == 0
    (course / "submitted" / "three" / SMALL / "helper.py").write_text("one = 1", encoding="utf-8")
    assert "1 graded" in grade(api, "three")
    assert submission(api, "three")[2]["check_x"][0] == 3
    assert "0 graded, 0 unanswered, 0 not graded, 1 unchanged" in grade(api, "three")


def test_an_unreadable_submission_has_no_grade_and_is_reported_again(api, course):
    hand_in(course, "torn", 1, EARLY)
    path = course / "submitted" / "torn" / SMALL / f"{SMALL}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.unlink()
    said = grade(api, "torn", success=False)
    assert "there is no small.ipynb" in said and "No submitted file" not in said
    path.write_text(text, encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert "not graded: torn: " in grade(api, "torn", success=False)
    waiting = (None, None, True)
    assert submission(api, "torn")[2] == {"check_x": waiting, "why": waiting}
    said = grade(api, "torn", success=False)
    assert "not graded in an earlier run: torn: " in said
    assert "0 not graded, 1 unchanged" in said


@pytest.mark.parametrize(
    ("said", "why", "remedy"),
    [
        ("yesterday evening", "says 'yesterday evening'", "write it as 2026-10-05 23:59"),
        ("9." * 1_500_000, "can't be read, because it has 3 MB", "write the time into a new file"),
    ],
    ids=["words", "3 MB"],
)
def test_an_invalid_time_leaves_no_grade(api, course, said, why, remedy):
    hand_in(course, "dreamer", 1, EARLY)
    grade(api, "dreamer")
    hand_in(course, "dreamer", 1, said)
    told = grade(api, "dreamer", success=False)
    assert f"not graded: dreamer: timestamp.txt {why}" in told
    assert remedy in told
    assert submission(api, "dreamer")[2]["check_x"] == (None, None, True)


def test_unsealed_an_invalid_time_leaves_no_grade_either(api, course, monkeypatch):
    hand_in(course, "sleeper", 1, "tomorrow")
    monkeypatch.setitem(api.config.Autograde, "unsealed", True)
    said = grade(api, "sleeper", success=False)
    assert "timestamp.txt says 'tomorrow', which is not a time" in said
    assert not (course / "autograded" / "sleeper").exists()


def test_a_time_that_can_not_be_read_stalls_nothing(api, course):
    hand_in(course, "piper", 1, EARLY)
    path = course / "submitted" / "piper" / SMALL / "timestamp.txt"
    path.unlink()
    os.mkfifo(path)
    said = grade(api, "piper", success=False)
    assert "timestamp.txt can't be read, because it is a named pipe" in said


def test_no_submitted_file_passes_for_the_facts_about_a_run(api, course):
    hand_in(course, "forger", 1, EARLY)
    for name in (SMALL, "another"):
        forged = course / "submitted" / "forger" / SMALL / f"{name}.run.json"
        forged.write_text('{"outcome": "graded"}', encoding="utf-8")
    grade(api, "forger")
    left = (course / "autograded" / "forger" / SMALL).glob("*.run.json")
    assert [path.name for path in left] == [f"{SMALL}.run.json"]


def test_what_could_not_be_graded_is_settled_by_points_given_by_hand(api, course):
    hand_in(course, "rescued", 1, EARLY)
    (course / "submitted" / "rescued" / SMALL / f"{SMALL}.ipynb").write_text("{", encoding="utf-8")
    grade(api, "rescued", success=False)
    give_by_hand(api, "rescued", check_x=2, why=1)
    assert "0 not graded, 1 unchanged" in grade(api, "rescued")
    assert "1 graded, 0 unanswered, 0 not graded" in grade(api, "rescued", force=True)


def test_what_the_machine_may_be_to_blame_for_is_due_again(api, course):
    hand_in(course, "killed", "__import__('os').kill(__import__('os').getpid(), 9)", EARLY)
    for _ in range(2):
        said = grade(api, "killed", success=False)
        assert "not graded: killed: its kernel died (exit status -9)" in said
        assert "1 not graded, 0 unchanged" in said
    assert submission(api, "killed")[2]["check_x"] == (None, None, True)


def test_a_grade_made_from_other_things_is_made_again(api, course):
    hand_in(course, "again", 1, EARLY)
    grade(api, "again")
    assert "1 unchanged" in grade(api, "again")
    with api.gradebook as book:
        book.update_or_create_assignment(SMALL, duedate="2029-01-01")
    assert "1 to grade again: the due date changed" in grade(api, "again")
    assert submission(api, "again")[1] == 3
    with api.gradebook as book:
        book.update_or_create_assignment(SMALL, duedate=DUE)
    assert "the due date changed" in grade(api, "again")
    assert not submission(api, "again")[1]


def test_a_dry_run_says_what_would_change_and_writes_nothing(api, course, monkeypatch):
    hand_in(course, "dry", 1, EARLY)
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    assert "dry: new: 3 points" in grade(api, "dry")
    assert not (course / "autograded" / "dry").exists()
    monkeypatch.setitem(api.config.Autograde, "dry", False)
    grade(api, "dry")
    give_by_hand(api, "dry", check_x=2)
    hand_in(course, "dry", 2, EARLY)
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    said = grade(api, "dry")
    assert "dry: check_x 3 → 0 (2 by hand, to be looked at again)" in said
    assert "1 of 1 would change, 0 stay as they are; nothing was written" in said
    assert submission(api, "dry")[2]["check_x"] == (3, 2, False)


def test_a_dry_run_counts_extra_credit_and_another_rule_for_lateness(api, course, monkeypatch):
    table = course / "lessons.csv"
    terms = "lesson,due,late_percent\n{},2030-01-02 00:00,{}\n"
    table.write_text(terms.format(SMALL, 10), encoding="utf-8")
    hand_in(course, "dry extra", 1, LATE)
    grade(api, "dry extra")
    with api.gradebook as book:
        book.find_grade("check_x", SMALL, SMALL, "dry extra").extra_credit = 1
        book.db.commit()
    table.write_text(terms.format(SMALL, 50), encoding="utf-8")
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    told = f"The gradebook would change: dry extra, {SMALL}: late penalty 2\n"
    assert told in grade(api, "dry extra")
    changed = "dry extra: late penalty 0.3 → 2, in all 3.7 → 2\n"
    assert changed in grade(api, "dry extra", force=True)
    assert submission(api, "dry extra")[1] == 0.3
    table.unlink()


def test_a_dry_run_says_what_lateness_costs_and_what_can_not_be_read(api, course, monkeypatch):
    table = course / "lessons.csv"
    table.write_text(f"lesson,due,late_percent\n{SMALL},2030-01-02 00:00,50\n", encoding="utf-8")
    hand_in(course, "dry late", 1, LATE)
    hand_in(course, "dry torn", 1, LATE)
    (course / "submitted" / "dry torn" / SMALL / f"{SMALL}.ipynb").write_text("", encoding="utf-8")
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    said = grade(api, "dry *")
    assert "dry late: new: 3 points, 1.5 off for lateness, 1 to grade by hand\n" in said
    assert "dry torn: new: not graded: The file is empty" in said
    monkeypatch.setitem(api.config.Autograde, "dry", False)
    grade(api, "dry late")
    table.write_text(f"lesson,due,late_percent\n{SMALL},2030-01-03 00:00,50\n", encoding="utf-8")
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    assert "dry late: late penalty 1.5 → 0, in all 1.5 → 3\n" in grade(api, "dry late")
    table.unlink()


def test_a_time_with_an_offset_is_the_same_to_formgrader(api, course):
    hand_in(course, "abroad", 1, "2030-01-01 20:00:00 +0200")
    grade(api, "abroad")
    assert api.get_submitted_timestamp(SMALL, "abroad") == datetime(2030, 1, 1, 18)
    assert "abroad" in api.get_autograded_students(SMALL)


def test_a_dry_run_leaves_what_the_tables_say_for_the_next(api, course, monkeypatch):
    hand_in(course, "ada", 1, EARLY)
    table = course / "learners.csv"
    table.write_text("learner,last_name\nada,Lovelace\n", encoding="utf-8")
    for dry, known in ((True, []), (False, ["Lovelace"])):
        monkeypatch.setitem(api.config.Autograde, "dry", dry)
        grade(api, "ada")
        with api.gradebook as book:
            assert [found.last_name for found in book.students if found.id == "ada"] == known
    table.unlink()


def test_who_is_not_in_learners_csv_or_no_longer_submitted_is_named(api, course):
    for learner in ("kk known", "kk stranger", "kk gone"):
        hand_in(course, learner, 1, EARLY)
    assert "learners.csv" not in grade(api, "kk*")
    table = course / "learners.csv"
    table.write_text("learner\nkk known\nkk gone\n", encoding="utf-8")
    shutil.rmtree(course / "submitted" / "kk gone")
    said = grade(api, "kk*")
    table.unlink()
    assert "not in learners.csv: kk stranger\n" in said
    assert (
        "no longer submitted, with grades that stay in the gradebook and exports: kk gone\n" in said
    )
    assert "kk gone" not in grade(api, "kk known")


def test_a_dry_run_names_who_is_not_in_learners_csv(api, course, monkeypatch):
    hand_in(course, "dry stranger", 1, EARLY)
    table = course / "learners.csv"
    table.write_text("learner\nada\n", encoding="utf-8")
    monkeypatch.setitem(api.config.Autograde, "dry", True)
    said = grade(api, "dry stranger")
    table.unlink()
    assert "not in learners.csv: dry stranger\n" in said


@pytest.mark.parametrize("dry", [False, True])
def test_a_run_that_never_began_counts_nothing(api, course, monkeypatch, dry):
    hand_in(course, "ada", 1, EARLY)
    table = course / "learners.csv"
    table.write_text("pupil\nada\n", encoding="utf-8")
    monkeypatch.setitem(api.config.Autograde, "dry", dry)
    said = grade(api, "ada", success=False)
    table.unlink()
    assert "learners.csv, line 1: there is no column 'pupil'" in said
    assert "graded" not in said and "nothing was written" not in said


def test_the_history_keeps_what_was_handed_in_and_its_grade(api, course):
    def history():
        return [(e["time"], e["grade"], e["outcome"]) for e in entries(course, "past", SMALL)]

    hand_in(course, "past", 1, EARLY)
    (course / "submitted" / "past" / SMALL / "link").symlink_to("/etc/passwd")
    grade(api, "past")
    first = ("2030-01-01 00:00:00", None, "graded")
    assert history() == [first]
    grade(api, "past", force=True)
    assert history() == [first]
    give_by_hand(api, "past", why=1)
    hand_in(course, "past", 2, LATER)
    grade(api, "past")
    assert [entry[0] for entry in history()] == [first[0], "2030-01-01 10:00:00"]
    kept = course / "history" / "past" / SMALL
    assert "x = 1" in (kept / "001" / f"{SMALL}.ipynb").read_text(encoding="utf-8")
    assert "x = 2" in (kept / "002" / f"{SMALL}.ipynb").read_text(encoding="utf-8")
    assert not (kept / "001" / "link").exists()
    (kept / "003").mkdir()
    (kept / "003" / "grade.json").write_text("{", encoding="utf-8")
    assert len(history()) == 2


def test_a_notebook_of_another_name_is_taken_if_it_is_the_only_one(api, course):
    hand_in(course, "twice", 1, EARLY)
    folder = course / "submitted" / "twice" / SMALL
    (folder / f"{SMALL}.ipynb").rename(folder / f"{SMALL} (1).ipynb")
    grade(api, "twice")
    assert submission(api, "twice")[2]["check_x"][0] == 3
    nbformat.write(small_notebook(2), folder / "draft.ipynb")
    assert "there are draft.ipynb, small (1).ipynb" in grade(api, "twice", success=False)


def release(api, *cells):
    """Release a version with these cells. Return whether that worked, and what was said."""
    path = Path(api.coursedir.root, "solutions", SMALL, f"{SMALL}.ipynb")
    nbformat.write(new_notebook(cells=list(cells)), path)
    done = api.generate_assignment(SMALL)
    return done["success"], done["log"]


def test_a_version_in_mid_term_keeps_what_was_given_by_hand(api, course):
    released = course / "notebooks" / SMALL / f"{SMALL}.ipynb"
    x, check_x, why = small_notebook(1).cells
    y = cell(new_code_cell, "y = 1", "y", solution=True)
    check_y = cell(new_code_cell, "assert y == 1", "check_y", points=4)
    worth_more = cell(new_code_cell, "assert x == 1", "check_x", points=6)
    hand_in(course, "term", 1, EARLY)
    grade(api, "term")
    give_by_hand(api, "term", check_x=2, why=1)

    assert release(api, x, worth_more, y, check_y, why)[0]
    assert "check_y" in released.read_text(encoding="utf-8")
    assert "the released notebook and the points changed" in grade(api, "term")
    score, _, grades = submission(api, "term")
    assert grades["check_x"] == (6, 2, True) and grades["why"] == (None, 1, False)
    assert grades["check_y"][0] == 0 and score == 3

    before = released.read_bytes()
    done, said = release(api, x, check_x)
    assert not done and "lacks cells in which you gave points or comments by hand: why (for" in said
    assert said.count("why (for") == 1
    assert "Traceback" not in said and released.read_bytes() == before

    assert not release(api, x, check_x, why, cell(new_code_cell, "", "x", solution=True))[0]
    assert released.read_bytes() == before

    assert release(api, x, check_x, why)[0]
    grade(api, "term")
    score, _, grades = submission(api, "term")
    assert set(grades) == {"check_x", "why"} and score == 3


def test_feedback_is_written_when_what_it_shows_has_changed(api, course):
    page = course / "feedback" / "reader" / SMALL / f"{SMALL}.html"

    def written():
        before = page.stat().st_ino if page.exists() else 0
        assert api.generate_feedback(SMALL, "reader", force=False)["success"]
        return page.stat().st_ino != before

    hand_in(course, "reader", 1, EARLY)
    grade(api, "reader")
    assert written() and not written()
    give_by_hand(api, "reader", why=2)
    assert written() and not written()
    with api.gradebook as book:
        book.find_comment("why", SMALL, SMALL, "reader").manual_comment = "Well said."
        book.db.commit()
    assert written() and "Well said." in page.read_text(encoding="utf-8")
    hand_in(course, "reader", 2, EARLY)
    grade(api, "reader")
    assert written() and not written()


def test_zero_jobs_at_a_time_is_an_error(api, course):
    hand_in(course, "idle", 1, EARLY)
    api.config.Autograde.jobs = 0
    done = api.autograde(SMALL, "idle")
    del api.config.Autograde["jobs"]
    assert not done["success"] and "Autograde.jobs is 0" in done["log"]


def test_settings_that_make_no_sense_are_a_sentence(tmp_path):
    done = run(*command(tmp_path, "autograde", SMALL, "--Autograde.jobs=two"))
    assert done.status == 1 and "Traceback" not in done.said
    assert "'jobs' trait of an Autograde instance expected an int, not the str 'two'" in done.said


def test_a_misspelled_name_is_not_graded_and_the_right_one_is_offered(api, course):
    hand_in(course, "grace", 1, EARLY)
    assert "There is no submitted/grce/small. Did you mean grace?" in grade(
        api, "grce", success=False
    )
    assert "There is no submitted/xyz/small.\n" in grade(api, "xyz", success=False)
    done = api.autograde("smll", "*")
    assert "Traceback" not in done["error"]
    assert not done["success"] and "There is no assignment smll. Did you mean small?" in done["log"]


def test_a_misspelled_lesson_is_not_released_nor_given_feedback(api, course):
    hand_in(course, "grace", 1, EARLY)
    grade(api, "grace")
    done = api.generate_assignment("smal")
    assert not done["success"]
    assert "There is no solutions/smal. Did you mean small?" in done["log"]
    done = api.generate_feedback("smal", "grace")
    assert not done["success"]
    assert "There is no autograded/grace/smal. Did you mean small?" in done["log"]


def test_a_release_and_feedback_say_where_they_are(api, course):
    hand_in(course, "grace", 1, EARLY)
    grade(api, "grace")
    assert (
        "small is released: learners get notebooks/small\n" in api.generate_assignment(SMALL)["log"]
    )
    for written in ("1 page", "0 pages"):
        log = api.generate_feedback(SMALL, "grace", force=False)["log"]
        assert f"{written} written. All are in feedback/LEARNER/small\n" in log


def test_what_was_not_released_is_not_graded(api, course):
    folder = course / "submitted" / "one" / "other"
    folder.mkdir(parents=True)
    nbformat.write(small_notebook(1), folder / "other.ipynb")
    (course / "solutions" / "other").mkdir()
    done = api.autograde("other", "one")
    assert not done["success"]
    assert "other was not released. To release it: nbgrader generate_assignment" in done["log"]
    assert "Traceback" not in done["log"]


@pytest.mark.parametrize(
    ("answer", "time"), [(2, EARLY), pytest.param(1, LATER, marks=pytest.mark.long)]
)
def test_a_grade_of_what_has_changed_since_is_named(api, course, answer, time):
    for learner in ("st fresh", "st stale", "st gone"):
        hand_in(course, learner, 1, EARLY)
    grade(api, "st *")
    files, among = files_of(api.coursedir), {"st fresh", "st stale", "st gone"}
    assert not stale_grades(files, SMALL, among)
    hand_in(course, "st stale", answer, time)
    shutil.rmtree(course / "submitted" / "st gone")
    told = (
        "Submissions to small that have changed since they were graded: st stale. `make grade "
        "LESSON=small` grades them again."
    )
    assert stale_grades(files, SMALL, among) == told
    assert api.generate_feedback(SMALL, "st stale")["log"].count(told) == 1
    assert "that have changed" not in api.generate_feedback(SMALL, "st fresh")["log"]
    assert "st stale" in " ".join(gather(SMALL, files).notes)
    to = f"--to={course / 'grades.csv'}"
    assert nbgrader(course, "export", to, "--student=st stale").count(told) == 1
    grade(api, "st stale")
    assert not stale_grades(files, SMALL, among)


def test_points_that_differ_from_the_released_ones_stop_grading(tmp_path):
    make_course(tmp_path, 1)
    with gradebook(tmp_path) as book:
        book.find_grade_cell("check_softmax", LESSON.name, LESSON.name).max_score = 7
        book.db.commit()
    done = run(*command(tmp_path, "autograde", LESSON.name))
    said = done.said
    assert done.status == 1 and "Traceback" not in said
    assert "`softmax` has 5 points, but 7 in the released notebook. Release it" in said
    assert not (tmp_path / "autograded").exists()


def test_a_lesson_that_was_changed_but_not_released_is_not_graded(tmp_path):
    make_course(tmp_path, 1)
    path = tmp_path / "solutions" / LESSON.name / f"{LESSON.name}.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells = [one for one in source.cells if grade_id_of(one) != "softmax"]
    nbformat.write(source, path)
    done = run(*command(tmp_path, "autograde", LESSON.name))
    assert done.status == 1 and "Traceback" not in done.said
    assert "is not what you released: they differ in `softmax`. Release the new" in done.said
    assert not (tmp_path / "autograded").exists()


@pytest.mark.long
def test_nothing_is_lost_while_another_works_in_the_gradebook(tmp_path):
    grades = make_course(tmp_path, 6)
    with beside.at_work(f"sqlite:///{tmp_path}/gradebook.db") as report:
        said = nbgrader(tmp_path, "autograde", LESSON.name, "--Autograde.jobs=2")
    assert "locked" not in said and "0 not graded" in said
    assert report["given"]
    assert set(report["seen"]) - {0, len(grades)}, "it did not look in the midst of the run"
    assert beside.grades_in(gradebook(tmp_path)) == (grades, set(report["given"]))
