"""Grading with nbgrader's own commands, as an instructor does."""

import csv
import shutil

import nbformat
import pytest

from autograder.building.secret import SECRET_VARIABLE
from autograder.grading.gradebook.course_files import course_files
from autograder.grading.report.gather import gather
from autograder.lessons.cells import nbgrader_metadata
from autograder.lessons.lesson import Lesson
from autograder.places import ROOT
from tests.demo.made_up_class import (
    LEFT_OPEN,
    SOLUTION,
    SYNTAX_ERROR,
    MadeUpSubmission,
    make_class,
    own_mistakes,
    without_demonstrations,
)
from tests.support.classroom import (
    api,
    configuration,
    gradebook,
    hand_in,
    nbgrader,
    release,
    scores,
)
from tests.support.waiting import HANG

LESSON = Lesson("01_dot_product_attention")
NAMES = [exercise.name for exercise in LESSON.exercises]


def mistake(name, of):
    exercise = next(exercise for exercise in LESSON.exercises if exercise.name == of)
    return next(variant for variant in own_mistakes(LESSON, exercise) if variant.name == name)


def answered(**answers):
    return MadeUpSubmission("", {name: SOLUTION for name in NAMES} | answers).notebook(LESSON)


def solution():
    return nbformat.read(LESSON.notebook_path, as_version=4)


def released():
    return MadeUpSubmission("").notebook(LESSON)


def with_mistakes():
    return answered(
        softmax=mistake("not stable", of="softmax"),
        simple_attention=mistake("scores returned", of="simple_attention"),
    )


def warning_and_printing():
    notebook = answered()
    for cell in notebook.cells:
        if cell.source.startswith("def softmax"):
            cell.source += (
                "\nimport sys, warnings\nwarnings.warn('careful')\nprint('!', file=sys.stderr)"
            )
        if cell.source == "check(softmax)":
            cell.source = "import warnings\nwarnings.warn('changed cell')\n" + cell.source
    return notebook


def syntax_error():
    return answered(query_scores=SYNTAX_ERROR)


def own_question():
    notebook = answered()
    notebook.cells.append(nbformat.v4.new_code_cell("len(words)"))
    return notebook


def check_deleted():
    notebook = answered()
    notebook.cells = [cell for cell in notebook.cells if cell.source != "check(softmax)"]
    return notebook


def below_softmax(notebook, code):
    """Add code to the cell that defines softmax."""
    for cell in notebook.cells:
        if cell.source.startswith("def softmax"):
            cell.source += f"\n{code}"
    return notebook


def softmax_given_up():
    return below_softmax(answered(softmax=LEFT_OPEN), 'give_up("softmax")')


def other_settings():
    return below_softmax(
        answered(),
        "import os; os.environ.clear()\n"
        "torch.set_default_dtype(torch.float64); torch.set_default_device('meta')\n"
        "torch.set_grad_enabled(False); torch.set_num_threads(2)\n"
        "check = print = torch.ones(1)",
    )


def from_colab():
    notebook = answered()
    for cell in notebook.cells:
        if cell.source.startswith("def softmax"):
            cell.source = (
                "from google.colab import drive\ndrive.mount('/content/drive')\n" + cell.source
            )
    return notebook


def named_otherwise():
    return below_softmax(
        answered(),
        "mine = softmax\nclass Mine:\n    def __call__(self, scores, dim=-1):\n"
        "        return mine(scores, dim)\nsoftmax = Mine()\n"
        "softmax_of_mine = softmax",
    )


POINTS = {exercise.name: exercise.points for exercise in LESSON.exercises}
FULL = sum(POINTS.values())
SUBMISSIONS = {
    "solution": (solution, FULL),
    "released": (released, 0),
    # The naive softmax loses the point for large scores; the other loses the two points for
    # weights, the one for large scores, and the one for staying connected.
    "with mistakes": (with_mistakes, FULL - 1 - 4),
    "warning": (warning_and_printing, FULL),
    "syntax_error": (syntax_error, FULL - POINTS["query_scores"]),
    "check_deleted": (check_deleted, FULL),
    "own_question": (own_question, FULL),
    # `simple_attention` builds on softmax, and here on the course's.
    "given up": (softmax_given_up, FULL - POINTS["softmax"]),
}
# What a notebook sets, and how it names an answer, changes nothing.
SUBMISSIONS |= {
    "settings": (other_settings, FULL),
    "names": (named_otherwise, FULL),
    "colab": (from_colab, FULL),
}
UNSEALED = ["with mistakes", "given up"]


@pytest.fixture(scope="module")
def open_course(tmp_path_factory):
    """A course directory with the released lesson."""
    course = tmp_path_factory.mktemp("course")
    release(course, LESSON)
    return course


@pytest.fixture(scope="module")
def course(open_course, sandbox):
    """The same course with the submissions above, graded."""
    for learner, (make, _) in SUBMISSIONS.items():
        hand_in(open_course, learner, make())
    nbgrader(open_course, "autograde", LESSON.name)
    return open_course


@pytest.fixture(scope="module")
def grades(course):
    nbgrader(course, "export", f"--to={course / 'grades.csv'}")
    with (course / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("learner", SUBMISSIONS)
def test_the_exported_grades(grades, learner):
    assert grades[learner] == SUBMISSIONS[learner][1]


def graded(course, learner):
    path = course / "autograded" / learner / LESSON.name / f"{LESSON.name}.ipynb"
    return nbformat.read(path, as_version=4).cells


def test_what_no_grade_depends_on_is_not_run_and_shows_what_the_course_shows(course):
    ours = {cell.source: cell.outputs for cell in solution().cells if cell.cell_type == "code"}
    shown = [cell for cell in graded(course, "solution") if "attention_shown" in cell.metadata]
    assert len(shown) > 10
    for cell in shown:
        # What the course itself has solved is not shown to learners.
        is_personal = cell.source.startswith(("check(", "predict(", "progress("))
        count = 0 if is_personal else len(ours[cell.source])
        assert len(cell.outputs) == count and cell.execution_count is None
        assert "image/png" not in str(cell.outputs) and "<img" not in str(cell.outputs)
    texts = [o.data["text/plain"] for cell in shown for o in cell.outputs if "data" in o]
    assert any("\n[Lines of seconds against n_words" in text for text in texts)


def test_what_a_learners_own_cell_needs_is_run(course):
    *cells, last = graded(course, "own_question")
    assert last.outputs[0].data["text/plain"] == "6"
    [words] = [cell for cell in cells if cell.source.startswith("labels, words = six_words()")]
    assert "attention_shown" not in words.metadata


@pytest.mark.long
def test_without_a_sandbox_the_grades_are_the_same(open_course, tmp_path):
    """Unsealed, everything goes through nbgrader's own steps, in its own kernel."""
    shutil.copytree(open_course / "solutions", tmp_path / "solutions")
    shutil.copyfile(open_course / "gradebook.db", tmp_path / "gradebook.db")
    for learner in UNSEALED:
        notebook = without_demonstrations(SUBMISSIONS[learner][0](), LESSON)
        hand_in(tmp_path, f"unsealed {learner}", notebook)
    said = nbgrader(tmp_path, "autograde", LESSON.name, "--Autograde.unsealed=True")
    assert "Unsealed: submissions run without a sandbox" in said
    found = scores(gradebook(tmp_path))
    assert {s: found[f"unsealed {s}"] for s in UNSEALED} == {s: SUBMISSIONS[s][1] for s in UNSEALED}


def test_feedback_shows_the_cards(course):
    nbgrader(course, "generate_feedback", LESSON.name)
    path = course / "feedback" / "with mistakes" / LESSON.name / f"{LESSON.name}.html"
    page = path.read_text(encoding="utf-8")
    assert "softmax: 4 of 5 points" in page
    assert "Large scores break it" in page
    assert "vnd.attention" not in page
    assert str(ROOT) not in page


def test_the_report_names_the_mistakes(course):
    report = gather(LESSON.name, course_files(course))
    made = {m.name: m.learners for m in report.mistakes if m.exercise == "softmax"}
    assert made == {"not stable": ["with mistakes"], "given up": ["given up"]}
    assert report.exercises["softmax"].unanswered == 1
    assert report.exercises["softmax"].full == len(SUBMISSIONS) - 3
    [other] = [m for m in report.mistakes if m.exercise == "query_scores"]
    assert len(other.learners) == 1 and "did not run to its end" in other.words


def test_formgrader_lists_the_lesson_and_its_submissions(course):
    [assignment] = api(configuration(course)).get_assignments()
    assert assignment["name"] == LESSON.name
    assert assignment["max_score"] == FULL
    assert assignment["num_submissions"] == len(SUBMISSIONS)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("with mistakes", "CheckFailed: softmax: 4 of 5 points. Large scores break it"),
        pytest.param(
            "solution", "Success! Your notebook passes all the tests.", marks=pytest.mark.long
        ),
    ],
)
def test_nbgraders_validate_works(tmp_path, learner, words):
    path = tmp_path / "answered.ipynb"
    nbformat.write(without_demonstrations(SUBMISSIONS[learner][0](), LESSON), path)
    patient = [f"--Execute.{limit}={HANG:.0f}" for limit in ("timeout", "startup_timeout")]
    assert words in nbgrader(course, "validate", *patient, str(path), check=False)


def test_a_course_without_a_secret_is_told_so(course, monkeypatch):
    monkeypatch.setenv(SECRET_VARIABLE, " ")
    said = nbgrader(course, "autograde", LESSON.name, "--student=released", "--force")
    assert "This course has no secret" in said


def test_a_lesson_of_the_instructors_own_is_graded_as_always(course):
    cells = [
        nbformat.v4.new_code_cell(
            "x = 1", metadata={"nbgrader": nbgrader_metadata("x", solution=True)}
        ),
        nbformat.v4.new_code_cell(
            "assert x == 1", metadata={"nbgrader": nbgrader_metadata("t", points=3)}
        ),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    for folder in (course / "solutions" / "own", course / "submitted" / "solution" / "own"):
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "own.ipynb")
    nbgrader(course, "generate_assignment", "own")
    nbgrader(course, "autograde", "own")
    nbgrader(course, "export", f"--to={course / 'own.csv'}")
    with (course / "own.csv").open(encoding="utf-8", newline="") as file:
        [row] = [
            r
            for r in csv.DictReader(file)
            if (r["assignment"], r["student_id"]) == ("own", "solution")
        ]
    assert float(row["score"]) == 3
    shutil.rmtree(course / "solutions" / "own")


def test_the_true_grades_of_a_made_up_class():
    full = sum(exercise.points for exercise in LESSON.exercises)
    assert [s.true_grade for s in make_class(LESSON)[:4]] == [full, full, full, 0]


def test_the_made_up_class_holds_every_kind_of_submission(lesson):
    made = make_class(lesson)
    assert len(made) == 24
    used = {(name, v.name) for s in made for name, v in s.answers.items()}
    for exercise in lesson.exercises:
        assert {(exercise.name, m.name) for m in own_mistakes(lesson, exercise)[:8]} <= used
