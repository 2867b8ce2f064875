"""An answer in words waits for a person's points, which stay, and count wherever points count."""

import csv

import nbformat
import pytest

from autograder.grading.gradebook.course_files import course_files
from autograder.grading.report.gather import gather
from autograder.lessons.written_questions import ANSWER_STUB
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission
from tests.grading.feedback.made import parsed, words
from tests.support import asking
from tests.support.asking import NAME, POINTS, RUBRIC, cell_of
from tests.support.classroom import LESSON, gradebook, nbgrader

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("sandbox"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
CODE_POINTS = sum(exercise.points for exercise in LESSON.exercises)
ANSWER = "Because the **variance** grows with d_k."
# By learner: whether the exercises are solved, and the answer in words; None if it was deleted,
# with its question.
CLASS = {
    "both": (True, ANSWER),
    "code": (True, ANSWER_STUB),
    "words": (False, ANSWER),
    "neither": (False, ""),
    "deleted": (True, None),
}
WAITING, UNANSWERED = (None, None, True, None), (0, None, False, "No response.")


def hand_in(asked, learner, solved, answer):
    answers = {exercise.name: SOLUTION for exercise in asked.exercises} if solved else {}
    notebook = MadeUpSubmission(learner, answers).notebook(asked)
    if answer is None:
        ours = [cell_of(notebook, name) for name in (NAME, f"question_{NAME}")]
        notebook.cells = [cell for cell in notebook.cells if cell not in ours]
    else:
        cell_of(notebook, NAME).source = answer
    path = asked.course / "submitted" / learner / asked.name / f"{asked.name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The lesson with a question, released, with submissions."""
    course = tmp_path_factory.mktemp("course")
    config = "get_config().CourseDirectory.source_directory = 'solutions'"
    (course / "nbgrader_config.py").write_text(config, encoding="utf-8")
    asked = asking.ask(course)
    for learner, (solved, answer) in CLASS.items():
        hand_in(asked, learner, solved, answer)
    return asked


def grade(asked, *options):
    return nbgrader(asked.course, "autograde", asked.name, *options)


def grades(asked):
    """Return, by learner, what the gradebook says about the answer in words."""
    found = {}
    with gradebook(asked.course) as book:
        for learner in CLASS:
            place = NAME, asked.name, asked.name, learner
            given, said = book.find_grade(*place), book.find_comment(*place)
            points = given.auto_score, given.manual_score, given.needs_manual_grade
            found[learner] = (*points, said.comment)
    return found


def give(asked, learner, points, comment=None):
    """Give points by hand, as formgrader does."""
    with gradebook(asked.course) as book:
        place = NAME, asked.name, asked.name, learner
        given = book.find_grade(*place)
        given.manual_score, given.needs_manual_grade = points, False
        book.find_comment(*place).manual_comment = comment
        book.db.commit()


def exported(asked):
    """Return the exported grades and states by learner."""
    path = asked.course / "grades.csv"
    nbgrader(asked.course, "export", f"--to={path}")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: (row["score"], row["state"]) for row in csv.DictReader(file)}


def feedback(asked, learner):
    nbgrader(asked.course, "generate_feedback", asked.name, f"--student={learner}")
    page = asked.course / "feedback" / learner / asked.name / f"{asked.name}.html"
    return words(parsed(page.read_text(encoding="utf-8")))


def report(asked):
    found = gather(asked.name, course_files(asked.course))
    return found, {row.learner: row for row in found.rows}


@pytest.fixture(scope="module")
def said_dry(asked):
    """What a dry run says, before anything is graded."""
    return grade(asked, "--Autograde.dry=True")


@pytest.fixture(scope="module")
def said(asked, said_dry):
    """What the first run says."""
    return grade(asked)


def test_a_dry_run_says_what_will_be_to_grade(said_dry):
    assert f"both: new: {CODE_POINTS} points, 1 to grade by hand\n" in said_dry
    assert f"code: new: {CODE_POINTS} points\n" in said_dry
    assert "words: new: 0 points, 1 to grade by hand\n" in said_dry


def test_an_answer_waits_for_a_person_and_a_missing_one_gets_0(asked, said):
    assert "to grade by hand, in formgrader: both, words\n" in said
    assert f"no points for {NAME}, because its answer has no cell: deleted\n" in said
    assert "unanswered: neither\n" in said and "4 graded, 1 unanswered, 0 not graded" in said
    unanswered = dict.fromkeys(["code", "neither", "deleted"], UNANSWERED)
    assert grades(asked) == dict.fromkeys(["both", "words"], WAITING) | unanswered
    assert exported(asked) == {
        "both": ("", "not graded"),
        "words": ("", "not graded"),
        "code": (f"{CODE_POINTS}", "graded"),
        "deleted": (f"{CODE_POINTS}", "graded"),
        "neither": ("0", "graded"),
    }


def test_the_grader_sees_the_mark_scheme_above_the_answer(asked, said):
    for learner in CLASS:
        path = asked.course / "autograded" / learner / asked.name / f"{asked.name}.ipynb"
        cells = nbformat.read(path, as_version=4).cells
        place = cells.index(cell_of(nbformat.read(path, as_version=4), NAME))
        assert RUBRIC in cells[place - 1].source


def test_the_report_leaves_out_a_grade_that_is_not_whole(asked, said):
    found, rows = report(asked)
    assert found.most == CODE_POINTS + POINTS
    assert f"{asked.name}: 2 submissions to grade by hand, in formgrader." in found.notes
    assert [rows[one].grade for one in ("both", "words", "code")] == [None, None, CODE_POINTS]
    assert rows["both"].points[-1].points is None
    assert rows["code"].points[-1].state == "unanswered"
    assert rows["words"].remarks == [f"To grade by hand: `{NAME}`."]
    assert (rows["words"].outcome, found.outcomes["not graded"]) == ("not graded", 2)
    assert (found.exercises[NAME].submissions, found.exercises[NAME].unanswered) == (3, 3)


def test_feedback_says_that_it_waits_or_was_not_answered(asked, said):
    page = feedback(asked, "both")
    assert f"{NAME} – of 4 … not graded yet Your instructor grades this one." in page
    assert f"1 of {len(LESSON.exercises) + 1} exercises waits for your instructor" in page
    assert f"{NAME} 0 of 4 ○ not answered" in feedback(asked, "code")


@pytest.fixture(scope="module")
def graded_by_hand(asked, said):
    """The lesson with the answers graded by hand."""
    give(asked, "both", 3, "Say *why* it grows.")
    give(asked, "words", 4, "Concise.")
    return asked


def test_points_by_hand_count_everywhere(graded_by_hand):
    assert exported(graded_by_hand)["both"] == (f"{CODE_POINTS + 3}", "graded")
    found, rows = report(graded_by_hand)
    assert (rows["both"].grade, rows["words"].grade) == (CODE_POINTS + 3, 4)
    assert [rows[one].points[-1].state for one in ("both", "words")] == ["partial", "full"]
    question = found.exercises[NAME]
    assert (question.submissions, question.full, question.partial, question.points) == (5, 1, 1, 7)
    assert not [note for note in found.notes if "by hand" in note]


def test_feedback_shows_question_answer_and_comment_but_no_mark_scheme(graded_by_hand):
    page = feedback(graded_by_hand, "both")
    assert f"{NAME} 3 of 4 ◐ some points" in page
    shown = page[page.index("Your answers") :]
    parts = ("Say *why* it grows.", "Why do we divide", "Your answer: Because the variance grows")
    assert sorted(map(shown.index, parts)) == [shown.index(part) for part in parts]
    assert page.count("Why do we divide") == 1
    assert RUBRIC not in page and "MARK SCHEME" not in page


def test_grading_again_asks_for_another_look_only_at_another_answer(graded_by_hand):
    words_before = grades(graded_by_hand)["words"]
    assert words_before == (None, 4, False, "Concise.")
    hand_in(graded_by_hand, "both", True, f"{ANSWER} So we divide.")
    for options in ([], ["--force"]):
        assert "to grade by hand, in formgrader: both\n" in grade(graded_by_hand, *options)
        assert grades(graded_by_hand)["both"] == (None, 3, True, "Say *why* it grows.")
        assert grades(graded_by_hand)["words"] == words_before
    assert exported(graded_by_hand)["both"] == ("", "not graded")


def test_unsealed_it_is_the_same(graded_by_hand):
    give(graded_by_hand, "both", 3)
    before = grades(graded_by_hand)
    grade(graded_by_hand, "--force", "--Autograde.unsealed=True", "--student=both")
    assert grades(graded_by_hand) == before | {"both": (None, 3, True, None)}  # as nbgrader does
