"""Submissions come from the systems' zips, and feedback goes back under the same names."""

import json
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading.submission.plain_files import MOST_FILE_BYTES
from tests.grading.lms.worksheets import BLIND, ENGLISH, GERMAN
from tests.grading.term.made_course import FIRST

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NOTEBOOK = f"{FIRST}.ipynb"


def submitted(course):
    """Return the submitted files and their contents."""
    root = course.root / "submitted"
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def give_feedback(course, *learners):
    for learner in learners:
        course.write(f"feedback/{learner}/{FIRST}/{FIRST}.html", f"<p>{learner}</p>")


def pages(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


CANVAS = [
    f"kingada_101_2001_{NOTEBOOK}",
    f"müllerobrienzoë_LATE_102_2002_{FIRST}-1.ipynb",
    f"_under_score_tim_103_2003_{FIRST} (1).ipynb",
    "kingada_101_2004_notes.txt",
]


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch):
    monkeypatch.setenv("COURSE_TIME_ZONE", "Europe/Berlin")


def test_canvas_there_and_back(course, lms, zipped, tmp_path, capfd):
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS)) == 0
    assert submitted(course) == {
        f"ada/{FIRST}/{NOTEBOOK}": CANVAS[0],
        f"tim/{FIRST}/{NOTEBOOK}": CANVAS[2],
        f"zoe/{FIRST}/{NOTEBOOK}": CANVAS[1],
    }
    said = capfd.readouterr()
    assert (
        "Canvas says that these are late, but not how late, so no points come off: zoe" in said.err
    )
    assert "kingada_101_2004_notes.txt is not a notebook" in said.err
    assert f"Collected {FIRST} from 3 learners" in said.out
    give_feedback(course, "ada", "zoe", "tim")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 0
    assert pages(path) == {
        f"kingada_101_2001_{FIRST}.html": "<p>ada</p>",
        f"müllerobrienzoë_LATE_102_2002_{FIRST}.html": "<p>zoe</p>",
        f"_under_score_tim_103_2003_{FIRST}.html": "<p>tim</p>",
    }
    said = capfd.readouterr()
    assert "Without a feedback page: Ill Excused (ill); Noor Späth (new)" in said.err
    assert f"3 pages are in {path}" in said.out


LATE_ONE = {"user_id": 102, "submitted_at": "2026-10-06T09:00:00Z", "late": True}
STRANGER = {"user_id": 999, "submitted_at": "2026-10-06T09:00:00Z"}
OTHERS = [{"user_id": 103, "submitted_at": None}, STRANGER]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("times.json", json.dumps([LATE_ONE, *OTHERS])),
        ("two pages.txt", f"{json.dumps(OTHERS)}\n{json.dumps([LATE_ONE])}\n"),
        ("times.csv", "user_id;submitted_at\n102;2026-10-06T09:00:00Z\n103;\n"),
    ],
)
def test_canvas_api_knows_the_times(course, lms, zipped, capfd, name, text):
    sheet = f"--worksheet={course.write(name, text)}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS), sheet) == 0
    assert "not how late" not in capfd.readouterr().err
    times = [name for name in submitted(course) if name.endswith("timestamp.txt")]
    assert times == [f"zoe/{FIRST}/timestamp.txt"]
    assert submitted(course)[times[0]].startswith("2026-10-06 09:00:00")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("times.json", "[{]", "times.json is not JSON ("),
        ("times.json", "[], []", "times.json is not JSON ("),
        ("times.json", "", "times.json is not JSON ("),
        ("times.json", "<html>", "times.json is a web page. Download the answer of Canvas's"),
        ("times.csv", "%PDF-1.7", "times.csv is a PDF. Name a table, as a CSV file"),
        ("times.json", '{"errors": [{"message": "Invalid access token."}]}', "has no user_id"),
        ("times.json", "[1]", "times.json has no user_id or submitted_at: name the answer"),
        ("times.csv", "ID,late\n101,yes\n", "times.csv has no user_id or submitted_at"),
        *(
            (
                "times.json",
                f'[{{"user_id": {nobody}, "submitted_at": "2026-03-02T10:00:00Z"}}]',
                "times.json: the row with the time 2026-03-02T10:00:00Z has no user_id",
            )
            for nobody in ('""', '" "', "null")
        ),
        ("times.csv", "user_id,submitted_at\n101,noon\n", "user_id 101: 'noon' is not a date"),
        ("times.json", None, "times.json can't be read (No such file or directory)"),
    ],
)
def test_times_that_can_not_be_read_are_a_sentence(course, lms, zipped, capfd, name, text, told):
    path = course.root / name if text is None else course.write(name, text)
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS), f"--worksheet={path}") == 1
    assert told in capfd.readouterr().err and not submitted(course)


MOODLE = {
    "ada": "Ada King Countess of Lovelace_1001_assignsubmission_file",
    "zoe": "Zoë Müller-O'Brien_1002_assignsubmission_file",
    "tim": ".Tim Under Score Slash_1003_assignsubmission_file",
}
BACK = {
    f"Ada King, Countess of Lovelace_1001_assignfeedback_file/{FIRST}.html": "<p>ada</p>",
    f"Zoë Müller-O'Brien_1002_assignfeedback_file/{FIRST}.html": "<p>zoe</p>",
    f"Tim Under Score Slash_1003_assignfeedback_file/{FIRST}.html": "<p>tim</p>",
}


TIMES = {"ada": "2026-10-05 09:00:00", "zoe": "2026-10-06 09:00:00"}  # in UTC, of those in GERMAN


@pytest.mark.parametrize("between", ["/", "_/", "_"], ids=["folders", "older folders", "flat"])
def test_moodle_there_and_back(course, lms, zipped, tmp_path, between, capfd):
    names = {learner: f"{name}{between}{NOTEBOOK}" for learner, name in MOODLE.items()}
    names["zoe"] = f"{MOODLE['zoe']}{between}{FIRST} (1).ipynb"
    sheet = f"--worksheet={course.write('sheet.csv', GERMAN)}"
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names.values()), sheet) == 0
    found = submitted(course)
    times = {
        f"{who}/{FIRST}/timestamp.txt": found.pop(f"{who}/{FIRST}/timestamp.txt") for who in TIMES
    }
    assert found == {f"{learner}/{FIRST}/{NOTEBOOK}": name for learner, name in names.items()}
    assert list(times.values()) == list(TIMES.values())
    give_feedback(course, *MOODLE)
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=moodle", f"--to={path}") == 0
    assert pages(path) == BACK
    assert "There is a page" not in capfd.readouterr().err


def test_moodle_feedback_without_collecting_takes_the_numbers_of_the_worksheet(
    course, lms, tmp_path, capfd
):
    give_feedback(course, *MOODLE, "new")
    sheet = course.write("sheet.csv", GERMAN)
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=moodle", f"--to={path}", f"--worksheet={sheet}") == 1
    assert pages(path) == BACK
    assert (
        "not in the zip; first run make collect LESSON=01_first LMS=moodle ZIP=…: Noor Späth"
        in capfd.readouterr().err
    )


def test_unknown_people_are_listed_and_the_others_collected(course, lms, zipped, capfd):
    zip_file = zipped(CANVAS[0], f"doejane_999_2009_{NOTEBOOK}", "anon_aB3_2010_x.ipynb", NOTEBOOK)
    assert lms("collect", FIRST, "--lms=canvas", zip_file) == 1
    assert list(submitted(course)) == [f"ada/{FIRST}/{NOTEBOOK}"]
    said = capfd.readouterr().err
    nobody = "because nobody in learners.csv has canvas_id 999: enter it in the learner's row"
    assert f"Not collected: doejane_999_2009_{NOTEBOOK}, {nobody}" in said
    assert "anon_aB3_2010_x.ipynb, because Canvas hides whose it is" in said
    assert f"{NOTEBOOK} doesn't have a name from Canvas" in said


def test_canvas_test_student_is_left_out_unless_in_learners_csv(course, lms, zipped, capfd):
    test = f"studenttest_19_2005_{NOTEBOOK}", "studenttest_19_2006_notes.txt"
    assert lms("collect", FIRST, "--lms=canvas", zipped(CANVAS[0], *test)) == 0
    assert list(submitted(course)) == [f"ada/{FIRST}/{NOTEBOOK}"]
    left_out = "Left out, because Canvas's test student handed it in: "
    assert f"{left_out}{', '.join(test)}" in capfd.readouterr().err
    course.write("learners.csv", "learner,canvas_id\nada,101\nme,19\nill,105\n")
    assert lms("collect", FIRST, "--lms=canvas", zipped(CANVAS[0], *test), "--force") == 0
    assert f"me/{FIRST}/{NOTEBOOK}" in submitted(course)


def test_who_did_not_hand_in_a_notebook_is_named_and_waits_for_grading(course, lms, zipped, capfd):
    empty = zipped("notes.txt", called="inner.zip").read_bytes()
    outer = zipped(CANVAS[0], "kingada_101_2002_plan.pdf", "mz_102_2003_report\n.pdf")
    with zipfile.ZipFile(outer, "a") as file:
        file.writestr("tim_103_2004_work.zip", empty)
        file.writestr("doejane_999_2009_work.docx", "")
        file.writestr("noor_104_2005_film.mp4", bytes(MOST_FILE_BYTES + 1))
    assert lms("collect", FIRST, "--lms=canvas", outer) == 1
    folders = course.root / "submitted"
    assert {str(path.relative_to(folders)) for path in folders.glob("*/*/**/*")} == {
        f"ada/{FIRST}/{NOTEBOOK}",
        f"tim/{FIRST}/work.zip",
        f"zoe/{FIRST}/report\n.pdf",
    }
    assert (folders / "new" / FIRST).is_dir()
    said = capfd.readouterr().err.splitlines()
    but = "but not a notebook that can be read, so there is no grade"
    for line in (
        "kingada_101_2002_plan.pdf is not a notebook",
        "noor_104_2005_film.mp4 has 5 MB; 5 MB are allowed",
        f"tim handed in work.zip, {but}",
        f"zoe handed in report�.pdf, {but}",
        f"new handed in film.mp4, {but}",
    ):
        assert line in said
    assert any(line.startswith("Not collected: doejane_999_2009_work.docx") for line in said)
    assert not any(line.startswith("ada") for line in said)
    path = course.root / "grades.csv"
    assert lms("export", FIRST, f"--to={path}") == 0
    states = {row.split(",")[3]: row for row in path.read_text(encoding="utf-8").splitlines()}
    assert states["new"].endswith("not graded")


def test_a_notebook_from_before_is_not_replaced_by_other_files(course, lms, zipped, capfd):
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS)) == 0
    newer = zipped(CANVAS[0], "mz_102_2009_essay.pdf", called="newer.zip")
    assert lms("collect", FIRST, "--lms=canvas", newer, "--force") == 1
    assert submitted(course)[f"zoe/{FIRST}/{NOTEBOOK}"] == CANVAS[1]
    assert f"zoe/{FIRST}/essay.pdf" not in submitted(course)
    assert "zoe handed in essay.pdf, but not a notebook that can be read, so the one from" in (
        capfd.readouterr().err
    )


def test_nobody_hands_in_a_time(course, lms, zipped, capfd):
    names = f"kingada_101_2001_{NOTEBOOK}", "kingada_101_2002_timestamp.txt"
    zip_file = zipped(*names, "mz_102_2003_timestamp.txt", "mz_102_2004_essay.pdf")
    assert lms("collect", FIRST, "--lms=canvas", zip_file) == 1
    assert list(submitted(course)) == [f"ada/{FIRST}/{NOTEBOOK}", f"zoe/{FIRST}/essay.pdf"]


def test_a_time_stays_beside_the_same_notebook(course, lms, zipped, capfd):
    late = f"ka_LATE_101_2001_{NOTEBOOK}", CANVAS[1], f"tim_LATE_103_2003_{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(*late)) == 0
    assert "no points come off: ada, tim, zoe. Write the time" in capfd.readouterr().err
    course.write(f"submitted/ada/{FIRST}/timestamp.txt", "2026-10-06 13:00 +02:00\n")
    course.write(f"submitted/zoe/{FIRST}/timestamp.txt", "2026-10-07 13:00 +02:00\n")
    newer = zipped(late[0], f"mz_LATE_102_3002_{NOTEBOOK}", late[2], called="newer.zip")
    assert lms("collect", FIRST, "--lms=canvas", newer, "--force") == 0
    found = submitted(course)
    assert found[f"ada/{FIRST}/timestamp.txt"] == "2026-10-06 11:00:00"
    assert f"zoe/{FIRST}/timestamp.txt" not in found
    said = capfd.readouterr().err
    assert "is gone from timestamp.txt: zoe (2026-10-07 13:00 +02:00). Write the new time" in said
    assert "no points come off: tim, zoe. Write" in said


def test_a_time_of_the_worksheets_does_not_replace_one_beside_the_same_notebook(
    course, lms, zipped, capfd
):
    names = [f"{MOODLE[learner]}/{NOTEBOOK}" for learner in ("ada", "zoe")]
    sheet = f"--worksheet={course.write('sheet.csv', GERMAN)}"
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names), sheet) == 0
    course.write(f"submitted/ada/{FIRST}/timestamp.txt", "2026-10-05 08:00")
    course.write(f"submitted/zoe/{FIRST}/{NOTEBOOK}", "another")
    course.write(f"submitted/zoe/{FIRST}/timestamp.txt", "2026-10-05 07:00")
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names), sheet, "--force") == 0
    found = submitted(course)
    assert found[f"ada/{FIRST}/timestamp.txt"] == "2026-10-05 08:00:00"
    assert found[f"zoe/{FIRST}/timestamp.txt"] == TIMES["zoe"]
    said = capfd.readouterr().err
    assert "though the worksheet has another: ada (2026-10-05 08:00). To get" in said
    assert "the worksheet's time now. It had: zoe (2026-10-05 07:00)" in said
    course.write(f"submitted/zoe/{FIRST}/{NOTEBOOK}", "another")
    course.write(f"submitted/zoe/{FIRST}/timestamp.txt", "2026-10-07 07:00")
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names), sheet, "--force") == 0
    said = capfd.readouterr().err
    assert "that timestamp.txt had: zoe (2026-10-07 07:00). Is this an older zip?" in said
    assert submitted(course)[f"zoe/{FIRST}/timestamp.txt"] == TIMES["zoe"]


def test_unreadable_moodle_dates_are_reported(course, lms, zipped, capfd):
    sheet = course.write("sheet.csv", GERMAN.replace("Montag, 5. Oktober", "Montag, 35. Oktober"))
    names = [f"{MOODLE[learner]}/{NOTEBOOK}" for learner in ("ada", "zoe")]
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names), f"--worksheet={sheet}") == 0
    assert f"ada/{FIRST}/timestamp.txt" not in submitted(course)
    assert submitted(course)[f"zoe/{FIRST}/timestamp.txt"] == TIMES["zoe"]
    said = capfd.readouterr().err
    assert "none of these are late: ada (Montag, 35. Oktober 2026, 11:00). Download" in said


def test_moodle_says_how_to_make_somebody_known(course, lms, zipped, capfd):
    zip_file = zipped(f"{MOODLE['ada']}/{NOTEBOOK}", f"{MOODLE['zoe']}/{NOTEBOOK}")
    assert lms("collect", FIRST, "--lms=moodle", zip_file) == 1
    assert list(submitted(course)) == [f"ada/{FIRST}/{NOTEBOOK}"]
    said = capfd.readouterr().err
    nobody = "because nobody in learners.csv has its number"
    assert f"Not collected: {MOODLE['zoe']}, {nobody}: name the assignment's grading" in said
    assert "or add moodle_id 1002 to the learner's row" in said


@pytest.mark.parametrize(
    ("sheet", "said"),
    [
        (
            ENGLISH.replace("zoe@", "yuri@").replace("Zoë Müller-O'Brien", "Yuri Ivanov"),
            "from Yuri Ivanov, yuri@example.org, who is not in learners.csv: add a row, or",
        ),
        (ENGLISH.replace("1002", "1009"), "because sheet.csv has no participant 1002: download"),
        (ENGLISH.replace("noor@", "zoe@"), "participant 1002 in sheet.csv could be zoe, but"),
        (BLIND.replace("1003", "1002"), "because sheet.csv hides who that is: add moodle_id 1002"),
    ],
    ids=["unknown", "another sheet", "twice", "hidden"],
)
def test_with_the_worksheet_moodle_says_who_it_is(course, lms, zipped, capfd, sheet, said):
    zip_file = zipped(f"{MOODLE['ada']}/{NOTEBOOK}", f"{MOODLE['zoe']}/{NOTEBOOK}")
    worksheet = f"--worksheet={course.write('sheet.csv', sheet)}"
    assert lms("collect", FIRST, "--lms=moodle", zip_file, worksheet) == 1
    told = capfd.readouterr().err
    assert f"Not collected: {MOODLE['zoe']}, " in told and said in told


def test_files_left_by_macos_and_jupyter_are_not_submissions(course, lms, zipped):
    folder = MOODLE["ada"]
    zip_file = zipped(
        f"{folder}/{NOTEBOOK}",
        f"{folder}/.ipynb_checkpoints/{FIRST}-checkpoint.ipynb",
        f"{folder}/._{NOTEBOOK}",
        f"__MACOSX/{folder}/._{NOTEBOOK}",
    )
    assert lms("collect", FIRST, "--lms=moodle", zip_file) == 0
    assert list(submitted(course)) == [f"ada/{FIRST}/{NOTEBOOK}"]


def test_a_learners_own_zip_is_opened(course, lms, zipped, tmp_path):
    inner = zipped(f"work/{NOTEBOOK}", called="inner.zip")
    outer = tmp_path / "outer.zip"
    with zipfile.ZipFile(outer, "w") as file:
        file.write(inner, "kingada_101_2001_work.zip")
    assert lms("collect", FIRST, "--lms=canvas", outer) == 0
    assert submitted(course) == {f"ada/{FIRST}/{NOTEBOOK}": f"work/{NOTEBOOK}"}


def test_nbgraders_own_command_collects_whatever_the_zip_is_called(course, zipped):
    from nbgrader.apps import ZipCollectApp

    zip_file = zipped(f"anon_aB3_2010_{NOTEBOOK}", CANVAS[1], called="late_101_2026_all.zip")
    archive = course.root / "downloaded" / FIRST / "archive"
    archive.mkdir(parents=True)
    zip_file.rename(archive / zip_file.name)
    app = ZipCollectApp()
    collector = "--collector=autograder.grading.lms.canvas.CanvasCollector"
    app.initialize([FIRST, collector, f"--CourseDirectory.root={course.root}"])
    app.start()
    assert list(submitted(course)) == [f"zoe/{FIRST}/{NOTEBOOK}"]


def test_collecting_again_replaces_only_what_is_in_the_zip(course, lms, zipped, tmp_path, capfd):
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS)) == 0
    newer = zipped(f"kingada_LATE_101_3001_{FIRST}-1.ipynb", called="newer.zip")
    assert lms("collect", FIRST, "--lms=canvas", newer) == 2
    assert "was collected before: FORCE=1 (--force) collects it again" in capfd.readouterr().err
    assert lms("collect", FIRST, "--lms=canvas", newer, "--force") == 0
    assert {name[:3]: text[:7] for name, text in submitted(course).items()} == {
        "ada": "kingada",
        "tim": "_under_",
        "zoe": "müllero",
    }
    assert submitted(course)[f"ada/{FIRST}/{NOTEBOOK}"].startswith("kingada_LATE_101_3001")
    give_feedback(course, "ada", "zoe")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 0
    assert list(pages(path)) == [
        f"kingada_LATE_101_3001_{FIRST}.html",
        f"müllerobrienzoë_LATE_102_2002_{FIRST}.html",
    ]


def test_what_was_put_into_folders_by_hand_is_replaced_only_when_forced(course, lms, zipped, capfd):
    course.write(f"submitted/zoe/{FIRST}/{NOTEBOOK}", "by hand")
    path = zipped(*CANVAS)
    assert lms("collect", FIRST, "--lms=canvas", path) == 1
    told = capfd.readouterr().err
    assert "Nothing was collected, because these learners have files in submitted/" in told
    assert "already: zoe. FORCE=1 (--force) replaces them." in told
    assert submitted(course) == {f"zoe/{FIRST}/{NOTEBOOK}": "by hand"}
    assert lms("collect", FIRST, "--lms=canvas", path) == 1  # it was not collected before
    assert "these learners have files" in capfd.readouterr().err
    assert lms("collect", FIRST, "--lms=canvas", path, "--force") == 0
    assert submitted(course)[f"zoe/{FIRST}/{NOTEBOOK}"] != "by hand"


def test_what_can_not_be_collected_is_a_sentence(course, lms, zipped, tmp_path, capfd):
    other = course.write("other.zip", "no zip")
    assert lms("collect", FIRST, "--lms=canvas", other) == 2
    assert "other.zip is not a zip: download all submissions again" in capfd.readouterr().err
    assert lms("collect", FIRST, "--lms=canvas", tmp_path / "nowhere.zip") == 2
    assert f"There is no file {tmp_path / 'nowhere.zip'}" in capfd.readouterr().err
    assert lms("collect", "01_frist", "--lms=canvas", zipped(*CANVAS)) == 2
    assert "nbgrader generate_assignment 01_frist" in capfd.readouterr().err
    assert lms("collect", FIRST, "--lms=moodle", zipped(*CANVAS)) == 2
    assert "Does it have all submissions from Moodle" in capfd.readouterr().err
    course.write("learners.csv", "learner,canvas\nada,101\n")
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS)) == 1
    assert "learners.csv, line 1: there is no column 'canvas'" in capfd.readouterr().err
    assert submitted(course) == {}
    course.write("learners.csv", "learner,canvas_id\nada,101\nzoe,102\ntim,103\nill,105\n")
    capfd.readouterr()
    assert lms("collect", FIRST, "--lms=canvas", zipped(*CANVAS)) == 0
    assert "twice" not in capfd.readouterr().err


def test_a_second_copy_is_kept_beside_the_notebook_and_reported(course, lms, zipped, capfd):
    copy, itself = f"kingada_101_2001_{FIRST} (1).ipynb", f"kingada_101_2002_{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=canvas", zipped(copy, itself)) == 0
    assert submitted(course) == {
        f"ada/{FIRST}/{NOTEBOOK}": itself,
        f"ada/{FIRST}/{FIRST} (1).ipynb": copy,
    }
    said = capfd.readouterr().err
    said_twice = f"ada handed in {FIRST} (1).ipynb twice, or a copy of it"
    assert f"{said_twice}: {itself} counts, {copy} doesn't" in said


def cells(*sources):
    return nbformat.writes(new_notebook(cells=[*map(new_code_cell, sources)]))


GIVEN = "import torch", "raise NotImplementedError()"
BLANK, SOLVED = cells(*GIVEN), cells(GIVEN[0], "softmax = torch.softmax")


@pytest.mark.parametrize("damaged", [False, True])
def test_of_several_notebooks_the_one_with_answers_counts(course, lms, zipped, capfd, damaged):
    course.write(f"notebooks/{FIRST}/{NOTEBOOK}", BLANK)
    blank, solved = f"kingada_101_2002_{NOTEBOOK}", f"kingada_101_2001_{FIRST}-2.ipynb"
    names = {blank: "{" if damaged else BLANK, solved: SOLVED}
    assert lms("collect", FIRST, "--lms=canvas", zipped(**names)) == 0
    assert submitted(course)[f"ada/{FIRST}/{NOTEBOOK}"] == SOLVED
    assert f"{solved} counts, {blank} doesn't" in capfd.readouterr().err


def test_of_several_solved_notebooks_the_newest_counts(course, lms, zipped):
    course.write(f"notebooks/{FIRST}/{NOTEBOOK}", BLANK)
    newer = cells("softmax = torch.softmax  # better")
    names = {f"kingada_101_999_{NOTEBOOK}": SOLVED, f"kingada_101_2001_{FIRST}-1.ipynb": newer}
    assert lms("collect", FIRST, "--lms=canvas", zipped(**names)) == 0
    assert submitted(course)[f"ada/{FIRST}/{NOTEBOOK}"] == newer


@pytest.mark.parametrize("own", ["", "mine", "LATE_103_2003_x"])
def test_nothing_inside_a_learners_zip_says_whose_it_is(course, lms, zipped, own):
    """Zoë hands in a zip, in which a name is like one that Canvas gives to Ada's file."""
    inner = zipped(f"kingada_101_2001_{NOTEBOOK}", called="inner.zip").read_bytes()
    names = {f"zoe_102_2002_{own}.zip": inner, CANVAS[0]: "Ada's own"}
    assert lms("collect", FIRST, "--lms=canvas", zipped(**names)) == 0
    found = submitted(course)
    assert found[f"ada/{FIRST}/{NOTEBOOK}"] == "Ada's own"
    assert [name for name in found if name.startswith("zoe/")]


def test_each_hidden_person_is_named_once(course, lms, zipped, capfd):
    hidden = [f"anon_aB3_2010_{NOTEBOOK}", "anon_aB3_2011_x.txt", f"LATE_anon_cD4_2012_{NOTEBOOK}"]
    lms("collect", FIRST, "--lms=canvas", zipped(*hidden))
    said = capfd.readouterr().err
    assert said.count("because Canvas hides whose it is") == 2 and "canvas_id 2012" not in said


def test_no_page_goes_to_a_number_that_is_somebody_elses(course, lms, zipped, tmp_path, capfd):
    """Zoë's number becomes Tim's moodle_id after her submission was collected under it."""
    (course.root / "extensions.csv").unlink()
    course.write("learners.csv", "learner,moodle_id\nada,1001\nzoe,1002\n")
    names = f"{MOODLE['ada']}/{NOTEBOOK}", f"{MOODLE['zoe']}/{NOTEBOOK}"
    assert lms("collect", FIRST, "--lms=moodle", zipped(*names)) == 0
    course.write("learners.csv", "learner,moodle_id\nada,1001\nzoe,\ntim,1002\n")
    give_feedback(course, "ada", "zoe", "tim")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=moodle", f"--to={path}") == 1
    assert pages(path) == {
        f"ada_1001_assignfeedback_file/{FIRST}.html": "<p>ada</p>",
        f"zoe_1002_assignfeedback_file/{FIRST}.html": "<p>zoe</p>",
    }
    collect = f"make collect LESSON={FIRST} LMS=moodle ZIP=…"
    assert (
        f"There is a page, but not in the zip; first run {collect}: tim" in capfd.readouterr().err
    )


def test_what_was_collected_from_one_system_has_no_place_in_the_other(
    course, lms, zipped, tmp_path, capfd
):
    lms("collect", FIRST, "--lms=moodle", zipped(f"{MOODLE['ada']}/{NOTEBOOK}"))
    give_feedback(course, "ada")
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 2
    said = capfd.readouterr().err
    assert f"collect its zip first, with make collect LESSON={FIRST} LMS=canvas ZIP=…" in said
    assert not path.exists()


def test_feedback_needs_pages(course, lms, tmp_path, capfd):
    path = tmp_path / "feedback.zip"
    assert lms("feedback", FIRST, "--lms=canvas", f"--to={path}") == 2
    assert f"nbgrader generate_feedback {FIRST}" in capfd.readouterr().err
    assert not path.exists()
