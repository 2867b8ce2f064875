"""The report over all lessons: how learners progress, who is missing, which mistakes persist."""

import os
import shutil
from datetime import timedelta
from urllib.parse import unquote_to_bytes

import pytest
from bs4 import BeautifulSoup
from nbgrader import api
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from autograder.course.__main__ import main
from autograder.grading.gradebook.course_files import course_files
from autograder.grading.gradebook.grades import CellGrade, Grade, LessonGrades
from autograder.grading.pages.template import percent
from autograder.grading.report.make_report import make_report
from autograder.grading.report.report_pages import render_term_page
from autograder.grading.report.submissions import Submission
from autograder.grading.report.term_report import gather_term, make_term_report
from autograder.grading.term.tables import Term
from tests.grading.report.disguise import disguised
from tests.grading.report.made import (
    DUE,
    EVIL,
    LONG,
    POINTS,
    notebook,
    open_,
    problem,
    verdict,
    write_class,
    write_gradebook,
    write_graded,
    wrong,
)
from tests.support.accessible import barriers

ONE, TWO, THREE, OWN = "01_one", "02_two", "03_three", "04_own"
SCALE = ("not scaled", "Divide the scores by `√d_k`.")
SHAPE = "`weights` should have shape (2, 3); it has (3, 2)."
FULL = notebook(verdict("softmax"), verdict("attend"))
LOST = notebook(verdict("softmax"), verdict("attend", 2, sentence=SHAPE, rules=("wrong_shape",)))
CUT_OFF = [problem(exercise, "not run") for exercise in POINTS]
LESSONS = {
    ONE: {
        "ann": FULL,
        "ben": notebook(wrong("softmax", *SCALE), verdict("attend")),
        "cleo": notebook(wrong("softmax", *SCALE), wrong("attend", *SCALE)),
        "dan": LOST,
    },
    TWO: {
        "ann": notebook(verdict("softmax"), verdict("attend", 3)),
        "ben": notebook(verdict("softmax"), wrong("attend", *SCALE)),
        "cleo": notebook(wrong("softmax", *SCALE), verdict("attend")),
        "dan": LOST,
        "eve": notebook(*CUT_OFF, "not graded", "It is cut off."),
    },
    THREE: {
        "ann": notebook(open_("softmax"), open_("attend"), "unanswered"),
        "ben": notebook(verdict("softmax"), wrong("attend", *SCALE)),
    },
}
LEARNERS = "learner,first_name,last_name\nann,Ann,Abara\nben,,\ncleo,,\ndan,,\neve,,\ngus,Gus,Ito\n"
EXTENSIONS = f"learner,lesson,due\ncleo,{THREE},excused\ndan,{THREE},2099-01-01 00:00\n"


@pytest.fixture(autouse=True)
def no_config_of_this_machine(monkeypatch, tmp_path_factory):
    """Use only the course's own configuration, not this machine's."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A course of three graded lessons that no test changes; gus handed in nothing."""
    folder = tmp_path_factory.mktemp("untouched")
    config = "get_config().CourseDirectory.source_directory = 'solutions'"
    (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    for lesson, notebooks in LESSONS.items():
        write_class(folder, notebooks, lesson)
        late = {"ben": 1} if lesson == TWO else {}
        write_gradebook(folder / "gradebook.db", notebooks, late, lesson=lesson)
    (folder / "lessons.csv").write_text(
        "lesson,due\n" + "".join(f"{lesson},2020-01-01 00:00\n" for lesson in LESSONS),
        encoding="utf-8",
    )
    (folder / "learners.csv").write_text(LEARNERS, encoding="utf-8")
    (folder / "extensions.csv").write_text(EXTENSIONS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(untouched):
    """The page on it."""
    return page(untouched)


@pytest.fixture
def course(untouched, tmp_path):
    """A copy of the course directory, to change."""
    ignored = shutil.ignore_patterns("build")  # with the pages on it
    return shutil.copytree(untouched, tmp_path, dirs_exist_ok=True, ignore=ignored)


def give_feedback(course):
    for path in course.glob("autograded/*/*"):
        folder = course / "feedback" / path.relative_to(course / "autograded")
        folder.mkdir(parents=True)
        (folder / f"{path.name}.html").touch()


def page(course):
    assert main(["report", f"--course={course}"]) == 0
    text = (course / "build" / "report" / "term" / "index.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def words(element):
    return " ".join(element.get_text(" ").split())


def section(page, name):
    """The words below a heading."""
    parts = []
    for element in page.find(id=name).find_next_siblings():
        if element.name == "h2":
            break
        parts.append(words(element))
    return " ".join(parts)


def rows(table):
    return [
        [words(cell) for cell in row.find_all(["th", "td"])] for row in table.tbody.find_all("tr")
    ]


def learners_table(page):
    return next(table for table in page.find_all("table") if "by-learner" in table.get("class", []))


# ---------------------------------------------------------------- what it says


def test_each_learner_has_a_row_with_the_share_of_each_lesson(found):
    assert rows(learners_table(found)) == [
        ["Ann Abara ann", "57% 17 of 30", "0", "100%", "70%", "0%"],
        ["Okafor ben", "43% 13 of 30", "0", "60%", "30% 2 days 5 hours late", "40%"],
        ["cleo", "30% 6 of 20", "0", "0%", "60%", "excused"],
        ["dan", "60% 12 of 20", "0", "60%", "60%", "not due yet"],
        ["eve", "0% 0 of 20", "2", "missing", "not graded", "missing"],
        ["Gus Ito gus", "0% 0 of 30", "3", "missing", "missing", "missing"],
    ]


def test_each_lesson_has_a_row_with_counts(found):
    table = found.find(id="lessons").find_next("table")
    assert rows(table) == [
        ["01_ one of 10", "4 of 6 (67%)", "0", "0", "2", "5.5", "6"],
        ["02_ two of 10", "5 of 6 (83%)", "1", "1", "1", "5.5", "6"],
        ["03_ three of 10", "2 of 5 (40%)", "0", "0", "2", "2.0", "2"],
    ]


def test_who_handed_in_nothing_is_listed_by_lesson(found):
    told = section(found, "missing")
    assert told.startswith("In no lesson at all: Gus Ito gus .")
    assert "01_ one: 2 learners eve , Gus Ito gus" in told
    assert "02_ two: 1 learner Gus Ito gus" in told
    assert "03_ three: 2 learners eve , Gus Ito gus" in told
    assert "cleo" not in told and "dan" not in told


def test_who_is_not_in_the_table_of_learners_is_counted_apart(course):
    known = [line for line in LEARNERS.splitlines(True) if not line.startswith(("ben", "eve"))]
    (course / "learners.csv").write_text("".join(known), encoding="utf-8")
    found = page(course)
    assert "learners 4 not in learners.csv 2 graded lessons 3" in words(found.header)
    table = found.find(id="lessons").find_next("table")
    assert [row[1:5] for row in rows(table)] == [
        ["3 of 4 (75%) and 1 not in learners.csv", "0", "0", "1"],
        ["3 of 4 (75%) and 2 not in learners.csv", "1", "1", "1"],
        ["1 of 3 (33%) and 1 not in learners.csv", "0", "0", "1"],
    ]
    assert rows(learners_table(found))[4] == [
        "eve not in learners.csv",
        "– 0 of 0",
        "0",
        "not expected",
        "not graded",
        "not expected",
    ]
    assert "eve" not in section(found, "missing")


def test_minutes_late_are_not_a_day(course):
    engine = create_engine(f"sqlite:///{course}/gradebook.db")
    with Session(engine) as session:
        for handed_in in session.query(api.SubmittedAssignment).all():
            if handed_in.late_submission_penalty:
                handed_in.timestamp = DUE + handed_in.extension + timedelta(minutes=31)
        session.commit()
    engine.dispose()
    ben = rows(learners_table(page(course)))[1]
    assert ben[4] == "30% 31 minutes late"
    told = (course / "build" / "report" / f"{TWO}.html").read_text(encoding="utf-8")
    assert "Late by 31 minutes" in told


def test_who_is_excused_from_all_is_not_gone(course):
    lines = [f"gus,{lesson},excused\n" for lesson in LESSONS]
    with (course / "extensions.csv").open("a", encoding="utf-8") as file:
        file.writelines(lines)
    found = page(course)
    assert "gus" not in section(found, "missing")
    table = found.find(id="lessons").find_next("table")
    shares = [row[1] for row in rows(table)]
    assert shares == ["4 of 5 (80%)", "5 of 5 (100%)", "2 of 4 (50%)"]


def test_mistakes_persist_in_the_class(found):
    head, *_ = found.find(id="mistakes").find_all_next("table")
    kinds = {row[0]: row[1:] for row in rows(head)}
    most = "1 of 1 100% still most"
    assert kinds["not scaled known mistake"] == ["2 of 4 50%", "2 of 4 50%", most]
    assert kinds["wrong shape in general"] == ["1 of 4 25%", "1 of 4 25%", "–"]
    assert kinds["the numbers aspect lost"] == ["3 of 4 75%", "4 of 4 100% still most", most]


def test_most_still_make_a_mistake_in_a_later_lesson_only(untouched):
    found = {one.kind.name: one for one in gather_term(course_files(untouched)).persistent}
    assert found["not scaled"].most_still == [THREE]
    assert found["wrong shape"].most_still == []


def test_mistakes_persist_by_learner(found):
    told = section(found, "mistakes")
    assert "not scaled (known mistake): 2 learners" in told
    assert "Okafor ben 01_ one: softmax 02_ two: attend 03_ three: attend" in told
    assert "cleo 01_ one: softmax , attend 02_ two: softmax" in told
    assert "wrong shape (in general): 1 learner" in told


def test_a_mistake_of_one_lesson_does_not_persist(course):
    once = notebook(wrong("softmax", "only here", "Once."), verdict("attend"))
    write_class(course, {"hal": once}, ONE)
    assert "only here" not in section(page(course), "mistakes")


def test_links_lead_to_pages_that_are_there(course):
    give_feedback(course)
    found = page(course)
    folder = course / "build" / "report" / "term"
    links = {link["href"].partition("#")[0] for link in found.find_all("a")} - {""}
    paths = {os.fsdecode(unquote_to_bytes(link)) for link in links}
    assert all((folder / path).is_file() and path.endswith(".html") for path in paths)
    assert f"../{ONE}.html" in links
    assert f"../../../feedback/ben/{TWO}/{TWO}.html" in links
    row = next(row for row in learners_table(found).tbody.find_all("tr") if "cleo" in row.text)
    assert [cell.a["href"].split("/")[-2] for cell in row.find_all("td") if cell.a] == [ONE, TWO]
    again = next(one for one in found.find_all("details") if "not scaled" in one.summary.text)
    assert {link["href"] for link in again.find_all("a")} <= links


def test_without_feedback_pages_there_are_no_links_to_them(found):
    assert not any("feedback" in link["href"] for link in found.find_all("a"))


def test_pairs_that_are_alike_in_several_lessons_are_a_lead(course):
    long = LONG.replace("{}", "f").replace("{comment}", "mine")
    for lesson in (ONE, TWO):
        for learner, code in (("ida", long), ("jon", disguised(long))):
            copied = notebook(verdict("softmax"), verdict("attend"))
            copied["cells"][0]["source"] = code.replace("def f", "def softmax")
            copied["cells"][2]["source"] = code.replace("def f", "def attend")
            write_class(course, {learner: copied}, lesson)
    assert "ida , jon 01_ one , 02_ two" in section(page(course), "look")
    report = (course / "build" / "report" / f"{ONE}.html").read_text(encoding="utf-8")
    assert "(5 statements, names or order changed)" in report


def test_a_lesson_that_nobody_has_graded_is_mentioned(course):
    (course / "submitted" / "ann" / "05_new").mkdir(parents=True)
    (course / "solutions" / "05_new").mkdir()
    told = words(page(course).find(class_="notes"))
    assert "05_new is not on this page: 1 handed it in, and nobody is graded yet." in told


def test_a_submission_that_waits_is_not_graded_and_not_missing(course):
    (course / "submitted" / "gus" / ONE).mkdir(parents=True)
    row = next(row for row in rows(learners_table(page(course))) if "gus" in row[0])
    assert row[2:4] == ["2", "not graded"]


# ---------------------------------------------------------------- other courses


def write_own(course):
    """Write an instructor's own assignment with two notebooks, graded by hand."""
    engine = create_engine(f"sqlite:///{course / 'gradebook.db'}")
    with Session(engine) as session:
        assignment = api.Assignment(name=OWN, course=session.merge(api.Course(id="course")))
        session.add(assignment)
        ann = session.get(api.Student, "ann")
        handed_in = api.SubmittedAssignment(assignment=assignment, student=ann)
        for name in ("essay", "tables"):
            book = api.Notebook(name=name, assignment=assignment)
            cell = api.GradeCell(name=f"q_{name}", max_score=5, cell_type="code", notebook=book)
            copy = api.SubmittedNotebook(notebook=book, assignment=handed_in)
            given = {"manual_score": 4, "needs_manual_grade": False}
            session.add(api.Grade(cell=cell, notebook=copy, **given))
        session.commit()
    engine.dispose()
    for name in ("essay", "tables"):
        path = course / "autograded" / "ann" / OWN / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        run = {"outcome": "graded", "reason": "", "seconds": 1}
        write_graded({"cells": [], "metadata": {}, "run": run}, path)
    feedback = course / "feedback" / "ann" / OWN
    feedback.mkdir(parents=True)
    (feedback / "tables.html").touch()


def test_an_own_lesson_of_several_notebooks_counts_like_one_of_the_course(course):
    write_own(course)
    found = page(course)
    row = learners_table(found).tbody.find("tr")
    assert words(row).endswith("80%") and row.find_all("td")[-1].a["href"].endswith("/tables.html")
    own = (course / "build" / "report" / f"{OWN}.html").read_text(encoding="utf-8")
    assert "unreadable" not in own and "<dt>graded</dt><dd>1</dd>" in own


def test_without_a_gradebook_there_are_the_judges_points(course):
    (course / "gradebook.db").unlink()
    found = page(course)
    assert "There is no gradebook: " in words(found.find(class_="notes"))
    ben = next(row for row in rows(learners_table(found)) if row[0] == "ben")
    assert ben[3:] == ["60%", "40%", "40%"]


def test_without_tables_the_learners_are_those_of_the_gradebook(course):
    for table in ("learners", "lessons", "extensions"):
        (course / f"{table}.csv").unlink()
    assert [row[0] for row in rows(learners_table(page(course)))] == [
        "ann",
        "Okafor ben",
        "cleo",
        "dan",
        "eve",
    ]


def test_with_a_lesson_only_its_page_is_written(course):
    assert main(["report", ONE, f"--course={course}"]) == 0
    assert [path.name for path in (course / "build" / "report").iterdir()] == [f"{ONE}.html"]


def test_without_a_lesson_all_pages_are_written(course, capsys):
    page(course)
    assert {path.name for path in (course / "build" / "report").iterdir()} == {
        *(f"{lesson}.html" for lesson in LESSONS),
        "term",
    }
    assert "The report on the term is in" in capsys.readouterr().out


def test_the_page_on_the_term_goes_where_it_is_told(course):
    there = course / "pages" / "term.html"
    assert main(["report", f"--course={course}", f"--output={there}"]) == 0
    links = BeautifulSoup(there.read_text(encoding="utf-8"), "html.parser").find_all("a")
    assert f"../build/report/{ONE}.html" in {link["href"] for link in links}


@pytest.mark.parametrize(
    ("learners", "sentence"),
    [
        (LEARNERS, "Nothing is graded in"),
        ("name\nann\n", "learners.csv, line 1: there is no column 'name'"),
    ],
)
def test_one_sentence_says_why_there_is_no_page(tmp_path, capsys, learners, sentence):
    write_gradebook(tmp_path / "gradebook.db", {}, lesson=ONE)
    (tmp_path / "learners.csv").write_text(learners, encoding="utf-8")
    assert main(["report", f"--course={tmp_path}"]) == 2
    told = capsys.readouterr().err
    assert sentence in told and len(told.splitlines()) == 1
    assert not (tmp_path / "build").exists()


# ---------------------------------------------------------------- the page itself


def test_everybody_can_use_the_page(untouched, found):
    assert barriers(untouched / "build" / "report" / "term" / "index.html") == []


def test_the_page_can_be_read_by_anybody(found):
    assert found.html["lang"] == "en"
    tables = found.find_all("table")
    assert tables and all(table.caption for table in tables)
    assert all(head.get("scope") in ("row", "col") for head in found.find_all("th"))
    assert all(row.th["scope"] == "row" for row in learners_table(found).tbody.find_all("tr"))
    assert not found.find_all(["img", "link", "iframe"]) and len(found.find_all("script")) == 1
    # Colors repeat what the words say.
    assert all(words(cell) for cell in learners_table(found).find_all("td"))


def test_hostile_names_stay_text_and_folders_that_can_have_none_are_left_out(course):
    evil = f"mallory {EVIL.replace('/', '')}\u202e"
    write_class(course, {evil.replace("mallory", "trudy"): LESSONS[ONE]["cleo"]})
    (course / "autograded" / os.fsdecode(b"\xff") / ONE).mkdir(parents=True)
    engine = create_engine(f"sqlite:///{course}/gradebook.db")
    with Session(engine) as session:
        session.get(api.Student, "cleo").last_name = evil
        session.commit()
    engine.dispose()
    found = page(course)
    assert len(found.find_all("script")) == 1 and not found.find_all("img")
    assert not any(name.startswith("on") for tag in found.find_all() for name in tag.attrs)
    assert "mallory <script>alert(1)" in words(learners_table(found))
    assert "trudy" not in str(found)
    assert "\u202e" not in str(found) and "{{ 7 * 7 }}" in str(found)


def test_less_than_all_is_less_than_a_hundred_percent():
    assert [percent(value) for value in (0, 0.4, 49.6, 99.6, 100, 105)] == [
        "0%",
        "0%",
        "50%",
        "99%",
        "100%",
        "105%",
    ]


def test_a_thousand_learners_and_ten_lessons_fit_on_a_page(tmp_path):
    learners = [f"learner_{number:04}" for number in range(1000)]
    names = [f"{number:02}_a_lesson_of_the_term" for number in range(1, 11)]

    def report(lesson):
        told = {"attend": wrong("attend", *SCALE)}
        handed_in = [Submission(one, 1.0, dict(told), outcome="graded") for one in learners]
        cell = CellGrade("check_attend", POINTS["attend"], 3.0, None)
        grades = LessonGrades(
            cells=[(cell.name, cell.most)],
            released={cell.name: "check(attend)"},
            learners={one: Grade((cell,)) for one in learners},
        )
        return make_report(lesson, handed_in, grades, {})

    term = make_term_report(list(map(report, names)), Term(), course_files(tmp_path))
    pages = {name: tmp_path / f"{name}.html" for name in names}
    assert len(render_term_page(term, tmp_path, tmp_path / "feedback", pages)) < 3_000_000
