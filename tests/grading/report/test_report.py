"""The report on a class: what it says, and that no submission can tamper with the page."""

import dataclasses
import json
import os
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from html import unescape
from urllib.parse import unquote_to_bytes

import pytest
from nbgrader import api
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from autograder.asking.answer import Answer
from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.course.__main__ import main
from autograder.grading.gradebook.course_files import course_files
from autograder.grading.pages.template import breakable
from autograder.grading.pages.untrusted import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ASPECTS,
    MOST_PROBLEMS,
    checked_verdict,
    visible,
)
from autograder.grading.report.gather import gather
from autograder.grading.report.histogram import MOST_BARS, histogram
from autograder.grading.worker.graded_cells import VERDICT
from autograder.judging.judge import judge
from autograder.references.store import find
from tests.grading.report.made import (
    EVIL,
    LESSON,
    LONG,
    Reader,
    cell,
    notebook,
    only_public,
    open_,
    problem,
    verdict,
    write_class,
    write_gradebook,
    wrong,
)
from tests.support.accessible import barriers

MAX_WORDS = "The largest `score` goes first."
CLASS = {
    "ann": notebook(verdict("softmax"), verdict("attend"), source=LONG),
    "ben": notebook(
        verdict("softmax"), verdict("attend"), source=LONG.replace("{comment}", "of my own")
    ),
    "cleo": notebook(verdict("softmax", 1), wrong("attend", "max first", MAX_WORDS)),
    "dan": notebook(
        wrong("softmax", "no exp", "Where is exp?"), wrong("attend", "max first", MAX_WORDS)
    ),
    "eve": notebook(problem("softmax", "forbidden", "softmax"), only_public("attend")),
    "fay": notebook(problem("softmax", "time", "10"), verdict("attend")),
    "gus": notebook(open_("softmax"), open_("attend"), "unanswered"),
    "hal": notebook(
        problem("softmax", "not run"), problem("attend", "not run"), "not graded", "It is cut off."
    ),
}
GRADES = {"ann": 10, "ben": 10, "cleo": 1, "dan": 0, "eve": 0, "fay": 6, "gus": 0, "hal": None}


@pytest.fixture(autouse=True)
def no_config_of_this_machine(monkeypatch, tmp_path_factory):
    """Use only the course's own configuration, not this machine's."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A course directory with the class above, graded, that no test changes."""
    folder = tmp_path_factory.mktemp("untouched")
    (folder / "nbgrader_config.py").write_text(
        "get_config().CourseDirectory.source_directory = 'solutions'", encoding="utf-8"
    )
    write_gradebook(folder / "gradebook.db", CLASS, {"ann": 1.5}, {"cleo": 2.5})
    return write_class(folder, CLASS)


@pytest.fixture(scope="module")
def found(untouched):
    """The report on it."""
    return report(untouched)


@pytest.fixture(scope="module")
def told(untouched):
    """The page on it, by sections."""
    return Reader(page(untouched))


@pytest.fixture
def course(untouched, tmp_path):
    """A copy of the course directory, to change."""
    ignored = shutil.ignore_patterns("build")  # with the pages on it
    return shutil.copytree(untouched, tmp_path, dirs_exist_ok=True, ignore=ignored)


def report(course):
    return gather(LESSON, course_files(course))


def change_grades(course, learner, *cells, **values):
    """Change a learner's grades in the gradebook, for all cells or some."""
    engine = create_engine(f"sqlite:///{course / 'gradebook.db'}")
    with Session(engine) as session:
        for grade in session.query(api.Grade).all():
            of_learner = grade.notebook.assignment.student.id == learner
            if of_learner and (not cells or grade.cell.name in cells):
                for name, value in values.items():
                    setattr(grade, name, value)
        session.commit()
    engine.dispose()


def page(course):
    assert main(["report", LESSON, f"--course={course}"]) == 0
    return (course / "build" / "report" / f"{LESSON}.html").read_text(encoding="utf-8")


# ---------------------------------------------------------------- what it says


def test_the_head_counts_submissions_and_grades(found, told):
    assert found.outcomes == {"graded": 6, "unanswered": 1, "not graded": 1}
    # A late penalty of 1.5 is deducted, and a manual score overrides the judge's.
    by_learner = {row.learner: row.grade for row in found.rows}
    assert by_learner == GRADES | {"ann": 8.5, "cleo": 3.5}
    assert found.mean == 28 / 7
    assert found.median == 3.5
    head = told.sections[""]
    assert "submissions 8 graded 6 unanswered 1 not graded 1 mean grade 4.0 of 10" in head


def test_exercises_and_aspects_say_who_got_them(found, told):
    softmax = found.exercises["softmax"]
    assert (softmax.full, softmax.partial, softmax.unanswered, softmax.lost) == (2, 1, 1, 0)
    assert {name: aspect.held for name, aspect in softmax.aspects.items()} == {
        "the shape": 7,
        "the numbers": 2,
    }
    said = told.sections["exercises"]
    assert "softmax mean 1.3 of 4 points; 1 partly right 2 of 7 (29%) 1 the shape" in said
    assert said.index("softmax") < said.index("attend")


def test_an_exercise_counts_who_has_points_for_it_and_points_given_by_hand(found, course):
    attend = found.exercises["attend"]  # cleo's 2.5 were given by hand, hal has none
    assert (attend.submissions, attend.points) == (7, 3 * 6 + 2.5)
    assert (attend.full, attend.partial, attend.unanswered, attend.lost) == (3, 1, 1, 0)
    [words] = [words for wrong, words in attend.wrong.items() if wrong.mistake == "max first"]
    assert {*words.values()} == {MAX_WORDS}
    change_grades(course, "hal", manual_score=4, needs_manual_grade=False)
    softmax = report(course).exercises["softmax"]
    assert (softmax.submissions, softmax.full, softmax.points) == (8, 3, 13)
    assert softmax.aspects["the numbers"].submissions == 7


def test_mistakes_come_by_how_many_made_them_with_the_words(found, told):
    mistakes = found.mistakes
    assert (mistakes[0].name, mistakes[0].learners) == ("max first", ["cleo", "dan"])
    assert [len(mistake.learners) for mistake in mistakes] == [2, 1, 1, 1, 1, 1]
    said = told.sections["mistakes"]
    assert "2 × attend : max first The largest score goes first. 2 learners cleo , dan" in said
    assert "not run" not in said


def test_mistakes_are_the_same_if_the_same_rule_found_them_and_the_usual_words_are_shown(course):
    told = {"w": (3, "misplaced"), "x": (3, "wrong_shape"), "y": (4, "wrong_shape")}
    for learner, (rows, rule) in (told | {"z": told["y"]}).items():
        found = wrong("softmax", "", f"It has {rows} rows.") | {"rules": [rule]}
        write_class(course, {learner: notebook(found, verdict("attend"))})
    made = {mistake.words: mistake.learners for mistake in report(course).mistakes}
    assert made["It has 4 rows."] == ["x", "y", "z"] and made["It has 3 rows."] == ["w"]


def test_requests_for_another_look_are_listed(course):
    path = course / "autograded" / "ann" / LESSON / f"{LESSON}.ipynb"
    graded = json.loads(path.read_text(encoding="utf-8"))
    graded["cells"].append(cell('ask_for_review("softmax", "It is <b>right</b>.")'))
    graded["cells"].append(cell("ask_for_review(attend)"))
    path.write_text(json.dumps(graded), encoding="utf-8")
    assert [(lead.learner, lead.exercise, lead.reason) for lead in report(course).requests] == [
        ("ann", "softmax", "It is <b>right</b>."),
        ("ann", "attend", "No reason is given."),
    ]
    assert "It is &lt;b&gt;right&lt;/b&gt;." in page(course)


def test_who_is_not_graded_comes_first(found, told):
    sections = told.sections
    assert list(sections)[1] == "not-graded" and "hal It is cut off." in sections["not-graded"]
    hal = next(row for row in found.rows if row.learner == "hal")
    assert [points.points for points in hal.points] == [None, None]


def test_answers_that_did_not_come_in_have_reasons(told):
    said = told.sections["troubles"]
    assert "fay softmax No answer after 10 seconds of computing: does a loop never end?" in said
    assert "hal softmax" not in said


def test_what_is_worth_a_look(told):
    said = told.sections["look"]
    assert "Leads, and no more" in said
    assert "eve softmax calls torch's softmax (line 3)" in said
    assert "eve attend right on all 3 cases that the notebook shows, wrong on all 2" in said
    assert "ann , bert" not in said
    assert "ann , ben softmax (5 statements, to the letter)" in said
    assert "cleo" not in said


def test_code_from_the_courses_solution_is_not_worth_a_look(course):
    assert [group.learners for group in report(course).same_code] == [("ann", "ben")]
    source = notebook(verdict("softmax"), verdict("attend"), source=LONG)
    path = course / "solutions" / LESSON / f"{LESSON}.ipynb"
    path.write_text(json.dumps(source), encoding="utf-8")
    assert report(course).same_code == []


def test_rare_mistakes_that_two_share_are_worth_a_look_and_giving_up_is_not(course):
    alike = notebook(wrong("softmax", "a slip", "One."), wrong("attend", "a slur", "Two."))
    lent = verdict("softmax", 0, given_up=True, sentence="Lent.")
    given_up = notebook(lent, wrong("attend", "a snag", "Two."))
    write_class(course, {"jon": alike, "kim": alike, "lea": given_up, "max": given_up})
    assert [group.learners for group in report(course).same_mistakes] == [("jon", "kim")]
    told = Reader(page(course)).sections["look"]
    assert "jon , kim attend : a slur (only they), softmax : a slip (only they)" in told


def test_what_cannot_be_compared_is_mentioned(course):
    right = verdict("softmax"), verdict("attend")
    write_class(course, {"pia": notebook(*right, source="#" * 60_000)})
    told = Reader(page(course)).sections["learners"]
    assert "softmax can't be compared with others: it is not valid Python, or too long." in told


def test_learners_are_listed_with_links_that_hold(course):
    write_class(course, {"zoë o'neil": notebook(verdict("softmax"), verdict("attend"))})
    reader = Reader(page(course))
    links = [link for link in reader.attributes("href") if not link.startswith("#")]
    folder = course / "build" / "report"
    assert links == []
    names = [path.parts[-2] for path in course.glob(f"autograded/*/{LESSON}")]
    for name in names:
        (course / "feedback" / name / LESSON).mkdir(parents=True)
        (course / "feedback" / name / LESSON / f"{LESSON}.html").touch()
    reader = Reader(page(course))
    links = [link for link in reader.attributes("href") if not link.startswith("#")]
    assert len(set(links)) == len(names) == 9
    assert all((folder / os.fsdecode(unquote_to_bytes(link))).is_file() for link in links)
    assert "cleo 3.5 1 2.5 graded Partly graded by hand." in reader.sections["learners"]
    late = "Okafor ann 8.5 4 6 graded Late by 2 days 5 hours: 1.5 taken off."
    assert late in reader.sections["learners"]
    assert "gus 0 – – unanswered" in reader.sections["learners"]


def test_grades_of_what_was_handed_in_before_are_mentioned(course):
    for number, grade in enumerate((2, None, 8.5), 1):
        folder = course / "history" / "ann" / LESSON / f"{number:03}"
        folder.mkdir(parents=True)
        entry = json.dumps({"digests": [str(number)], "grade": grade})
        (folder / "grade.json").write_text(entry, encoding="utf-8")
    assert "Handed in again. Grades before: 2, none." in Reader(page(course)).sections["learners"]


def test_what_was_handed_in_later_is_mentioned(course):
    (course / "submitted" / "ida" / LESSON).mkdir(parents=True)
    assert "Handed in and not graded: ida." in Reader(page(course)).sections[""]


@pytest.mark.parametrize("other", ["", "another"])
def test_without_a_gradebook_points_are_the_judges(course, other):
    book = course / "gradebook.db"
    book.unlink()
    told = "There is no gradebook: there is no file gradebook.db."
    if other:
        write_gradebook(book, {}, lesson=other)
        told = f"The gradebook has no lesson '{LESSON}', only {other}."
    assert {row.learner: row.grade for row in report(course).rows} == GRADES
    found = unescape(page(course))
    assert told in found and "the judge's: none by hand, no late penalties" in found
    assert book.exists() == bool(other)


def test_the_gradebook_is_where_the_configuration_says_and_only_read(course):
    elsewhere = course / "grades.db"
    (course / "gradebook.db").rename(elsewhere)
    config = course / "nbgrader_config.py"
    with config.open("a", encoding="utf-8") as file:
        file.write(f"\nget_config().CourseDirectory.db_url = 'sqlite:///{elsewhere}'")
    before = elsewhere.read_bytes()
    assert report(course).rows[0].grade == 8.5
    assert elsewhere.read_bytes() == before


def test_a_submission_without_notebook_keeps_its_line(course):
    shutil.rmtree(course / "autograded" / "fay" / LESSON)
    row = next(row for row in report(course).rows if row.learner == "fay")
    assert (row.grade, row.outcome) == (6, "unreadable")
    assert "there is no autograded notebook: grade it again" in page(course)


def test_everybody_can_use_the_page(untouched, told):
    assert barriers(untouched / "build" / "report" / f"{LESSON}.html") == []


# ---------------------------------------------------------------- nothing to report on


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["02_unknown"], "There is no lesson '02_unknown'"),
        (["../../etc"], "There is no lesson"),
        (["02_empty"], "run `make grade LESSON=02_empty` first"),
    ],
)
def test_one_sentence_names_the_remedy(course, capsys, arguments, words):
    (course / "solutions" / "02_empty").mkdir()
    assert main(["report", *arguments, f"--course={course}"]) == 2
    told = capsys.readouterr()
    assert words in told.err and len(told.err.splitlines()) == 1
    assert not (course / "build").exists()


def test_the_course_directory_must_be_there(tmp_path, capsys):
    assert main(["report", LESSON, f"--course={tmp_path / 'none'}"]) == 2
    assert "name one with --course" in capsys.readouterr().err


def test_the_page_goes_where_it_is_told(course, capsys):
    there = course / "pages" / "one.html"
    assert main(["report", LESSON, f"--course={course}", f"--output={there}"]) == 0
    assert str(there) in capsys.readouterr().out
    assert [path.name for path in there.parent.iterdir()] == ["one.html"]


# ---------------------------------------------------------------- hostile and broken


PLACE = {"line": 3, "code": EVIL, "function": EVIL}


def evil_verdict(exercise):
    aspect = {"name": EVIL, "points": 1, "held": True}
    return {
        "exercise": exercise,
        "points": 1,
        "max_points": 2,
        "aspects": [aspect] * 1000,
        "sentence": EVIL * 10_000 + "\u202e\x00\ud800",
        "mistake": EVIL,
        "answered": True,
        "problems": [
            {"kind": "forbidden", "detail": EVIL, "place": PLACE},
            {"kind": "time", "detail": EVIL},
        ]
        * 1000,
    }


def test_what_submissions_hold_stays_text(course):
    bad = notebook(evil_verdict("softmax"), evil_verdict("attend"), "not graded", EVIL * 1000)
    bad["cells"].append(cell("", **{VERDICT: evil_verdict(EVIL)}))
    write_class(course, {"mallory": bad})
    text = page(course)
    reader = Reader(text)
    tags = [tag for tag, _ in reader.elements]
    assert tags.count("script") == 1
    assert not {"img", "iframe", "object", "link", "base", "form"} & set(tags)
    assert not any(name.startswith("on") for _, found in reader.elements for name in found)
    assert "<script>alert(1)" in reader.sections["mistakes"]
    assert "{{ 7 * 7 }}" in reader.sections["mistakes"] and "\u202e" not in text
    assert len(text) < 150_000
    assert not any("://" in link for link in reader.attributes("href"))


def test_the_page_needs_nothing_else_and_runs_its_own_script_only(untouched):
    text = page(untouched)
    reader = Reader(text)
    assert not reader.attributes("src") and "@import" not in text and "url(" not in text
    assert not re.search(r"(?:https?:)?//\w", re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL)[1]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = next(p for p in reader.attributes("content") if "script-src" in p)
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy


def damaged(**changes):
    return notebook(verdict("softmax") | changes, verdict("attend"))


BROKEN = [
    (b"", "it is not valid JSON"),
    (b'{"cells": [', "it is not valid JSON"),
    (b"\xff\xfe\x00", "can't be read"),
    (b"null", "it has no cells"),
    (b'{"cells": 3}', "it has no cells"),
    (b"[" * 100_000, "nested too deeply"),
    ({"cells": [None, 1, {}, {"metadata": []}]}, "holds no verdicts: grade it again"),
    (damaged(points=float("nan")), "a number from 0 to 10,000 was expected"),
    (damaged(points=10**400), "a number from 0 to 10,000 was expected"),
    (damaged(aspects=[None]), "an aspect without a name"),
    (damaged(sentence=5), "int where a text is due"),
    (damaged(problems="all"), "a list of problems was expected"),
    (damaged(exercise="another"), "'another', which is not in the lesson"),
    (notebook(verdict("softmax"), verdict("attend"), "splendid"), "of its run is damaged"),
]


def test_a_broken_notebook_costs_a_line(course, found):
    learners = {f"zed{number:02}": broken for number, (broken, _) in enumerate(BROKEN)}
    write_class(course, learners)
    rows = report(course).rows
    remarks = {row.learner: " ".join(row.remarks) for row in rows}
    for learner, (_, words) in zip(learners, BROKEN, strict=True):
        assert words in remarks[learner], learner
    assert rows[: len(CLASS)] == found.rows
    sections = Reader(page(course)).sections
    assert all(words in sections["learners"] for _, words in BROKEN)
    assert "graded 6" in sections[""]


def test_a_file_that_is_not_a_notebook_costs_a_line(course):
    path = course / "autograded" / "zed" / LESSON / f"{LESSON}.ipynb"
    path.mkdir(parents=True)
    assert "there is no file" in Reader(page(course)).sections["learners"]


def test_a_damaged_gradebook_is_a_sentence_and_no_page(course, capsys):
    (course / "gradebook.db").write_bytes(b"no database at all" * 100)
    assert main(["report", LESSON, f"--course={course}"]) == 2
    assert "The gradebook can't be read (DatabaseError)" in capsys.readouterr().err
    assert not (course / "build").exists()


def test_what_was_not_graded_is_settled_by_points_given_by_hand(course):
    change_grades(course, "hal", manual_score=2, needs_manual_grade=False)
    found = report(course)
    [hal] = [row for row in found.rows if row.learner == "hal"]
    assert (hal.outcome, hal.grade) == ("graded", 4)
    assert found.not_graded == []
    assert "hal" not in [lead.learner for lead in found.ended_early]


def test_what_a_person_still_has_to_grade_is_not_graded(course):
    change_grades(course, "ann", "check_attend", auto_score=None, needs_manual_grade=True)
    found = report(course)
    ann = found.rows[0]
    assert (ann.outcome, ann.grade) == ("not graded", None)
    assert found.outcomes == {"graded": 5, "unanswered": 1, "not graded": 2}
    assert ("ann", "To grade by hand: `attend`.") in found.not_graded
    sections = Reader(page(course)).sections
    assert f"{LESSON}: 1 submission to grade by hand, in formgrader." in sections[""]
    assert "hal – – – not graded To grade by hand: everything." in sections["learners"]


def test_the_table_of_adjustments_counts_and_is_named(course):
    rows = [(LESSON, "check_attend", "full", "cleo"), (LESSON, "check_softmax", "excused", "hal")]
    rows += [(LESSON, "check_attend", "full", "hal"), ("other", "a", "1", "")]
    table = ["lesson,cell,points,learner", *map(",".join, rows)]
    (course / "adjustments.csv").write_text("\n".join(table))
    found = report(course)
    [cleo, hal] = [row for row in found.rows if row.learner in ("cleo", "hal")]
    assert "In adjustments.csv: `attend`." in cleo.remarks
    assert (hal.outcome, hal.grade) == ("graded", found.most)
    assert found.notes[:2] == [
        "By adjustments.csv, cleo gets all points for `check_attend`.",
        "By adjustments.csv, `check_softmax` doesn't count for hal.",
    ]
    assert not any("other" in note for note in found.notes)


def test_without_a_row_in_the_gradebook_nothing_is_graded(course):
    write_class(course, {"zed": CLASS["ann"]})
    found = report(course)
    assert (found.rows[-1].outcome, found.rows[-1].grade) == ("not graded", None)
    assert ("zed", "There is no grade in the gradebook.") in found.not_graded


def test_mistakes_are_counted_among_those_with_a_judged_answer(course):
    change_grades(course, "cleo", "check_attend", manual_score=None, needs_manual_grade=True)
    assert [row.learner for row in report(course).rows if row.judged] == [*CLASS][:6]


def test_a_verdict_is_cut_to_a_reasonable_size():
    found = checked_verdict(evil_verdict(EVIL * 1000))
    assert len(found["aspects"]) == MOST_ASPECTS
    assert len(found["problems"]) == MOST_PROBLEMS
    assert len(found["exercise"]) == LONGEST_NAME
    assert len(found["sentence"]) == LONGEST_TEXT


def test_text_is_cut_and_cleaned():
    assert visible("a\n\tb  c") == "a b c"
    assert visible("x" * 1000, 10) == "xxxxxxxxx…"
    assert visible("a\u202eb\x07\ud800", 10) == "a\N{REPLACEMENT CHARACTER}b" + (
        "\N{REPLACEMENT CHARACTER}" * 2
    )


def test_long_names_can_be_broken_and_stay_text():
    assert breakable("load_from_torch") == "load_<wbr>from_<wbr>torch"
    assert breakable("KerasMultiHead") == "Keras<wbr>Multi<wbr>Head"
    assert breakable("a_<b>") == "a_<wbr>&lt;b&gt;"


# ---------------------------------------------------------------- grades as a picture


@pytest.mark.parametrize("most", [1, 15, 28, 29, 100, 1000, 99_999])
def test_every_grade_is_in_a_bar(most):
    grades = [0, 0.5, most / 2, most, most + 1.5]  # the last one with extra credit
    drawn = histogram(grades, most, 1, most)
    assert sum(bar.count for bar in drawn.bars) == len(grades)
    assert len(drawn.bars) <= MOST_BARS
    assert max(bar.height for bar in drawn.bars) == 100
    assert all((bar.height > 0) == (bar.count > 0) for bar in drawn.bars)
    assert 0 <= drawn.mean <= 100 and 0 <= drawn.median <= 100


# ---------------------------------------------------------------- what the judge records


def test_a_verdict_counts_public_and_hidden_cases():
    key = find("softmax").keys["softmax"]
    hidden = [dataclasses.replace(case, hidden=i % 2 == 1) for i, case in enumerate(key.cases)]
    key = dataclasses.replace(key, cases=hidden, mistakes=[])
    answers = [
        Answer({name: value + case.hidden for name, value in case.expected.items()})
        for case in key.cases
    ]
    aspects = checked_verdict(judge(key, answers).summary())["aspects"]
    shown, only_graded = [a["public"] for a in aspects], [a["hidden"] for a in aspects]
    counted = [key.cases[number].hidden for aspect in key.aspects for number in aspect.cases]
    assert sum(c["right"] for c in shown) == sum(c["of"] for c in shown) == counted.count(False)
    assert sum(c["of"] for c in only_graded) == counted.count(True) > 0
    assert sum(c["right"] for c in only_graded) == 0


def test_a_verdict_names_each_problem_once():
    key = find("softmax").keys["softmax"]
    answers = [
        Answer(problem=Problem(ProblemKind.FORBIDDEN, "softmax", Place(i)))
        for i in range(len(key.cases))
    ]
    verdict = judge(key, answers).summary()
    [problem] = verdict["problems"]
    assert (problem["kind"], problem["detail"]) == ("forbidden", "softmax")
    assert problem["place"] == {"line": 0, "code": "", "function": ""}


def test_a_required_error_is_not_a_problem():
    key = find("softmax").keys["softmax"]
    cases = [dataclasses.replace(case, raises="ValueError", expected={}) for case in key.cases]
    key = dataclasses.replace(key, cases=cases, mistakes=[])
    answers = [Answer(problem=Problem(ProblemKind.RAISED, "ValueError: no"))] * len(cases)
    assert judge(key, answers).summary()["problems"] == []
